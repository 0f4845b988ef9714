/**
 * Asks a client about calls by events, and takes its answers as commands: one question at a time, with what it has allowed for the session.
 * Knows no wire; ids, deadlines and late answers are the business of `wire/pending_calls.ts`.
 */

import type { JsonObject } from "../agent/message.ts";
import { PendingCalls } from "../wire/pending_calls.ts";
import type { ApprovalAnswer, ApprovalRequest, ClientHelp } from "./client_help.ts";
import type { SessionEvent } from "./event.ts";
import type { Settings } from "./settings.ts";

/** What a client says about a call; `no` also for everything that cannot be understood. */
export type AskedAnswer = "once" | "session" | "no";

const CLOSED: ApprovalAnswer = {
  allowed: false,
  text: "Not run: nobody can answer, the input is closed",
};

/** One for each connection; the hub gives it the answers. */
export class QuestionDesk implements ClientHelp {
  readonly #settings: Settings;
  readonly #calls: PendingCalls;
  /** The numbers of the questions that are open, by the ids that the client knows. */
  readonly #numbers = new Map<string, number>();
  #allowed = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: {
    settings: Settings;
    emit: (event: SessionEvent) => void;
  }) {
    this.#settings = options.settings;
    this.#calls = new PendingCalls({
      send: ({ id: number, params }) => {
        const id = crypto.randomUUID();
        this.#numbers.set(id, number);
        options.emit({
          type: "approval_request",
          id,
          request: params as ApprovalRequest,
          timeoutMs: this.#timeoutMs,
        });
      },
    });
  }

  /** Resolves to the answer. Throws nothing but `signal.reason`. */
  async askApproval(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    const answer = this.#last.then(() => this.#ask(request, signal));
    this.#last = answer.catch(() => {});
    return await answer;
  }

  /** Takes what a client says; an id that nobody waits for is passed over. */
  answer(id: string, value: AskedAnswer): void {
    const number = this.#numbers.get(id);
    if (number !== undefined) this.#calls.settle(number, { kind: "result", value });
  }

  /** What was allowed for the session holds no longer. */
  forget(): void {
    this.#allowed = new Set();
  }

  /** Nobody will answer any more. */
  close(): void {
    this.#calls.close();
  }

  get #timeoutMs(): number | undefined {
    const seconds = this.#settings.askTimeoutSeconds;
    return seconds === 0 ? undefined : seconds * 1000;
  }

  async #ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    signal.throwIfAborted();
    const key = sessionKey(request);
    if (key !== undefined && this.#allowed.has(key)) return { allowed: true };
    const allowed = this.#allowed;
    const { id: number, outcome } = this.#calls.call("approval", request, {
      signal,
      timeoutMs: this.#timeoutMs,
    });
    const result = await outcome;
    this.#forgetNumber(number);
    switch (result.kind) {
      case "aborted":
        throw signal.reason;
      case "closed":
        return CLOSED;
      case "timeout": {
        const seconds = this.#settings.askTimeoutSeconds;
        return { allowed: false, text: `Not run: no answer in ${seconds} seconds` };
      }
      case "result":
        if (result.value === "once") return { allowed: true };
        if (result.value !== "session" || key === undefined) break;
        allowed.add(key);
        return { allowed: true };
    }
    return { allowed: false, text: "Not run: denied by the user" };
  }

  #forgetNumber(number: number): void {
    for (const [id, known] of this.#numbers) if (known === number) this.#numbers.delete(id);
  }
}

/** What a yes for the session covers; `undefined` for a call that is asked about each time. */
function sessionKey({ call, args, always, outside }: ApprovalRequest): string | undefined {
  if (always) return undefined;
  if (call.name === "bash") return `bash ${textOf(args, "command")}`;
  if (call.name !== "write" && call.name !== "edit") return `tool ${call.name}`;
  return outside ? `file ${textOf(args, "path")}` : "files";
}

function textOf(args: JsonObject, key: string): string {
  const value = args[key];
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
