/**
 * The calls of a Chat Completions reply, put together from fragments. Knows how endpoints number and name fragments, nothing else.
 */

import { ParseTries } from "./parse_tries.ts";
import { type OpenCall, parseArguments, type ReplyBlocks } from "./reply_blocks.ts";

/** A part of a call; any of its fields may be missing, `null` or empty. */
export interface ToolFragment {
  index?: unknown;
  id?: unknown;
  function?: { name?: unknown; arguments?: unknown } | null;
}

/** A call that may still wait for its name or its turn. */
interface Call {
  id: string;
  name: string;
  /** Arguments from before it was open. */
  early: string;
  open: OpenCall | undefined;
  readonly tries: ParseTries;
}

/**
 * Calls begin in the order of the endpoint's numbers, whichever comes first: one with a higher number is held back until all lower
 * ones have begun, at the latest until `end()`.
 */
export class ChatCalls {
  #blocks: ReplyBlocks;
  /** Each of the endpoint's numbers with the call that it means now. */
  #byIndex = new Map<number, Call>();
  #byId = new Map<string, Call>();
  /** Calls by their place in the reply. */
  #places = new Map<number, Call>();
  #lastPlace = -1;
  #last: Call | undefined;
  #nextPlace = 0;

  constructor(blocks: ReplyBlocks) {
    this.#blocks = blocks;
  }

  /** Whether no fragment has come. */
  get isEmpty(): boolean {
    return this.#places.size === 0;
  }

  /** Takes a fragment. */
  take(fragment: ToolFragment): void {
    const id = typeof fragment.id === "string" ? fragment.id : "";
    const name = typeof fragment.function?.name === "string" ? fragment.function.name : "";
    const input = inputOf(fragment.function?.arguments);
    const index = Number.isSafeInteger(fragment.index) ? fragment.index as number : undefined;
    const call = this.#find({ id, name, input, index });
    if (call.id === "" && id !== "") {
      call.id = id;
      this.#byId.set(id, call);
    }
    call.name ||= name;
    this.#last = call;
    if (call.open !== undefined) {
      this.#blocks.addInput(call.open, input);
      return;
    }
    call.early += input;
    this.#openNext();
  }

  /** Begins what still waits, in order, and ends all. */
  end(): void {
    const sorted = [...this.#places].sort(([a], [b]) => a - b).map(([, call]) => call);
    for (const call of sorted) {
      const isNothing = call.id === "" && call.name === "" && call.early.trim() === "";
      if (call.open === undefined && !isNothing) this.#open(call);
    }
    for (const call of sorted) if (call.open !== undefined) this.#blocks.endCall(call.open);
  }

  #find(fragment: { id: string; name: string; input: string; index: number | undefined }): Call {
    const { id, name, input, index } = fragment;
    let known = index === undefined
      ? (id === "" ? this.#last : this.#byId.get(id))
      : this.#byIndex.get(index);
    if (known === undefined) return this.#add(id, index);
    if (id !== "" && known.id !== "" && id !== known.id) known = this.#byId.get(id) ?? known;
    const otherId = id !== "" && known.id !== "" && id !== known.id;
    const text = known.open?.text ?? known.early;
    // Endpoints that send calls whole give them all the number 0, or neither number nor id.
    const isNext = name !== "" && known.name !== "" &&
      (otherId
        ? name !== known.name || text === "" || isWhole(text, known.tries)
        : (index === undefined || id === "") && input.startsWith("{") &&
          isWhole(text, known.tries));
    return isNext ? this.#add(id, index) : known;
  }

  #add(id: string, index: number | undefined): Call {
    const call: Call = { id: "", name: "", early: "", open: undefined, tries: new ParseTries() };
    // Without a number of its own it comes after all that have come.
    const isFree = index !== undefined && !this.#places.has(index);
    const place = isFree ? index : this.#lastPlace + 1;
    this.#lastPlace = Math.max(this.#lastPlace, place);
    this.#places.set(place, call);
    if (index !== undefined) this.#byIndex.set(index, call);
    if (id !== "") this.#byId.set(id, call);
    return call;
  }

  #openNext(): void {
    for (;;) {
      const call = this.#places.get(this.#nextPlace);
      if (call === undefined || (call.open === undefined && call.name === "")) return;
      if (call.open === undefined) this.#open(call);
      this.#nextPlace++;
    }
  }

  #open(call: Call): void {
    call.open = this.#blocks.startCall(call.id, call.name);
    this.#blocks.addInput(call.open, call.early);
    call.early = "";
  }
}

/** Arguments as text; some endpoints send the object itself. */
function inputOf(input: unknown): string {
  if (typeof input === "string") return input;
  return typeof input === "object" && input !== null ? JSON.stringify(input) : "";
}

/** Whether the text is a complete JSON object; `false` when that was asked too often. */
function isWhole(text: string, tries: ParseTries): boolean {
  // Even to look at its end costs as much as the text is long.
  return tries.allow(text) && text.trimEnd().endsWith("}") &&
    parseArguments(text).rawArguments === undefined;
}
