/**
 * The events of the Responses API as the pieces of a reply. Knows neither HTTP nor the event stream. What an endpoint leaves out of
 * the stream is taken from the complete items, and at last from the complete response.
 */

import type { Usage } from "../agent/message.ts";
import type { ModelReplyEnd, ModelSink } from "../agent/model.ts";
import { cutError, type EndpointContext, streamError } from "./model_error.ts";
import { responsesUsage } from "./read_usage.ts";
import type { ReplyDecoder } from "./read_events.ts";
import { type OpenCall, ReplyBlocks } from "./reply_blocks.ts";

type Fields = Record<string, unknown>;

/** What has come of one item of the output. */
interface Item {
  hasText: boolean;
  call: OpenCall | undefined;
  done: boolean;
}

/** Makes one reply of the events of one answer. */
export class ResponsesStream implements ReplyDecoder {
  #context: EndpointContext;
  #blocks: ReplyBlocks;
  #items = new Map<string, Item>();
  #id: string | undefined;
  #model: string | undefined;
  #status: string | undefined;
  #usage: Usage | undefined;
  /** Some of the text says why the model does not answer. */
  #isRefusal = false;

  constructor(options: { sink: ModelSink; context: EndpointContext }) {
    this.#context = options.context;
    this.#blocks = new ReplyBlocks(options.sink, options.context.secrets);
  }

  get finished(): boolean {
    return this.#status !== undefined;
  }

  get complete(): boolean {
    return this.#status !== undefined;
  }

  takeWait(): Promise<unknown> | undefined {
    return this.#blocks.takeWait();
  }

  take(value: unknown, eventName: string): void {
    if (typeof value !== "object" || value === null) return;
    const event = value as Fields;
    const type = typeof event.type === "string" && event.type !== "" ? event.type : eventName;
    switch (type) {
      case "response.refusal.delta":
        this.#isRefusal = true;
        this.#item(event).hasText = true;
        return this.#blocks.addText(text(event.delta));
      case "response.output_text.delta":
        this.#item(event).hasText = true;
        return this.#blocks.addText(text(event.delta));
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        this.#item(event).hasText = true;
        return this.#blocks.addThinking(text(event.delta));
      case "response.reasoning_summary_part.added":
        if (this.#item(event).hasText) this.#blocks.addThinking("\n\n");
        return;
      case "response.output_item.added":
        return this.#itemAdded(event);
      case "response.function_call_arguments.delta": {
        const { call, done } = this.#item(event);
        if (call !== undefined && !done) this.#blocks.addInput(call, text(event.delta));
        return;
      }
      case "response.output_item.done":
        return this.#itemDone(this.#item(event), fields(event.item));
      case "response.created":
      case "response.in_progress":
        return this.#head(fields(event.response));
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return this.#end(fields(event.response), type.slice("response.".length));
      case "error":
        throw this.#error(event.error ?? { message: event.message, code: event.code });
    }
    // Not an event: the whole response of an endpoint that does not stream, or an error of the other API's form.
    if (event.object === "response") this.#end(event, text(event.status) || "completed");
    else if (event.error) throw this.#error(event.error);
  }

  /** Ends the reply. Throws `stream_cut` when nothing has come. */
  end(): ModelReplyEnd {
    if (this.#status === undefined && this.#blocks.isEmpty) {
      throw cutError("it ended before anything came");
    }
    this.#blocks.closeText();
    for (const { call, done } of this.#items.values()) {
      if (call !== undefined && !done) this.#blocks.endCall(call);
    }
    return {
      stopReason: this.#stopReason(),
      rawStopReason: this.#isRefusal ? "refusal" : this.#status,
      model: this.#model,
      responseId: this.#id,
      usage: this.#usage,
    };
  }

  #item(event: Fields): Item {
    const key = typeof event.output_index === "number"
      ? String(event.output_index)
      : text(event.item_id) || text(fields(event.item).id);
    let item = this.#items.get(key);
    if (item === undefined) {
      item = { hasText: false, call: undefined, done: false };
      this.#items.set(key, item);
    }
    return item;
  }

  #itemAdded(event: Fields): void {
    const added = fields(event.item);
    if (added.type !== "function_call") return;
    const item = this.#item(event);
    if (item.call === undefined && text(added.name) !== "") this.#startCall(item, added);
  }

  #itemDone(item: Item, done: Fields): void {
    if (item.done) return;
    if (done.type === "function_call") {
      const call = item.call ?? this.#startCall(item, done);
      const whole = inputOf(done.arguments);
      // The complete item is what counts; deltas only said it earlier.
      if (call.text === "") this.#blocks.addInput(call, whole);
      else if (whole.startsWith(call.text)) {
        this.#blocks.addInput(call, whole.slice(call.text.length));
      }
      this.#blocks.endCall(call);
    } else if (!item.hasText) {
      if (done.type === "message") this.#blocks.addText(joined(done.content));
      if (done.type === "reasoning") {
        this.#blocks.addThinking(joined(done.summary) || joined(done.content));
      }
    }
    item.done = true;
  }

  #startCall(item: Item, source: Fields): OpenCall {
    item.call = this.#blocks.startCall(text(source.call_id) || text(source.id), text(source.name));
    return item.call;
  }

  #head(response: Fields): void {
    this.#id ??= text(response.id) || undefined;
    this.#model ??= text(response.model) || undefined;
  }

  #end(response: Fields, status: string): void {
    this.#head(response);
    this.#usage = responsesUsage(response.usage) ?? this.#usage;
    if (status === "failed") throw this.#error(response.error ?? "the response failed");
    for (const [index, item] of list(response.output).entries()) {
      this.#itemDone(this.#item({ output_index: index, item }), fields(item));
    }
    this.#status = text(fields(response.incomplete_details).reason) || status;
  }

  #stopReason(): ModelReplyEnd["stopReason"] {
    if (this.#status === "max_output_tokens" || this.#status === "max_tokens") return "length";
    return this.#blocks.hasCalls ? "toolUse" : "stop";
  }

  #error(error: unknown) {
    return streamError(error, { context: this.#context, begun: !this.#blocks.isEmpty });
  }
}

/** The texts of parts, one after the other. */
function joined(parts: unknown): string {
  return list(parts).map((part) => text(fields(part).text) || text(fields(part).refusal)).join("");
}

function inputOf(input: unknown): string {
  if (typeof input === "string") return input;
  return typeof input === "object" && input !== null ? JSON.stringify(input) : "";
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? value as Fields : {};
}
