/** The `$'…'` quotes of POSIX shells, for the shell reader; knows nothing of words or commands. */

const NAMED = new Map([
  ["a", "\x07"],
  ["b", "\b"],
  ["e", "\x1b"],
  ["E", "\x1b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["v", "\v"],
]);

const ESCAPE =
  /\\(?:x([0-9a-f]{1,2})|u([0-9a-f]{1,4})|U([0-9a-f]{1,8})|([0-7]{1,3})|c([^])|([^]))/gi;

/** Index of the `'` that closes the quote whose text begins at `start`, or -1. */
export function findAnsiQuoteEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "'") return at;
  }
  return -1;
}

/** The text that the inside of a `$'…'` quote stands for. Never throws. */
export function decodeAnsiQuote(inside: string): string {
  return inside.replace(ESCAPE, (_all, x, u, wide, octal, control, plain) => {
    const hex = x ?? u ?? wide;
    if (hex !== undefined) return characterOf(parseInt(hex, 16));
    if (octal !== undefined) return characterOf(parseInt(octal, 8) & 0xff);
    if (control !== undefined) return characterOf(control.charCodeAt(0) & 0x1f);
    return NAMED.get(plain) ?? plain;
  });
}

function characterOf(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : "";
}
