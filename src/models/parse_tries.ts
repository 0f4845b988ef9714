/**
 * How often a text that grows may be parsed to see whether it is complete. Knows neither the text nor what it is for.
 */

/** So much is parsed whatever the size: a value of some pages may be tried at each of its lines. */
const FREE = 4 * 1024 * 1024;
const TIMES = 4;

/** Keeps the work in proportion to the text, however an endpoint cuts it: else each piece would have all of it parsed again. */
export class ParseTries {
  #parsed = 0;

  /** Whether `text` may be parsed now; counts it when it may. */
  allow(text: string): boolean {
    if (this.#parsed + text.length > FREE + TIMES * text.length) return false;
    this.#parsed += text.length;
    return true;
  }

  /** Another text begins. */
  reset(): void {
    this.#parsed = 0;
  }
}
