/** Calls the hooks of all extensions, in the order in which they were loaded. Knows no module. */

import type { ExtensionHooks, ExtensionSession } from "../agent/extension_hooks.ts";
import { type Message, textOf, type ToolCall, type ToolResultMessage } from "../agent/message.ts";
import type { ModelRequest } from "../agent/model.ts";
import { errorText } from "../errors.ts";
import type { CallView, MaybePromise, RequestAddition } from "./extension_api.ts";
import { toAnswer } from "./extension_tool.ts";
import type { Registration } from "./registration.ts";

/** A hook that takes longer is not waited for. */
export const HOOK_TIMEOUT_MS = 10_000;

export interface HooksOptions {
  readonly timeoutMs?: number;
  warn(line: string): void;
}

export class LoadedHooks implements ExtensionHooks {
  readonly #extensions: readonly Registration[];
  readonly #timeoutMs: number;
  readonly #warn: (line: string) => void;
  readonly #sessions = new Map<string, Promise<void>>();

  constructor(extensions: readonly Registration[], options: HooksOptions) {
    this.#extensions = extensions;
    this.#timeoutMs = options.timeoutMs ?? HOOK_TIMEOUT_MS;
    this.#warn = options.warn;
  }

  async beforeCall(call: ToolCall, signal: AbortSignal): Promise<string | undefined> {
    for (const { name, toolCall } of this.#extensions) {
      for (const hook of toolCall) {
        if (hook.before === undefined) continue;
        const where = `${name}: the hook before ${call.name}`;
        const refusal = await this.#call(where, () => hook.before!(viewOf(call)), signal);
        if (typeof refusal === "string") return refusal;
      }
    }
    return undefined;
  }

  async afterCall(call: ToolCall, result: ToolResultMessage): Promise<ToolResultMessage> {
    let current = result;
    for (const { name, toolCall } of this.#extensions) {
      for (const hook of toolCall) {
        if (hook.after === undefined) continue;
        const view = { text: textOf(current), isError: current.isError };
        const given = await this.#call(
          `${name}: the hook after ${call.name}`,
          () => hook.after!(viewOf(call), view),
        );
        const answer = toAnswer(given);
        if (answer === undefined) continue;
        const { text, isError = false } = answer;
        current = { ...current, content: [{ type: "text", text }], isError };
      }
    }
    return current;
  }

  async beforeRequest(request: ModelRequest, signal: AbortSignal): Promise<ModelRequest> {
    let current = request;
    const started = this.#sessions.get(request.sessionId);
    if (started !== undefined) await untilAbort(started, signal);
    for (const { name, modelRequest } of this.#extensions) {
      for (const hook of modelRequest) {
        const view = {
          sessionId: current.sessionId,
          systemPrompt: current.systemPrompt,
          messages: current.messages.map((message) => ({
            role: message.role,
            text: textOf(message),
          })),
        };
        const addition = await this.#call(
          `${name}: the hook before a model request`,
          () => hook(view),
          signal,
        );
        current = add(current, addition);
      }
    }
    return current;
  }

  async sessionStart(session: ExtensionSession): Promise<void> {
    if (this.#sessions.has(session.id)) return;
    const started = this.#callAll("sessionStart", session);
    this.#sessions.set(session.id, started);
    await started;
  }

  async sessionEnd(session: ExtensionSession): Promise<void> {
    const started = this.#sessions.get(session.id);
    if (started === undefined) return;
    this.#sessions.delete(session.id);
    await started;
    await this.#callAll("sessionEnd", session);
  }

  async #callAll(kind: "sessionStart" | "sessionEnd", session: ExtensionSession): Promise<void> {
    const { id, workspace } = session;
    const when = kind === "sessionStart" ? "start" : "end";
    for (const extension of this.#extensions) {
      for (const hook of extension[kind]) {
        const where = `${extension.name}: the hook at the ${when} of a session`;
        await this.#call(where, () => hook({ id, workspace }));
      }
    }
  }

  /** What the hook gives, or `undefined` when it fails, takes too long or the signal aborts. */
  async #call<T>(
    where: string,
    hook: () => MaybePromise<T>,
    signal?: AbortSignal,
  ): Promise<T | undefined> {
    const stopped = Promise.withResolvers<undefined>();
    const onAbort = () => stopped.resolve(undefined);
    const timer = setTimeout(() => {
      this.#warn(`weir: ${where} is not waited for: it took more than ${this.#timeoutMs / 1000} s`);
      stopped.resolve(undefined);
    }, this.#timeoutMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
    try {
      return await Promise.race([stopped.promise, callNow(hook)]);
    } catch (error) {
      this.#warn(`weir: ${where} failed: ${oneLine(error)}`);
      return undefined;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }
}

/** Resolves with the work, or as soon as the signal aborts. */
async function untilAbort(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const stopped = Promise.withResolvers<void>();
  const onAbort = () => stopped.resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  await Promise.race([work, stopped.promise]);
  signal.removeEventListener("abort", onAbort);
}

/** A late failure of a hook that nobody waits for any more must not end the process. */
function callNow<T>(hook: () => MaybePromise<T>): Promise<T> {
  const running = Promise.try(hook);
  running.catch(() => {});
  return running;
}

function viewOf(call: ToolCall): CallView {
  return { id: call.id, tool: call.name, arguments: structuredClone(call.arguments) };
}

function add(request: ModelRequest, addition: RequestAddition | undefined): ModelRequest {
  if (typeof addition !== "object" || addition === null) return request;
  const { systemPrompt, message } = addition;
  let changed = request;
  if (typeof systemPrompt === "string" && systemPrompt !== "") {
    const parts = [changed.systemPrompt, systemPrompt].filter((part) => part !== "");
    changed = { ...changed, systemPrompt: parts.join("\n\n") };
  }
  if (typeof message === "string" && message !== "") {
    const added: Message = {
      role: "user",
      content: [{ type: "text", text: message }],
      timestamp: Date.now(),
    };
    changed = { ...changed, messages: [...changed.messages, added] };
  }
  return changed;
}

/** The text of a failure on one line. */
export function oneLine(error: unknown): string {
  return errorText(error).replace(/\s+/g, " ").trim();
}
