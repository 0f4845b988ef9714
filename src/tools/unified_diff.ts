/**
 * What edits changed, as a unified diff for the model and for people. Looks only at the lines around the changes, so that a small
 * change in a large file costs little; refuses to know files.
 */

import type { TextChange } from "./plan_changes.ts";

/** A diff, and where in the new text the first changed line is, counted from 1. */
export interface UnifiedDiff {
  readonly diff: string;
  readonly firstChangedLine: number;
}

interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

/** Changes that are close together, and the whole lines around them. */
interface Group {
  readonly start: number;
  readonly end: number;
  readonly changes: readonly TextChange[];
}

const CONTEXT_LINES = 3;
/** Beyond this many differing lines in one place the old lines are shown, then the new ones. */
const MAX_EDIT_LENGTH = 1000;

/**
 * The diff of `before` and `before` with `changes` made (sorted, without overlap, at least one). After `maxLength` UTF-16 units it is cut
 * at the end of a line, and a line in brackets says so.
 */
export async function unifiedDiff(
  before: string,
  changes: readonly TextChange[],
  options: { path: string; maxLength: number },
): Promise<UnifiedDiff> {
  const { structuredPatch } = await import("diff");
  const { path, maxLength } = options;
  const header = `--- ${path}\n+++ ${path}\n`;
  let diff = "";
  let firstChangedLine = 0;
  let line = 0;
  let shift = 0;
  let end = 0;
  for (const group of groupsOf(before, changes, maxLength)) {
    if (diff.length > maxLength) break;
    line += countFeeds(before.slice(end, group.start));
    const oldText = before.slice(group.start, group.end);
    const newText = changedText(before, group);
    const limits = { context: CONTEXT_LINES, maxEditLength: MAX_EDIT_LENGTH };
    const patch = oldText.length + newText.length <= 4 * maxLength
      ? structuredPatch("", "", oldText, newText, "", "", limits)
      : undefined;
    const hunks: readonly Hunk[] = patch?.hunks ?? [replacingHunk(oldText, newText)];
    for (const hunk of hunks) {
      firstChangedLine ||= line + hunk.newStart +
        hunk.lines.findIndex((text) => !text.startsWith(" "));
      diff += hunkText(hunk, { oldShift: line, newShift: line + shift });
    }
    const feeds = countFeeds(oldText);
    shift += countFeeds(newText) - feeds;
    line += feeds;
    end = group.end;
  }
  return { diff: header + cut(diff, maxLength), firstChangedLine };
}

/**
 * Cuts the text into places that need no common hunk, one at a time, so that the reader may stop. A place that grows beyond `maxLength`
 * ends at the next line.
 */
function* groupsOf(
  before: string,
  changes: readonly TextChange[],
  maxLength: number,
): Generator<Group> {
  let members: TextChange[] = [];
  let start = 0;
  let coreEnd = 0;
  let reach = 0;
  let end = 0;
  for (const change of changes) {
    const isFar = change.start > reach;
    const isLong = coreEnd - start > maxLength && change.start >= coreEnd;
    if (members.length > 0 && (isFar || isLong)) {
      end = isFar ? lineEnd(before, coreEnd, CONTEXT_LINES - 1) : coreEnd;
      yield { start, end, changes: members };
      members = [];
    }
    if (members.length === 0) {
      start = Math.max(end, lineStart(before, change.start, CONTEXT_LINES));
    }
    if (members.length === 0 || change.end > coreEnd) {
      coreEnd = lineEnd(before, change.end, 0);
      // Changes with no more lines between them than both need around them share a hunk.
      reach = lineEnd(before, coreEnd, 2 * CONTEXT_LINES - 1);
    }
    members.push(change);
  }
  end = lineEnd(before, coreEnd, CONTEXT_LINES - 1);
  if (members.length > 0) yield { start, end, changes: members };
}

function changedText(before: string, { start, end, changes }: Group): string {
  const parts: string[] = [];
  let place = start;
  for (const change of changes) {
    parts.push(before.slice(place, change.start), change.text);
    place = change.end;
  }
  parts.push(before.slice(place, end));
  return parts.join("");
}

function replacingHunk(oldText: string, newText: string): Hunk {
  const oldLines = linesOf(oldText);
  const newLines = linesOf(newText);
  const mark = (sign: string, lines: string[], text: string) => {
    const marked = lines.map((line) => sign + line);
    if (text !== "" && !text.endsWith("\n")) marked.push("\\ No newline at end of file");
    return marked;
  };
  return {
    oldStart: 1,
    oldLines: oldLines.length,
    newStart: 1,
    newLines: newLines.length,
    lines: [...mark("-", oldLines, oldText), ...mark("+", newLines, newText)],
  };
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function hunkText(hunk: Hunk, options: { oldShift: number; newShift: number }): string {
  // A side without lines is named by the line before it.
  const oldStart = hunk.oldStart + options.oldShift - (hunk.oldLines === 0 ? 1 : 0);
  const newStart = hunk.newStart + options.newShift - (hunk.newLines === 0 ? 1 : 0);
  const header = `@@ -${oldStart},${hunk.oldLines} +${newStart},${hunk.newLines} @@`;
  return `${header}\n${hunk.lines.join("\n")}\n`;
}

function cut(diff: string, maxLength: number): string {
  if (diff.length <= maxLength) return diff;
  const shown = diff.slice(0, diff.lastIndexOf("\n", maxLength) + 1);
  return `${shown}[the rest of the diff is left out, it is too long]\n`;
}

function countFeeds(text: string): number {
  let feeds = 0;
  for (let place = text.indexOf("\n"); place !== -1; place = text.indexOf("\n", place + 1)) feeds++;
  return feeds;
}

/** Start of the line at `place`, or of the one that is `lines` above it. */
function lineStart(text: string, place: number, lines: number): number {
  let start = place;
  for (let left = lines; left >= 0; left--) {
    if (start === 0) return 0;
    start = text.lastIndexOf("\n", start - 1) + 1;
    if (left > 0 && start > 0) start--;
  }
  return start;
}

/** End of the line at `place`, its line feed included, or of the one that is `lines` below it. */
function lineEnd(text: string, place: number, lines: number): number {
  let end = place;
  for (let left = lines; left >= 0; left--) {
    const feed = text.indexOf("\n", end);
    if (feed === -1) return text.length;
    end = feed + 1;
  }
  return end;
}
