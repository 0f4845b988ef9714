/**
 * The chunks of Chat Completions as the pieces of a reply. Knows the many ways in which endpoints fill them, but neither HTTP nor the
 * event stream.
 */

import type { Usage } from "../agent/message.ts";
import type { ModelReplyEnd, ModelSink } from "../agent/model.ts";
import { ModelError } from "../errors.ts";
import { ChatCalls, type ToolFragment } from "./chat_calls.ts";
import { cutError, type EndpointContext, streamError } from "./model_error.ts";
import { chatUsage } from "./read_usage.ts";
import type { ReplyDecoder } from "./read_events.ts";
import { ReplyBlocks } from "./reply_blocks.ts";

interface Delta {
  content?: unknown;
  refusal?: unknown;
  reasoning_content?: unknown;
  reasoning?: unknown;
  tool_calls?: unknown;
}

interface Choice {
  index?: unknown;
  delta?: Delta | null;
  /** In answers that are not streamed. */
  message?: Delta | null;
  finish_reason?: unknown;
  usage?: unknown;
}

interface Chunk {
  id?: unknown;
  model?: unknown;
  choices?: unknown;
  usage?: unknown;
  error?: unknown;
  object?: unknown;
}

/** Makes one reply of the chunks of one answer. */
export class ChatStream implements ReplyDecoder {
  readonly complete = false;
  #context: EndpointContext;
  #blocks: ReplyBlocks;
  #calls: ChatCalls;
  #id: string | undefined;
  #model: string | undefined;
  #finishReason: string | undefined;
  #usage: Usage | undefined;
  /** Some of the text says why the model does not answer. */
  #isRefusal = false;

  constructor(options: { sink: ModelSink; context: EndpointContext }) {
    this.#context = options.context;
    this.#blocks = new ReplyBlocks(options.sink, options.context.secrets);
    this.#calls = new ChatCalls(this.#blocks);
  }

  get finished(): boolean {
    return this.#finishReason !== undefined;
  }

  takeWait(): Promise<unknown> | undefined {
    return this.#blocks.takeWait();
  }

  take(value: unknown, eventName: string): void {
    if (typeof value !== "object" || value === null) return;
    const chunk = value as Chunk;
    const isError = chunk.error || eventName === "error" || chunk.object === "error";
    if (isError) throw this.#error(chunk.error ?? chunk);
    if (this.#id === undefined && typeof chunk.id === "string" && chunk.id) this.#id = chunk.id;
    if (this.#model === undefined && typeof chunk.model === "string" && chunk.model) {
      this.#model = chunk.model;
    }
    if (chunk.usage) this.#usage = chatUsage(chunk.usage) ?? this.#usage;
    if (!Array.isArray(chunk.choices)) return;
    for (const choice of chunk.choices as (Choice | null)[]) {
      // One answer was asked for; an endpoint that gives more has them under other numbers.
      if (choice && !choice.index) this.#choice(choice);
    }
  }

  /** Ends the reply. Throws `stream_cut` when nothing has come. */
  end(): ModelReplyEnd {
    if (this.#finishReason === undefined && !this.#begun) {
      throw cutError("it ended before anything came");
    }
    this.#blocks.closeText();
    this.#calls.end();
    return {
      stopReason: this.#stopReason(),
      rawStopReason: this.#isRefusal ? "refusal" : this.#finishReason,
      model: this.#model,
      responseId: this.#id,
      usage: this.#usage,
    };
  }

  get #begun(): boolean {
    return !this.#blocks.isEmpty || !this.#calls.isEmpty;
  }

  #choice(choice: Choice): void {
    const delta = choice.delta ?? choice.message;
    if (delta) {
      const thinking = delta.reasoning_content ?? delta.reasoning;
      if (typeof thinking === "string") this.#blocks.addThinking(thinking);
      if (typeof delta.content === "string") this.#blocks.addText(delta.content);
      else if (Array.isArray(delta.content)) this.#parts(delta.content);
      if (typeof delta.refusal === "string" && delta.refusal !== "") {
        this.#isRefusal = true;
        this.#blocks.addText(delta.refusal);
      }
      if (Array.isArray(delta.tool_calls)) {
        for (const fragment of delta.tool_calls as (ToolFragment | null)[]) {
          if (fragment) this.#calls.take(fragment);
        }
      }
    }
    if (choice.usage) this.#usage = chatUsage(choice.usage) ?? this.#usage;
    if (typeof choice.finish_reason !== "string" || choice.finish_reason === "") return;
    if (choice.finish_reason === "error") {
      throw this.#error("the endpoint ended the reply with an error");
    }
    this.#finishReason ??= choice.finish_reason;
  }

  /** Content as a list of parts, as some endpoints send it. */
  #parts(parts: readonly unknown[]): void {
    for (const part of parts as ({ type?: unknown; text?: unknown; thinking?: unknown } | null)[]) {
      if (typeof part?.text === "string") this.#blocks.addText(part.text);
      else if (typeof part?.thinking === "string") this.#blocks.addThinking(part.thinking);
      else if (Array.isArray(part?.thinking)) {
        for (const inner of part.thinking as ({ text?: unknown } | null)[]) {
          if (typeof inner?.text === "string") this.#blocks.addThinking(inner.text);
        }
      }
    }
  }

  #stopReason(): ModelReplyEnd["stopReason"] {
    if (this.#finishReason === "length" || this.#finishReason === "max_tokens") return "length";
    return this.#blocks.hasCalls ? "toolUse" : "stop";
  }

  #error(error: unknown): ModelError {
    return streamError(error, { context: this.#context, begun: this.#begun });
  }
}
