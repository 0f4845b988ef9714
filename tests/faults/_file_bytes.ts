/** Texts that are hard to edit, and the comparison of files byte by byte. Knows no tool. */

import type { createRandom } from "./_rounds.ts";

/** Where chance comes from. */
export type Chance = ReturnType<typeof createRandom>;

const encoder = new TextEncoder();
/** Throws for what is no UTF-8; keeps a byte order mark. */
export const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** UTF-8. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** Fails with the place of the first difference. */
export function assertSameBytes(actual: Uint8Array, expected: Uint8Array, what: string): void {
  if (actual.length === expected.length && actual.every((byte, at) => byte === expected[at])) {
    return;
  }
  const at = actual.findIndex((byte, index) => byte !== expected[index]);
  const around = (bytes: Uint8Array) => [...bytes.subarray(Math.max(0, at - 8), at + 16)].join(" ");
  throw new Error(
    `${what}: ${actual.length} bytes instead of ${expected.length}; from ${at - 8}: ` +
      `${around(actual)} instead of ${around(expected)}`,
  );
}

/** Pieces of which hard texts are made. */
const PIECES = [
  ...["\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\r\r\n", " \n", "\t\r\n", "  ", "\t", " ", "\u00a0"],
  ...[
    "“",
    "”",
    "‘",
    "’",
    "–",
    "—",
    "…",
    "é",
    "e\u0301",
    "ß",
    "\u2028",
    "\u2029",
    "\u0085",
    "\ufeff",
  ],
  ...[
    "😀",
    "👨‍👩‍👧",
    "𝒳",
    "\u200b",
    "\u202e",
    "$&",
    "$1",
    "$$",
    "\\n",
    "\\",
    "`",
    '"',
    "'",
    "%s",
    "</file>",
  ],
  ...[
    "a",
    "ab",
    "aa",
    "aba",
    "line",
    "x = 1;",
    "{",
    "}",
    "return",
    "0",
    "中文",
    "\ufffd",
    "\x01",
    "\x7f",
  ],
];

/** So many pieces, each a hard one or an ordinary one. */
export function randomText({ below }: Chance, length: number): string {
  return Array.from({ length }, () => PIECES[below(PIECES.length)]).join("");
}
