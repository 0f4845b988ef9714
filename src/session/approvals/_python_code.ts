/** What the text behind `python -c` does, for the classification of commands; runs nothing. */

import { isCredentialFile } from "./credential_files.ts";

const DELETES =
  /\bos\s*\.\s*(?:remove|unlink|rmdir|removedirs)\b|\bshutil\s*\.\s*rmtree\b|\.\s*(?:unlink|rmdir)\s*\(/;

/** Whether the code calls, or names, one of the functions that delete files. Never throws. */
export function deletesInPython(code: string): boolean {
  return DELETES.test(code);
}

/**
 * Whether a string of the code names a credential file, alone or among other words. Names outside
 * of strings do not count: `self.env` is no file. Never throws.
 */
export function namesCredentialInPython(
  code: string,
  options: { patterns: readonly string[] },
): boolean {
  return stringsOf(code).some((text) =>
    text.split(/[\s"'`;,|&<>()=]+/).some((word) => isCredentialFile(word, options))
  );
}

function stringsOf(code: string): string[] {
  const strings: string[] = [];
  let at = 0;
  while (at < code.length) {
    const char = code[at];
    if (char === "#") {
      const end = code.indexOf("\n", at);
      at = end < 0 ? code.length : end;
    } else if (char === "'" || char === '"') {
      const triple = char.repeat(3);
      const quote = code.startsWith(triple, at) ? triple : char;
      const end = findClose(code, at + quote.length, quote);
      strings.push(code.slice(at + quote.length, end));
      at = end + quote.length;
    } else {
      at++;
    }
  }
  return strings;
}

/** Where the string ends: its quote, for a simple string the end of the line, or of the code. */
function findClose(code: string, start: number, quote: string): number {
  let at = start;
  while (at < code.length && !code.startsWith(quote, at)) {
    if (code[at] === "\n" && quote.length === 1) return at;
    at += code[at] === "\\" ? 2 : 1;
  }
  return Math.min(at, code.length);
}
