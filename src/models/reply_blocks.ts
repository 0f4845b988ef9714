/**
 * The blocks of a reply while it streams: gives each its place, its start and its end, and tells the sink. Knows no API.
 */

import type { JsonObject, ToolCall } from "../agent/message.ts";
import type { ModelEvent, ModelSink } from "../agent/model.ts";
import { KeyFilter } from "./key_filter.ts";

interface OpenText {
  readonly type: "text" | "thinking";
  readonly index: number;
  text: string;
}

/** A call that has its place in the reply. */
export interface OpenCall {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  /** The arguments as the endpoint has sent them. */
  text: string;
  readonly filter: KeyFilter;
  /** Without keys. */
  shown: string;
}

/** Text and thinking follow each other; calls may be open beside them and beside each other. */
export class ReplyBlocks {
  #sink: ModelSink;
  #count = 0;
  #calls = 0;
  #open: OpenText | undefined;
  /** Ids in use, each with the next number to tell another one apart. */
  #ids = new Map<string, number>();
  #wait: Promise<unknown> | undefined;
  readonly #secrets: readonly string[];
  #filter: KeyFilter;

  /** `secrets` are left out of text, thinking and arguments. */
  constructor(sink: ModelSink, secrets: readonly string[]) {
    this.#sink = sink;
    this.#secrets = secrets;
    this.#filter = new KeyFilter(secrets);
  }

  /** Whether the reply has anything yet. */
  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Whether the reply has a call. */
  get hasCalls(): boolean {
    return this.#calls > 0;
  }

  /** What the sink asked to wait for since the last call. */
  takeWait(): Promise<unknown> | undefined {
    const wait = this.#wait;
    this.#wait = undefined;
    return wait;
  }

  /** Adds to the answer; `""` adds nothing. */
  addText(delta: string): void {
    if (delta === "") return;
    const block = this.#open?.type === "text" ? this.#open : this.#start("text");
    this.#addTo(block, this.#filter.add(delta));
  }

  /** Adds to the thinking; `""` adds nothing. */
  addThinking(delta: string): void {
    if (delta === "") return;
    const block = this.#open?.type === "thinking" ? this.#open : this.#start("thinking");
    this.#addTo(block, this.#filter.add(delta));
  }

  /** Ends the text or thinking that is open. */
  closeText(): void {
    const block = this.#open;
    if (block === undefined) return;
    this.#addTo(block, this.#filter.end());
    this.#open = undefined;
    this.#emit({ type: `${block.type}_end`, index: block.index, text: block.text });
  }

  /** Begins a call. Its id is made when there is none, and made another when the reply has it already. */
  startCall(id: string, name: string): OpenCall {
    this.closeText();
    const call = {
      index: this.#count++,
      id: this.#uniqueId(id),
      name: name || "unknown",
      text: "",
      filter: new KeyFilter(this.#secrets),
      shown: "",
    };
    this.#calls++;
    this.#emit({ type: "tool_input_start", index: call.index, id: call.id, name: call.name });
    return call;
  }

  /** Adds to the arguments of a call. */
  addInput(call: OpenCall, delta: string): void {
    if (delta === "") return;
    call.text += delta;
    this.#tellInput(call, call.filter.add(delta));
  }

  /** Ends a call: its arguments are complete. */
  endCall(call: OpenCall): void {
    this.#tellInput(call, call.filter.end());
    const { index, id, name, shown } = call;
    this.#emit({
      type: "tool_input_end",
      index,
      call: { type: "toolCall", id, name, ...parseArguments(shown) },
    });
  }

  #tellInput(call: OpenCall, delta: string): void {
    if (delta === "") return;
    call.shown += delta;
    this.#emit({ type: "tool_input_delta", index: call.index, delta });
  }

  #addTo(block: OpenText, delta: string): void {
    if (delta === "") return;
    block.text += delta;
    this.#emit({ type: `${block.type}_delta`, index: block.index, delta });
  }

  #start(type: OpenText["type"]): OpenText {
    this.closeText();
    const block = { type, index: this.#count++, text: "" };
    this.#open = block;
    this.#emit({ type: `${type}_start`, index: block.index });
    return block;
  }

  #emit(event: ModelEvent): void {
    const wait = this.#sink(event);
    if (wait === undefined) return;
    this.#wait = this.#wait === undefined ? wait : Promise.all([this.#wait, wait]);
  }

  #uniqueId(id: string): string {
    const wanted = id || `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
    let unique = wanted;
    while (this.#ids.has(unique)) {
      const next = this.#ids.get(wanted) ?? 2;
      this.#ids.set(wanted, next + 1);
      unique = `${wanted}_${next}`;
    }
    this.#ids.set(unique, 2);
    return unique;
  }
}

/** The arguments that a model wrote. No text at all means none; anything but an object is kept as text with the reason. */
export function parseArguments(
  text: string,
): Pick<ToolCall, "arguments" | "rawArguments" | "argumentsError"> {
  if (text.trim() === "") return { arguments: {} };
  let problem: string;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return { arguments: value as JsonObject };
    }
    problem = `expected a JSON object, got ${kindOf(value)}`;
  } catch (error) {
    problem = `invalid JSON: ${(error as Error).message}`;
  }
  return { arguments: {}, rawArguments: text, argumentsError: problem };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return `a ${typeof value}`;
}
