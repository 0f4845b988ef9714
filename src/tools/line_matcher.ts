/**
 * Tests lines against a pattern of somebody else without ever holding up the process. A regular expression can take a time that grows with a power of
 * the line's length, or faster; where that could be long it runs in a worker, which an abort or the time limit ends.
 */

/** Steps, about, that may be taken on our own event loop for a line: some milliseconds. */
const INLINE_STEPS = 1e7;
/** What one batch of lines may take in the worker. */
const LIMIT_MS = 10_000;

/** The pattern took too long on some line. */
export class SlowPatternError extends Error {
  override readonly name = "SlowPatternError";
}

export class LineMatcher implements Disposable {
  readonly #regExp: RegExp;
  readonly #inlineLength: number;
  #worker: Worker | undefined;
  /** Where the worker loads its program from, which takes a while. */
  #url: string | undefined;

  constructor(regExp: RegExp) {
    this.#regExp = regExp;
    this.#inlineLength = inlineLength(regExp.source);
  }

  /** Whether each line matches. Throws `SlowPatternError` and `signal.reason`. */
  test(
    lines: readonly string[],
    signal: AbortSignal,
  ): readonly boolean[] | Promise<readonly boolean[]> {
    const isShort = lines.every((line) => line.length <= this.#inlineLength);
    if (isShort || typeof Worker === "undefined") {
      return lines.map((line) => this.#regExp.test(line));
    }
    return this.#testInWorker(lines, signal);
  }

  [Symbol.dispose](): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    if (this.#url !== undefined) URL.revokeObjectURL(this.#url);
    this.#url = undefined;
  }

  async #testInWorker(lines: readonly string[], signal: AbortSignal): Promise<readonly boolean[]> {
    signal.throwIfAborted();
    const url = this.#url ??= createProgram(this.#regExp);
    const worker = this.#worker ??= new Worker(url, { type: "module" });
    const { promise, resolve, reject } = Promise.withResolvers<readonly boolean[]>();
    const onAbort = () => reject(signal.reason);
    const timer = setTimeout(
      () =>
        reject(
          new SlowPatternError(`it takes more than ${LIMIT_MS / 1000} s, use a simpler pattern`),
        ),
      LIMIT_MS,
    );
    signal.addEventListener("abort", onAbort, { once: true });
    worker.onmessage = (event: MessageEvent<boolean[]>) => resolve(event.data);
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new Error(event.message));
    };
    try {
      worker.postMessage(lines);
      return await promise;
    } catch (error) {
      // It may still be at it; only its end stops it.
      this[Symbol.dispose]();
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  }
}

/** The worker's program is a text, so that it is the same in a page, in a bundle and in an executable. */
function createProgram(regExp: RegExp): string {
  const pattern = `new RegExp(${JSON.stringify(regExp.source)}, ${JSON.stringify(regExp.flags)})`;
  const program = `const regExp = ${pattern};
onmessage = ({ data }) => postMessage(data.map((line) => regExp.test(line)));`;
  return URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
}

/**
 * The longest line that the pattern surely takes few steps for. Each part that can have any length multiplies the steps by the length of the line, as
 * does the choice of where a match begins; a group that repeats can take more steps than any power of it.
 */
export function inlineLength(source: string): number {
  const { open, repeatsGroup } = countOpenParts(source);
  if (repeatsGroup) return 0;
  return open === 0 ? Infinity : Math.floor(INLINE_STEPS ** (1 / (open + 1)));
}

function countOpenParts(source: string): { open: number; repeatsGroup: boolean } {
  let open = 0;
  let repeatsGroup = false;
  let previous = "";
  for (let at = 0; at < source.length; at++) {
    const character = source[at]!;
    if (character === "\\") {
      // A reference to a group compares a text of any length.
      if (/[1-9k]/.test(source[at + 1] ?? "")) open++;
      previous = "x";
      at++;
    } else if (character === "[") {
      at = endOfClass(source, at);
      previous = "x";
    } else if (character === "*" || character === "+" || character === "{") {
      open++;
      if (previous === ")") repeatsGroup = true;
      previous = "";
    } else {
      // The mark of a group's kind is no repetition.
      if (character === "?" && previous === ")") open++;
      previous = character;
    }
  }
  return { open, repeatsGroup };
}

function endOfClass(source: string, start: number): number {
  for (let at = start + 1; at < source.length; at++) {
    if (source[at] === "\\") at++;
    else if (source[at] === "]") return at;
  }
  return source.length;
}
