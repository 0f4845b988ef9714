/**
 * A page of lines out of a stream of bytes: keeps the lines that were asked for, counts the others and never holds more than the page.
 * Refuses to know files and notices.
 */

/** Which lines, and how much of them. */
export interface PageLimits {
  /** First line, counted from 1. */
  readonly offset: number;
  readonly maxLines: number;
  /** UTF-8 bytes of the page. */
  readonly maxBytes: number;
  /** UTF-16 units of a line; what is longer is cut and says so. */
  readonly maxLineLength: number;
}

const LINE_FEED = 10;
/** A UTF-16 unit is at most three bytes of UTF-8, and a character of two units four. */
const MAX_BYTES_PER_UNIT = 3;

/**
 * Collects the page while the bytes of a text go through. Lines end at LF; a page has whole lines with their own ends (a cut line ends
 * in LF). Bytes that are not UTF-8 become U+FFFD.
 */
export class LinePage {
  readonly #limits: PageLimits;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #parts: string[] = [];
  #lines = 0;
  #size = 0;
  #isFull = false;
  /** Line feeds so far. */
  #lineFeeds = 0;
  /** Bytes of the line that has not ended, and those of them that are kept. */
  #lineSize = 0;
  #line: Uint8Array[] = [];
  #lineKept = 0;

  constructor(limits: PageLimits) {
    this.#limits = limits;
  }

  /** The page so far. */
  get text(): string {
    return this.#parts.join("");
  }

  /** Lines on the page. */
  get lineCount(): number {
    return this.#lines;
  }

  /** Whether the page takes no more lines. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Lines that went through; after `end` all lines of the text. */
  get totalLines(): number {
    return this.#lineFeeds + (this.#lineSize > 0 ? 1 : 0);
  }

  /** Takes the next bytes. */
  write(bytes: Uint8Array): void {
    let start = 0;
    while (start < bytes.length) {
      if (this.#isFull || this.#lineFeeds + 1 < this.#limits.offset) {
        start = this.#skip(bytes, start);
        continue;
      }
      const lineFeed = bytes.indexOf(LINE_FEED, start);
      const end = lineFeed === -1 ? bytes.length : lineFeed + 1;
      this.#keep(bytes.subarray(start, end));
      if (lineFeed !== -1) this.#endLine(true);
      start = end;
    }
  }

  /** Takes a last line without line feed. */
  end(): void {
    if (this.#lineSize > 0 && this.#lineFeeds + 1 >= this.#limits.offset) this.#endLine(false);
  }

  /** Counts lines up to the first that is wanted, or all when the page is full. */
  #skip(bytes: Uint8Array, start: number): number {
    const wanted = this.#isFull ? Infinity : this.#limits.offset - 1;
    let lineFeeds = this.#lineFeeds;
    let lineStart = start;
    let index = start;
    while (index < bytes.length && lineFeeds < wanted) {
      if (bytes[index++] === LINE_FEED) {
        lineFeeds++;
        lineStart = index;
      }
    }
    this.#lineSize = index - lineStart + (lineFeeds === this.#lineFeeds ? this.#lineSize : 0);
    this.#lineFeeds = lineFeeds;
    return index;
  }

  #keep(piece: Uint8Array): void {
    this.#lineSize += piece.length;
    const room = (this.#limits.maxLineLength + 2) * MAX_BYTES_PER_UNIT - this.#lineKept;
    if (room <= 0) return;
    const kept = piece.slice(0, room);
    this.#line.push(kept);
    this.#lineKept += kept.length;
  }

  #endLine(hasLineFeed: boolean): void {
    const { text, size } = this.#lineText(hasLineFeed);
    this.#line = [];
    this.#lineKept = 0;
    if (this.#isFull || (this.#lines > 0 && this.#size + size > this.#limits.maxBytes)) {
      this.#isFull = true;
    } else {
      this.#parts.push(text);
      this.#lines++;
      this.#size += size;
      this.#isFull = this.#lines >= this.#limits.maxLines;
    }
    if (hasLineFeed) {
      this.#lineFeeds++;
      this.#lineSize = 0;
    }
  }

  #lineText(hasLineFeed: boolean): { text: string; size: number } {
    let text = "";
    for (const piece of this.#line) text += this.#decoder.decode(piece, { stream: true });
    text += this.#decoder.decode();
    const maxLength = this.#limits.maxLineLength;
    const isCut = this.#lineKept < this.#lineSize ||
      text.replace(/\r?\n$/, "").length > maxLength;
    if (!isCut) return { text, size: sizeOf(text) };
    const shown = text.slice(0, isHighSurrogate(text, maxLength - 1) ? maxLength - 1 : maxLength);
    const shownSize = sizeOf(shown);
    const left = this.#lineSize - shownSize - (hasLineFeed ? 1 : 0);
    const notice = ` [line cut, ${left} more bytes]${hasLineFeed ? "\n" : ""}`;
    return { text: shown + notice, size: shownSize + notice.length };
  }
}

function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

function isHighSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit <= 0xdbff;
}
