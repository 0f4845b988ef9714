/**
 * First stage behind the text decoder: text in, batches of lines out. Knows no command and no JSON.
 *
 * Only LF ends a line; one CR before it is dropped; every other character, U+2028 and a lone CR included, is an ordinary one. The lines
 * of one chunk stay together as one batch, because dialects promise something about commands that arrive in the same read.
 */

/** Stands in a batch for a line that was longer than the limit. */
export const LINE_TOO_LONG: unique symbol = Symbol("line too long");

/** A line without its end, or the mark that there was one nobody could hold. */
export type Line = string | typeof LINE_TOO_LONG;

/** Bytes of UTF-8 that a line may have: 64 MiB. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

/**
 * Splits text into lines in linear time. A line over `maxLength` bytes is reported once, as soon as that is certain, and skipped up to
 * its LF without being held. A last line without LF counts.
 */
export class LineStream extends TransformStream<string, readonly Line[]> {
  constructor(options: { maxLength: number }) {
    const splitter = new Splitter(options.maxLength);
    super({
      transform(chunk, controller) {
        const lines = splitter.push(chunk);
        if (lines.length > 0) controller.enqueue(lines);
      },
      flush(controller) {
        const lines = splitter.end();
        if (lines.length > 0) controller.enqueue(lines);
      },
    });
  }
}

class Splitter {
  readonly #maxBytes: number;
  /** Pieces of the line that has not ended yet; joined once, so that a long line costs linear time. */
  #pieces: string[] = [];
  #units = 0;
  #skipping = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: string): Line[] {
    const lines: Line[] = [];
    let start = 0;
    while (true) {
      const end = chunk.indexOf("\n", start);
      if (end < 0) break;
      this.#add(chunk.slice(start, end), lines);
      this.#endLine(lines);
      start = end + 1;
    }
    if (start < chunk.length) this.#add(start === 0 ? chunk : chunk.slice(start), lines);
    return lines;
  }

  end(): Line[] {
    const lines: Line[] = [];
    if (this.#pieces.length > 0) this.#endLine(lines);
    return lines;
  }

  #add(piece: string, lines: Line[]): void {
    if (this.#skipping || piece === "") return;
    this.#pieces.push(piece);
    this.#units += piece.length;
    // A UTF-16 unit is at least one byte of UTF-8, so this many units cannot fit. One CR before the LF would not count.
    if (this.#units > this.#maxBytes + 1) this.#giveUp(lines);
  }

  #endLine(lines: Line[]): void {
    if (this.#skipping) {
      this.#skipping = false;
      return;
    }
    let line = this.#pieces.length === 1 ? this.#pieces[0]! : this.#pieces.join("");
    this.#clear();
    if (line.endsWith("\r")) line = line.slice(0, -1);
    lines.push(isLonger(line, this.#maxBytes) ? LINE_TOO_LONG : line);
  }

  #giveUp(lines: Line[]): void {
    this.#clear();
    this.#skipping = true;
    lines.push(LINE_TOO_LONG);
  }

  #clear(): void {
    this.#pieces = [];
    this.#units = 0;
  }
}

/** Whether the text has more than `maxBytes` bytes as UTF-8. Counts only where the number of units leaves it open. */
function isLonger(text: string, maxBytes: number): boolean {
  if (text.length * 3 <= maxBytes) return false;
  if (text.length > maxBytes) return true;
  let bytes = text.length;
  for (let i = 0; i < text.length && bytes <= maxBytes; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // A surrogate pair is four bytes over two units, so each of its units adds one.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes > maxBytes;
}
