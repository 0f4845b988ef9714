/**
 * The text of a search result: lines until a limit, and what tells that there is more. Knows no file.
 */

const MAX_TEXT = 50_000;
const MAX_LINE = 500;

/** Gathers the lines of a result. */
export class SearchResult {
  readonly #lines: string[] = [];
  #length = 0;
  #notice: string | undefined;

  /** Whether nothing more may be added. */
  get isFull(): boolean {
    return this.#notice !== undefined;
  }

  add(line: string): void {
    if (this.isFull) return;
    if (this.#length + line.length > MAX_TEXT) {
      return this.cut("The result is too long to show all of it; narrow the search");
    }
    this.#lines.push(line);
    this.#length += line.length + 1;
  }

  /** Ends the result with a notice. */
  cut(notice: string): void {
    this.#notice ??= notice;
  }

  text(): string {
    const text = this.#lines.length === 0 ? "No matches found" : this.#lines.join("\n");
    return this.#notice === undefined ? text : `${text}\n[${this.#notice}]`;
  }
}

/** A line of a file, cut where it is too long to be of use. */
export function shownLine(text: string): string {
  if (text.length <= MAX_LINE) return text;
  const isSplit = (text.charCodeAt(MAX_LINE - 1) & 0xfc00) === 0xd800;
  return `${text.slice(0, isSplit ? MAX_LINE - 1 : MAX_LINE)}…`;
}

/** A path on one line: control characters are written as escapes. */
export function shownPath(path: string): string {
  // deno-lint-ignore no-control-regex -- they are what is looked for
  return path.replace(/[\x00-\x1f]/g, (character) => JSON.stringify(character).slice(1, -1))
    .replace(
      /[\x7f-\x9f\u2028\u2029]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
}
