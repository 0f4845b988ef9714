/** The name by which the classification knows a program. */

import { baseName } from "./credential_files.ts";
import type { ShellSyntax, ShellWord } from "./read_shell.ts";

const WINDOWS_PATH = /^(?:[a-z]:|\.{1,2})\\/i;

/**
 * The program that the first word of a command names: without folder and Windows suffix, in lower
 * case, because Windows and macOS find `RM` as well. Never throws.
 */
export function programName(word: ShellWord, options: { syntax: ShellSyntax }): string {
  let text = WINDOWS_PATH.test(word.literal) ? word.literal : word.text;
  if (options.syntax === "cmd") {
    // `@del` is a silent `del`, and `del/q` needs no blank before its option.
    text = /^@*([a-z][a-z-]*)(?=\/)/i.exec(text)?.[1] ?? text.replace(/^@+/, "");
  }
  return baseName(text).toLowerCase().replace(/\.(?:exe|com|cmd|bat)$/, "");
}
