/**
 * Finds the matching lines of one file, as its bytes are read. Knows lines; refuses to know how results read.
 *
 * A line ends with LF, a CR before it does not belong to it. Bytes that are no UTF-8 count as U+FFFD. Of a line beyond 1 MiB only the
 * beginning is looked at. A file with a NUL in its first 8 KiB is no text and has no lines.
 */

import type { Host } from "../host.ts";
import type { LineMatcher } from "./line_matcher.ts";

/** A line of a file. */
export interface FileLine {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
}

/** A line that matches, or one that follows it closely. */
export interface FoundLine extends FileLine {
  readonly isMatch: boolean;
  /** What stands right before a match and was not given yet. */
  readonly before: readonly FileLine[];
}

/** How a file is searched. */
export interface SearchFileOptions {
  readonly host: Host;
  readonly matcher: LineMatcher;
  /** Lines before and after each match that come with it. */
  readonly context: number;
  readonly signal: AbortSignal;
}

const WHOLE_BYTES = 1 << 20;
const BINARY_CHECK_BYTES = 8192;
const MAX_LINE = 1 << 20;

/**
 * The matching lines and their context, in order and each once. Larger files are read in pieces, so memory does not grow with the file.
 * Throws `HostError` and `signal.reason`.
 */
export async function* searchFile(
  path: string,
  options: SearchFileOptions,
): AsyncGenerator<FoundLine> {
  const { host, signal } = options;
  const search = new LineSearch(options);
  const start = await host.files.read(path, { signal, limit: WHOLE_BYTES, isReal: true });
  if (start.subarray(0, BINARY_CHECK_BYTES).includes(0)) return;
  const decoder = new TextDecoder();
  yield* search.push(decoder.decode(start, { stream: true }));
  if (start.length === WHOLE_BYTES) {
    // Leaving the loop early closes the file.
    for await (
      const bytes of await host.files.openRead(path, { start: WHOLE_BYTES, isReal: true })
    ) {
      signal.throwIfAborted();
      yield* search.push(decoder.decode(bytes, { stream: true }));
    }
  }
  yield* search.push(decoder.decode());
  yield* search.end();
}

class LineSearch {
  readonly #matcher: LineMatcher;
  readonly #signal: AbortSignal;
  readonly #context: number;
  /** The beginning of a line whose end has not come. */
  #open = "";
  #number = 0;
  /** Lines before, for the next match; at most `context`. */
  #before: FileLine[] = [];
  #after = 0;

  constructor({ matcher, context, signal }: SearchFileOptions) {
    this.#matcher = matcher;
    this.#context = context;
    this.#signal = signal;
  }

  async *push(text: string): AsyncGenerator<FoundLine> {
    const lines: string[] = [];
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      const line = this.#open === "" ? text.slice(start, end) : this.#open + text.slice(start, end);
      this.#open = "";
      start = end + 1;
      lines.push(line);
    }
    yield* this.#look(lines);
    if (this.#open.length < MAX_LINE) this.#open += text.slice(start);
  }

  async *end(): AsyncGenerator<FoundLine> {
    if (this.#open !== "") yield* this.#look([this.#open]);
  }

  /** All lines of a piece are tested together: the test may have to go elsewhere. */
  async *#look(raw: readonly string[]): AsyncGenerator<FoundLine> {
    const lines = raw.map(shownLine);
    const tested = this.#matcher.test(lines, this.#signal);
    const matches = tested instanceof Promise ? await tested : tested;
    for (const [index, text] of lines.entries()) {
      const found = this.#line(text, matches[index]!);
      if (found !== undefined) yield found;
    }
  }

  #line(text: string, isMatch: boolean): FoundLine | undefined {
    const number = ++this.#number;
    if (isMatch) {
      const before = this.#before;
      this.#before = [];
      this.#after = this.#context;
      return { number, text, isMatch, before };
    }
    if (this.#after > 0) {
      this.#after--;
      return { number, text, isMatch, before: [] };
    }
    if (this.#context > 0) {
      this.#before.push({ number, text });
      if (this.#before.length > this.#context) this.#before.shift();
    }
    return undefined;
  }
}

/** What is looked at of a line: no CR at its end, and no more than a MiB. */
function shownLine(raw: string): string {
  const whole = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
  return whole.length > MAX_LINE ? whole.slice(0, MAX_LINE) : whole;
}
