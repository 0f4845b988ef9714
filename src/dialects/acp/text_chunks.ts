/** Cuts streamed text into chunks of a size that every client takes, never inside a character. */

import { isHighSurrogate } from "./tool_view.ts";

/** UTF-16 code units of a chunk. */
export const MAX_CHUNK = 16_384;

/** The pieces of a whole text. */
export function* splitText(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + MAX_CHUNK, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    yield text.slice(start, end);
    start = end;
  }
}

/** Holds back half a character at the end of a piece until the other half comes. */
export class ChunkCutter {
  #rest = "";

  *add(delta: string): Generator<string> {
    const text = this.#rest + delta;
    const isOpen = text !== "" && isHighSurrogate(text.charCodeAt(text.length - 1));
    this.#rest = isOpen ? text.slice(-1) : "";
    yield* splitText(isOpen ? text.slice(0, -1) : text);
  }

  /** What was held back and never completed. */
  end(): string {
    const rest = this.#rest;
    this.#rest = "";
    return rest;
  }
}
