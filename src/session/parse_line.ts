/**
 * One line of a session file as JSON objects, damaged lines included. Knows no entry but the names of the types.
 *
 * A power cut leaves blocks of NUL, and a program that appends behind a torn line glues two records together. What is whole in such
 * a line is found again. Linear in the length of the line.
 */

import type { JsonObject } from "../agent/message.ts";
import { asObject } from "./json_members.ts";

/** What a line holds. */
export interface ParsedLine {
  readonly records: readonly JsonObject[];
  /** Something of the line could not be read. */
  readonly isDamaged: boolean;
}

/** Reads a line; never throws. */
export function parseLine(line: string): ParsedLine {
  const whole = parseObject(line);
  if (whole !== undefined) return { records: [whole], isDamaged: false };
  const text = line.replace(/[\0\uFEFF]+/g, "").trim();
  const records = splitObjects(text);
  // Where NUL is, something else was: nobody writes it.
  const isDamaged = records?.length === 0 || line.includes("\0");
  if (records !== undefined) return { records, isDamaged };
  let tries = 0;
  for (const { index } of text.matchAll(RECORD_START)) {
    if (++tries > MAX_TRIES) break;
    const found = index === 0 ? undefined : splitObjects(text.slice(index));
    if (found !== undefined) {
      return { records: [...beginning(text, index), ...found], isDamaged: true };
    }
  }
  return { records: beginning(text, text.length), isDamaged: true };
}

/** How an entry begins wherever this program or pi wrote it; inside of a text the quotes would be escaped. */
const RECORD_START =
  /\{"type":"(?:session|message|model_change|thinking_level_change|compaction|session_info|custom|custom_message|usage|branch_summary|label|context_edit)"/g;
const MAX_TRIES = 8;

/** The objects that the text consists of, one behind the other; `undefined` when there is anything else in it. */
function splitObjects(text: string): JsonObject[] | undefined {
  const records: JsonObject[] = [];
  let start = 0;
  for (const end of objectEnds(text)) {
    const record = parseObject(text.slice(start, end));
    if (record === undefined) return undefined;
    records.push(record);
    start = end;
  }
  return text.slice(start).trim() === "" ? records : undefined;
}

/** The whole objects at the start of a text, up to `end`. */
function beginning(text: string, end: number): JsonObject[] {
  const records: JsonObject[] = [];
  let start = 0;
  for (const next of objectEnds(text)) {
    if (next > end) break;
    const record = parseObject(text.slice(start, next));
    if (record === undefined) break;
    records.push(record);
    start = next;
  }
  return records;
}

/** Where top-level objects end, by counting braces outside of strings. */
function* objectEnds(text: string): Iterable<number> {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) inString = !inString;
    else if (inString) {
      if (code === BACKSLASH) index++;
    } else if (code === OPEN) depth++;
    else if (code === CLOSE && --depth === 0) yield index + 1;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;

function parseObject(text: string): JsonObject | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}
