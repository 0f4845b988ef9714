/** Asks the client about calls, one after another for each session, and remembers what it always allows. Silence and doubt mean no. */

import type { ApprovalAnswer, ApprovalRequest } from "../../session/client_help.ts";
import type { ApprovalMode } from "../../session/policy.ts";
import type { CallOutcome, PendingCalls } from "../../wire/pending_calls.ts";
import { METHOD_NOT_FOUND } from "./rpc.ts";
import type { CallView } from "./tool_view.ts";
import type { PermissionOption } from "@agentclientprotocol/sdk";

/** Whether a client can be asked at all; one object for the whole connection. */
export interface PermissionAccess {
  isRefused: boolean;
}

export interface PermissionsOptions {
  readonly calls: PendingCalls;
  readonly access: PermissionAccess;
  readonly sessionId: () => string;
  readonly timeoutMs: () => number | undefined;
  readonly mode: () => ApprovalMode;
  /** Tells the client that a request that it has not answered is over. */
  withdraw(id: number): void;
  /** The client has said that the whole turn is to end. */
  onCancelled(): void;
}

/** A call with how it looks, or why it cannot be carried out. */
export interface AskedCall {
  readonly request: ApprovalRequest;
  readonly view: CallView;
}

export const REJECTED = "Rejected by the user";

export class Permissions {
  readonly #options: PermissionsOptions;
  readonly #allowed = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: PermissionsOptions) {
    this.#options = options;
  }

  /** Resolves to the answer; `undefined`: nobody can be asked. Throws nothing but `signal.reason`. */
  async ask(call: AskedCall, signal: AbortSignal): Promise<ApprovalAnswer | undefined> {
    if (this.#isAllowed(call.request)) return { allowed: true };
    const before = this.#last;
    const answer = before.then(() => this.#askNow(call, signal));
    this.#last = answer.catch(() => {});
    return await answer;
  }

  async #askNow(
    { request, view }: AskedCall,
    signal: AbortSignal,
  ): Promise<ApprovalAnswer | undefined> {
    signal.throwIfAborted();
    // While it waited for its turn, an earlier answer or a change of mode may have decided it.
    if (this.#isAllowed(request)) return { allowed: true };
    const mode = this.#options.mode();
    if (mode === "deny" || this.#options.access.isRefused) return undefined;
    if (mode === "allow" && !request.always) return { allowed: true };
    const options = optionsFor(request);
    const { calls, sessionId } = this.#options;
    const timeoutMs = this.#options.timeoutMs();
    const { id, outcome } = calls.call("session/request_permission", {
      sessionId: sessionId(),
      toolCall: { ...view, status: "pending" },
      options,
    }, { signal, timeoutMs });
    const came = await outcome;
    if (came.kind === "timeout") {
      this.#options.withdraw(id);
      return no(`not run: no answer in ${Math.round((timeoutMs ?? 0) / 1000)} seconds`);
    }
    return this.#judge(came, { request, options });
  }

  #judge(
    outcome: CallOutcome,
    { request, options }: { request: ApprovalRequest; options: readonly PermissionOption[] },
  ): ApprovalAnswer | undefined {
    switch (outcome.kind) {
      case "aborted":
      case "closed":
      case "timeout":
        return no("Interrupted");
      case "error":
        if (outcome.code === METHOD_NOT_FOUND) this.#options.access.isRefused = true;
        return no(`not run: the client could not ask: ${oneLine(outcome.message)}`);
      case "result":
        return this.#judgeAnswer(outcome.value, { request, options });
    }
  }

  #judgeAnswer(
    value: unknown,
    { request, options }: { request: ApprovalRequest; options: readonly PermissionOption[] },
  ): ApprovalAnswer {
    const { outcome, optionId } = asObject(asObject(value).outcome);
    if (outcome === "cancelled") {
      this.#options.onCancelled();
      return no("Interrupted");
    }
    if (outcome !== "selected") return no("not run: the client's answer was not understood");
    const option = options.find((offered) => offered.optionId === optionId);
    if (option === undefined) return no("not run: the client chose an option that was not offered");
    if (option.kind === "reject_once") return no(REJECTED);
    if (option.kind === "allow_always") this.#allowed.add(scopeOf(request));
    return { allowed: true };
  }

  #isAllowed(request: ApprovalRequest): boolean {
    return mayBeRemembered(request) && this.#allowed.has(scopeOf(request));
  }
}

function mayBeRemembered({ always, outside }: ApprovalRequest): boolean {
  return !always && !outside;
}

/** What an earlier "always" holds for. */
function scopeOf({ call: { name }, args }: ApprovalRequest): string {
  if (name === "write" || name === "edit") return "files";
  return name === "bash" ? `bash ${String(args.command)}` : `tool ${name}`;
}

function optionsFor(request: ApprovalRequest): PermissionOption[] {
  const { name } = request.call;
  const what = name === "write" || name === "edit"
    ? "changes in the workspace"
    : name === "bash"
    ? "this command"
    : "this tool";
  return [
    { optionId: "allow_once", name: "Allow", kind: "allow_once" },
    ...(mayBeRemembered(request)
      ? [
        {
          optionId: "allow_always",
          name: `Allow ${what} in this session`,
          kind: "allow_always",
        } as const,
      ]
      : []),
    { optionId: "reject_once", name: "Reject", kind: "reject_once" },
  ];
}

function no(text: string): ApprovalAnswer {
  return { allowed: false, text };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim().slice(0, 300);
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
}
