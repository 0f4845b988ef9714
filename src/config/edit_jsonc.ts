/**
 * Changes one value in the text of a JSON file with comments. Every character that is not part of the value stays where it is:
 * `jsonc-parser` finds the places, but its own `modify` would put a new key between a value and the comment behind it.
 */

import type { Node } from "jsonc-parser";

export type JsoncValue =
  | string
  | number
  | boolean
  | null
  | readonly JsoncValue[]
  | { readonly [key: string]: JsoncValue | undefined };

type Parser = typeof import("jsonc-parser");

interface Layout {
  readonly indent: string;
  readonly newline: string;
}

/**
 * The text with the value at `path` set, objects on the way made, or removed when it is `undefined`. `text` is valid JSON with comments
 * and trailing commas, or blank. Throws `TypeError` when something on the way is no object.
 */
export async function editJsonc(
  text: string,
  { path, value }: { path: readonly string[]; value: JsoncValue | undefined },
): Promise<string> {
  const parser = await import("jsonc-parser");
  const layout = findLayout(text);
  const root = parser.parseTree(text, [], { allowTrailingComma: true });
  if (!root) {
    if (value === undefined) return text;
    return text + format(nest(path, value), { depth: 0, layout }) + layout.newline;
  }
  let node = root;
  for (let depth = 0; depth < path.length; depth++) {
    if (node.type !== "object") {
      throw new TypeError(`Cannot set ${path.join(".")}: what is on the way is no object`);
    }
    const next = parser.findNodeAtLocation(node, [path[depth]]);
    if (!next) {
      if (value === undefined) return text;
      const rest = nest(path.slice(depth + 1), value);
      return insertProperty(text, { parser, object: node, key: path[depth], value: rest, layout });
    }
    node = next;
  }
  if (value === undefined) {
    return node.parent?.type === "property"
      ? removeProperty(text, { parser, property: node.parent })
      : text;
  }
  const depth = indentDepth(lineIndent(text, node.offset), layout);
  const shown = format(value, { depth, layout });
  return text.slice(0, node.offset) + shown + text.slice(node.offset + node.length);
}

function nest(path: readonly string[], value: JsoncValue): JsoncValue {
  return path.reduceRight<JsoncValue>((inner, key) => ({ [key]: inner }), value);
}

function findLayout(text: string): Layout {
  const indent = /^([ \t]+)["}\]]/m.exec(text)?.[1];
  return {
    indent: indent?.startsWith("\t") ? "\t" : indent ?? "  ",
    newline: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

function format(value: JsoncValue, { depth, layout }: { depth: number; layout: Layout }): string {
  const lines = JSON.stringify(value, null, layout.indent).split("\n");
  return lines.join(layout.newline + layout.indent.repeat(depth));
}

/** Adds a property behind the last one, its comma and the comments that follow it on its line. */
function insertProperty(text: string, { parser, object, key, value, layout }: {
  parser: Parser;
  object: Node;
  key: string;
  value: JsoncValue;
  layout: Layout;
}): string {
  const close = object.offset + object.length - 1;
  const last = object.children?.at(-1);
  const isOnOneLine = !/[\r\n]/.test(text.slice(object.offset, close));
  const property = (depth: number) => `${JSON.stringify(key)}: ${format(value, { depth, layout })}`;
  if (!last) {
    const outer = lineIndent(text, object.offset);
    const depth = indentDepth(outer, layout) + 1;
    const inside = text.slice(object.offset + 1, close).trimEnd();
    const before = text.slice(0, object.offset + 1) + inside;
    const start = layout.newline + outer + layout.indent;
    return before + start + property(depth) + layout.newline + outer + text.slice(close);
  }
  const end = last.offset + last.length;
  const { hasComma, place } = scanBehind(text, { parser, from: end, close });
  const indent = lineIndent(text, last.offset);
  const start = isOnOneLine
    ? ` ${JSON.stringify(key)}: ${JSON.stringify(value)}`
    : layout.newline + indent + property(indentDepth(indent, layout));
  const added = start + (hasComma ? "," : "");
  const separator = hasComma ? "" : ",";
  return text.slice(0, end) + separator + text.slice(end, place) + added + text.slice(place);
}

/**
 * What stands between the last property and the closing brace: the trailing comma, and the place behind it and behind the comments that
 * begin on the same line.
 */
function scanBehind(text: string, { parser, from, close }: {
  parser: Parser;
  from: number;
  close: number;
}): { hasComma: boolean; place: number } {
  const scanner = parser.createScanner(text, false);
  scanner.setPosition(from);
  let hasComma = false;
  let place = from;
  let isSameLine = true;
  while (true) {
    scanner.scan();
    const start = scanner.getTokenOffset();
    if (start >= close) return { hasComma, place };
    const end = start + scanner.getTokenLength();
    const word = text.slice(start, end);
    if (word === ",") {
      hasComma = true;
      place = end;
      isSameLine = true;
    } else if (/[\r\n]/.test(word) && !word.startsWith("/")) {
      isSameLine = false;
    } else if (word.startsWith("/") && isSameLine) {
      place = end;
    }
  }
}

/** Takes a property out with its comma, and its line when nothing else is on it. Comments stay. */
function removeProperty(
  text: string,
  { parser, property }: { parser: Parser; property: Node },
): string {
  const siblings = property.parent?.children ?? [];
  const index = siblings.indexOf(property);
  const close = (property.parent?.offset ?? 0) + (property.parent?.length ?? 0) - 1;
  const end = property.offset + property.length;
  const next = siblings[index + 1]?.offset ?? close;
  const comma = findComma(text, { parser, from: end, to: next });
  let rest = text.slice(end);
  if (comma !== undefined) rest = text.slice(end, comma) + text.slice(comma + 1);
  let before = text.slice(0, property.offset);
  const previous = siblings[index - 1];
  if (comma === undefined && previous) {
    const from = previous.offset + previous.length;
    const other = findComma(text, { parser, from, to: property.offset });
    if (other !== undefined) before = before.slice(0, other) + before.slice(other + 1);
  }
  const lineEnd = /^[ \t]*(?:\r\n|\r|\n)/.exec(rest)?.[0];
  const lineStart = /(?:^|[\r\n])([ \t]*)$/.exec(before)?.[1];
  if (lineEnd !== undefined && lineStart !== undefined) {
    return before.slice(0, before.length - lineStart.length) + rest.slice(lineEnd.length);
  }
  return before + rest.replace(/^[ \t]+/, "");
}

function findComma(
  text: string,
  { parser, from, to }: { parser: Parser; from: number; to: number },
): number | undefined {
  const scanner = parser.createScanner(text, true);
  scanner.setPosition(from);
  scanner.scan();
  const start = scanner.getTokenOffset();
  return start < to && text[start] === "," ? start : undefined;
}

function lineIndent(text: string, offset: number): string {
  const lineStart = Math.max(
    text.lastIndexOf("\n", offset - 1),
    text.lastIndexOf("\r", offset - 1),
  );
  return /^[ \t]*/.exec(text.slice(lineStart + 1, offset))?.[0] ?? "";
}

/** How many steps of indentation that is; at least as many as fit. */
function indentDepth(indent: string, layout: Layout): number {
  return Math.floor(indent.length / layout.indent.length);
}
