/**
 * From edits, as a model states them, to places in a text. Pure: knows no file. Line ends are the text's own business: texts to find
 * match whatever line ends the file has, and what is put in gets them.
 */

import { findPlaces } from "./find_places.ts";

/** One edit: a text to find and what to put in its place. */
export type Edit = { oldText: string; newText: string; all?: boolean };

/** A part of the original text, `start` up to `end` in UTF-16 units, and its replacement. */
export interface TextChange {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const MAX_CHANGES = 1_000_000;

/**
 * The changes that all edits together make, sorted and without overlap, or what is wrong (`old text matches 3 places, …`). Every old
 * text is looked for in the original and must be there exactly once, or at least once with `all`. Where LF and CRLF are mixed, a
 * replacement takes the first line end of the place that it replaces, otherwise the more frequent one. Linear time per edit.
 */
export function planChanges(
  text: string,
  edits: readonly Edit[],
): { ok: true; changes: TextChange[] } | { ok: false; problem: string } {
  const target = new EditTarget(text);
  const found: (TextChange & { readonly edit: number })[] = [];
  for (const [index, edit] of edits.entries()) {
    const of = edits.length === 1 ? "" : ` of edit ${index + 1}`;
    const result = target.plan(edit, of);
    if (!result.ok) return result;
    for (const change of result.changes) found.push({ ...change, edit: index + 1 });
    if (found.length > MAX_CHANGES) return { ok: false, problem: tooMany(of) };
  }
  found.sort((a, b) => a.start - b.start);
  for (let index = 1; index < found.length; index++) {
    const [before, after] = [found[index - 1]!, found[index]!];
    if (after.start >= before.end) continue;
    const [one, two] = [before.edit, after.edit].sort((a, b) => a - b);
    return { ok: false, problem: `edits ${one} and ${two} overlap, make one edit of them` };
  }
  return { ok: true, changes: found.map(({ start, end, text }) => ({ start, end, text })) };
}

/** The text with sorted changes made. */
export function applyChanges(text: string, changes: readonly TextChange[]): string {
  const parts: string[] = [];
  let end = 0;
  for (const change of changes) {
    parts.push(text.slice(end, change.start), change.text);
    end = change.end;
  }
  parts.push(text.slice(end));
  return parts.join("");
}

type Found = { ok: true; changes: TextChange[] } | { ok: false; problem: string };

class EditTarget {
  readonly #text: string;
  /** The text with LF for CRLF; what edits are looked for in. */
  readonly #plain: string;
  readonly #pairs: number;
  readonly #loneFeeds: number;

  constructor(text: string) {
    this.#text = text;
    this.#pairs = count(text, "\r\n");
    this.#loneFeeds = count(text, "\n") - this.#pairs;
    this.#plain = this.#pairs > 0 ? withLineFeeds(text) : text;
  }

  plan(edit: Edit, of: string): Found {
    const problem = (text: string): Found => ({ ok: false, problem: text });
    const wanted = withLineFeeds(edit.oldText);
    if (wanted === "") return problem(`old text${of} is empty, use write to make a file`);
    // It could match the half of a character, and the other half would be lost.
    if (!wanted.isWellFormed()) return problem(`old text${of} begins or ends inside a character`);
    if (!edit.newText.isWellFormed()) {
      return problem(`new text${of} has half of a character in it, send it whole`);
    }
    if (wanted === withLineFeeds(edit.newText)) {
      return problem(`old and new text${of} are the same, nothing would change`);
    }
    const found = findPlaces(this.#plain, wanted, MAX_CHANGES);
    if (found === undefined) return problem(tooMany(of));
    if (found.starts.length === 0) {
      return problem(`old text${of} was not found, read the file and copy the text exactly`);
    }
    let spans = this.#toOriginal(found.starts, wanted.length);
    // Two places that overlap are two places, although only one of them could be replaced.
    const places = found.overlaps ? Math.max(2, spans.length) : spans.length;
    if (!edit.all && places > 1) {
      // Where line ends are mixed, the exact ones may tell places apart.
      const exact = spans.filter(({ start, end }) => this.#text.slice(start, end) === edit.oldText);
      if (exact.length !== 1 || found.overlaps) {
        return problem(
          `old text${of} matches ${places} places, add lines around it until it matches one`,
        );
      }
      spans = exact;
    }
    return { ok: true, changes: this.#replace(spans, edit.newText) };
  }

  #replace(spans: readonly { start: number; end: number }[], newText: string): TextChange[] {
    if (this.#pairs + this.#loneFeeds === 0) {
      return spans.map((span) => ({ ...span, text: newText }));
    }
    const feeds = withLineFeeds(newText);
    const pairs = this.#pairs > 0 ? feeds.replaceAll("\n", "\r\n") : feeds;
    const isMostlyPairs = this.#pairs > this.#loneFeeds;
    return spans.map(({ start, end }) => {
      const feed = this.#text.slice(start, end).indexOf("\n");
      const takesPairs = feed === -1 ? isMostlyPairs : this.#text[start + feed - 1] === "\r";
      return { start, end, text: takesPairs ? pairs : feeds };
    });
  }

  /** Places in the plain text, sorted, as places in the original; a CRLF is never split. */
  #toOriginal(starts: readonly number[], length: number): { start: number; end: number }[] {
    if (this.#pairs === 0) return starts.map((start) => ({ start, end: start + length }));
    let passed = 0;
    let pair = this.#text.indexOf("\r\n");
    const toOriginal = (place: number) => {
      while (pair !== -1 && pair - passed < place) {
        passed++;
        pair = this.#text.indexOf("\r\n", pair + 2);
      }
      return place + passed;
    };
    return starts.map((place) => {
      const start = toOriginal(place);
      return { start, end: toOriginal(place + length) };
    });
  }
}

function withLineFeeds(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

function count(text: string, part: string): number {
  let found = 0;
  for (
    let start = text.indexOf(part);
    start !== -1;
    start = text.indexOf(part, start + part.length)
  ) {
    found++;
  }
  return found;
}

function tooMany(of: string): string {
  return `old text${of} matches more than ${MAX_CHANGES} places, use a script for that`;
}
