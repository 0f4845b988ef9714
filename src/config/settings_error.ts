/**
 * Says where a settings file is wrong. Used only after something else has found that it is, and loads the parser that knows positions
 * only then.
 */

import type { Node, ParseErrorCode } from "jsonc-parser";
import { StartError } from "../errors.ts";

/** A value that is not what it has to be. */
export class SettingsValueError extends Error {
  override readonly name = "SettingsValueError";
  readonly path: readonly (string | number)[];
  readonly expected: string;

  constructor(path: readonly (string | number)[], expected: string) {
    super(`${path.join(".")}: expected ${expected}`);
    this.path = path;
    this.expected = expected;
  }
}

/** The `StartError` for a file that cannot be read as settings, whatever the reason. */
export function settingsError(place: string, what: string, options?: ErrorOptions): StartError {
  return new StartError(
    "configuration",
    `settings could not be read: ${place}: ${what}`,
    options,
  );
}

/**
 * The `StartError` for `error` in the text of `file`: `settings could not be read: <file>:<line>:<column>: <what was expected>`. A
 * `SettingsValueError` is placed at its key, anything else at the first thing that is no JSON. Lines and columns count from 1, columns in
 * UTF-16 units. `strict`: comments and trailing commas are wrong.
 */
export async function locateSettingsError(
  error: unknown,
  { file, text, strict = false }: { file: string; text: string; strict?: boolean },
): Promise<StartError> {
  const { parseTree, findNodeAtLocation } = await import("jsonc-parser");
  const errors: { error: ParseErrorCode; offset: number; length: number }[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, {
      allowTrailingComma: !strict,
      disallowComments: strict,
      allowEmptyContent: false,
    });
  } catch (cause) {
    // The parser calls itself for each level.
    return settingsError(`${file}:1:1`, "expected JSON that is less deeply nested", { cause });
  }
  const at = (offset: number) => `${file}:${describePosition(text, offset)}`;
  if (error instanceof SettingsValueError) {
    const node = root && findNearest(root, error.path, findNodeAtLocation);
    const key = node?.parent?.type === "property" ? node.parent : node;
    const what = error.path.length === 0 ? `expected ${error.expected}` : error.message;
    return settingsError(at(key?.offset ?? 0), what, { cause: error });
  }
  const [first, second] = errors;
  // A word without quotes in the place of a key is two errors, and the second one knows what it should have been.
  const isKey = first?.error === INVALID_SYMBOL && second?.error === PROPERTY_NAME_EXPECTED;
  const what = EXPECTED[isKey ? PROPERTY_NAME_EXPECTED : first?.error ?? 0] ?? "expected JSON";
  return settingsError(at(first?.offset ?? 0), what, { cause: error });
}

/** The node at the path, or the deepest one above it: a value that is missing is reported where it is missing. */
function findNearest(
  root: Node,
  path: readonly (string | number)[],
  find: (root: Node, path: (string | number)[]) => Node | undefined,
): Node {
  for (let length = path.length; length > 0; length--) {
    const node = find(root, path.slice(0, length));
    if (node) return node;
  }
  return root;
}

function describePosition(text: string, offset: number): string {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return `${before.length}:${before[before.length - 1].length + 1}`;
}

/** Of `ParseErrorCode`, whose names exist for the compiler only. */
const INVALID_SYMBOL = 1;
const PROPERTY_NAME_EXPECTED = 3;

/** By `ParseErrorCode`. */
const EXPECTED: Readonly<Record<number, string>> = {
  1: 'expected a value: text in double quotes, a number, true, false, null, "{" or "["',
  2: "expected a number",
  3: "expected a key in double quotes",
  4: 'expected a value: text in double quotes, a number, true, false, null, "{" or "["',
  5: 'expected ":" after the key',
  6: 'expected ","',
  7: 'expected "," or "}"',
  8: 'expected "," or "]"',
  9: "expected the end of the file",
  10: "expected no comment here",
  11: 'expected "*/" at the end of the comment',
  12: "expected a double quote at the end of the text",
  13: "expected a digit",
  14: "expected four hexadecimal digits after \\u",
  15: 'expected one of "\\/bfnrtu after a backslash',
  16: "expected no control character in a text",
};
