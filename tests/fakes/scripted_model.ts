/**
 * A model whose replies are written down beforehand, for tests of the loop without a server.
 */

import type { JsonObject, Usage } from "../../src/agent/message.ts";
import type { Model, ModelEvent, ModelReplyEnd, ModelRequest } from "../../src/agent/model.ts";

/** What the model does when it is asked: answers in pieces, then ends or throws. */
export interface ScriptedReply {
  readonly text?: readonly string[];
  readonly thinking?: readonly string[];
  readonly calls?: readonly { id: string; name: string; args: JsonObject | string }[];
  readonly usage?: Usage;
  readonly stopReason?: ModelReplyEnd["stopReason"];
  /** Thrown after the pieces. */
  readonly error?: Error;
  /** Waited for after the pieces; an abort ends the wait. */
  readonly gate?: Promise<unknown>;
}

export class ScriptedModel implements Model {
  readonly provider = "scripted";
  readonly id = "scripted-1";
  readonly api = "chat";
  readonly info: Model["info"];
  readonly requests: ModelRequest[] = [];
  readonly #replies: ScriptedReply[];

  constructor(replies: readonly ScriptedReply[], info: Partial<Model["info"]> = {}) {
    this.#replies = [...replies];
    this.info = {
      contextWindow: undefined,
      maxOutputTokens: undefined,
      reasoning: undefined,
      input: ["text"],
      price: undefined,
      ...info,
    };
  }

  listModels(): Promise<string[]> {
    return Promise.resolve([this.id]);
  }

  async reply(
    request: ModelRequest,
    { signal, sink }: {
      signal: AbortSignal;
      sink: (event: ModelEvent) => Promise<void> | undefined;
    },
  ): Promise<ModelReplyEnd> {
    signal.throwIfAborted();
    // Messages are kept as they are now; the conversation goes on growing.
    this.requests.push({ ...request, messages: [...request.messages] });
    const reply = this.#replies.shift();
    if (reply === undefined) throw new Error("the script is empty");
    for (const event of eventsOf(reply)) await sink(event);
    if (reply.gate !== undefined) await Promise.race([reply.gate, rejection(signal)]);
    if (reply.error !== undefined) throw reply.error;
    return {
      stopReason: reply.stopReason ?? (reply.calls === undefined ? "stop" : "toolUse"),
      rawStopReason: undefined,
      model: "scripted-1-answering",
      responseId: undefined,
      usage: reply.usage,
    };
  }
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function* eventsOf(reply: ScriptedReply): Generator<ModelEvent> {
  let index = 0;
  for (const [kind, pieces] of [["thinking", reply.thinking], ["text", reply.text]] as const) {
    if (pieces === undefined) continue;
    yield { type: `${kind}_start`, index };
    for (const delta of pieces) yield { type: `${kind}_delta`, index, delta };
    yield { type: `${kind}_end`, index, text: pieces.join("") };
    index++;
  }
  for (const { id, name, args } of reply.calls ?? []) {
    yield { type: "tool_input_start", index, id, name };
    const call = typeof args === "string"
      ? {
        type: "toolCall" as const,
        id,
        name,
        arguments: {},
        rawArguments: args,
        argumentsError: "not JSON",
      }
      : { type: "toolCall" as const, id, name, arguments: args };
    yield { type: "tool_input_end", index, call };
    index++;
  }
}
