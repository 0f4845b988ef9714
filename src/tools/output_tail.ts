/**
 * The end of a long text that arrives in pieces: its last lines, in bounded memory and in time that grows with the text alone. Knows
 * no process and no file.
 */

/** What a result may hold of a command's output. */
export const TAIL_LINES = 2000;
export const TAIL_BYTES = 50 * 1024;

const encoder = new TextEncoder();

/** Keeps the last 2000 lines and 50 KB (of UTF-8) of what is added. */
export class OutputTail {
  #text = "";
  /** Counted only as long as everything fits. */
  #bytes = 0;
  #newlines = 0;
  #isCut = false;

  /** Whether something that was added is no longer in `text()`. */
  get isCut(): boolean {
    return this.#isCut;
  }

  add(text: string): void {
    this.#text += text;
    if (!this.#isCut) this.#isCut = !this.#fits(text);
    // Cut rarely, so that each character is copied a bounded number of times. A UTF-16 unit is at least one byte of UTF-8.
    if (this.#text.length > TAIL_BYTES * 4) this.#text = this.#text.slice(-TAIL_BYTES - 1);
  }

  /** The last lines, from the start of a line on unless the last line alone is too long. */
  text(): string {
    return this.#isCut ? lastLines(this.#text) : this.#text;
  }

  #fits(text: string): boolean {
    if (text.length > TAIL_BYTES) return false;
    this.#bytes += encoder.encode(text).length;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) this.#newlines++;
    const lines = this.#newlines + (this.#text.endsWith("\n") ? 0 : 1);
    return this.#bytes <= TAIL_BYTES && lines <= TAIL_LINES;
  }
}

/** Cuts a text at the front; a text that fits is returned as it is. */
function lastLines(text: string): string {
  const bytes = encoder.encode(text.slice(-TAIL_BYTES - 1));
  let start = Math.max(0, bytes.length - TAIL_BYTES);
  if (start > 0 || text.length > TAIL_BYTES + 1) {
    const newline = bytes.indexOf(10, Math.max(0, start - 1));
    // A last line that is longer than the limit is shown in part rather than not at all.
    if (newline !== -1 && newline < bytes.length - 1) start = newline + 1;
    else while (((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  }
  for (let lines = 0, at = bytes.length - 1; at > start; at--) {
    if (bytes[at - 1] === 10 && ++lines === TAIL_LINES) {
      start = at;
      break;
    }
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(start));
}
