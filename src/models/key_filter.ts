/**
 * Takes an endpoint's own key out of the text that it streams: some show the request's headers in an answer. Knows no block and no API.
 */

/** Shorter ones, and those without a digit, are words that people put in where an endpoint needs no key. */
const SHORTEST_KEY = 16;

/** Holds back the end of a text as long as it may be the beginning of a key. */
export class KeyFilter {
  readonly #keys: readonly string[];
  #held = "";

  constructor(secrets: readonly string[]) {
    const keys = secrets.filter((secret) => secret.length >= SHORTEST_KEY && /\d/.test(secret));
    this.#keys = keys.toSorted((a, b) => b.length - a.length);
  }

  /** What can be shown of all text so far and has not been. */
  add(delta: string): string {
    if (this.#keys.length === 0) return delta;
    let text = this.#held + delta;
    for (const key of this.#keys) text = text.replaceAll(key, "[redacted]");
    const end = text.length - this.#heldLength(text);
    this.#held = text.slice(end);
    return text.slice(0, end);
  }

  /** The rest, when no more text comes. */
  end(): string {
    const rest = this.#held;
    this.#held = "";
    return rest;
  }

  #heldLength(text: string): number {
    return Math.max(0, ...this.#keys.map((key) => commonLength(text, key)));
  }
}

/** Length of the longest end of `text` that is a beginning of `key`, but not all of it. */
function commonLength(text: string, key: string): number {
  const first = Math.max(0, text.length - key.length + 1);
  for (let at = text.indexOf(key[0]!, first); at !== -1; at = text.indexOf(key[0]!, at + 1)) {
    if (key.startsWith(text.slice(at))) return text.length - at;
  }
  return 0;
}
