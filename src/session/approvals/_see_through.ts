/**
 * Finds the program that a simple command really runs: behind assignments, shell keywords and
 * programs that only start others. Knows how those are called and nothing of what the rest does.
 */

import { readCluster } from "./_command_options.ts";
import { findStartedText } from "./_started_text.ts";
import type { StartedText } from "./_started_text.ts";
import { programName } from "./_program_name.ts";
import type { ShellSyntax, ShellWord } from "./read_shell.ts";

/** What a simple command comes down to. */
export interface SeenCommand extends StartedText {
  /** Name of the program, `""` when there is none, see `programName`. */
  program: string;
  /** The words behind the program. */
  args: ShellWord[];
  /** Indexes into all words of those that `texts` or `code` hold. */
  readWords: ReadonlySet<number>;
  /** Whether a shell keyword such as `then` or `!` stood before it. */
  hasKeyword: boolean;
}

interface Wrapper {
  /** Letters of the short options that take a value. */
  letters: string;
  /** Names of the long options that take a value. */
  longs: readonly string[];
  /** Words between the options and the command. */
  operands: number;
}

const WRAPPERS = new Map<string, Wrapper>([
  ["env", wrapper("uCSaPLU", ["unset", "chdir", "split-string", "argv0"])],
  ["nohup", wrapper("")],
  ["time", wrapper("fo", ["format", "output"])],
  ["command", wrapper("")],
  ["builtin", wrapper("")],
  ["exec", wrapper("a")],
  ["stdbuf", wrapper("ioe", ["input", "output", "error"])],
  ["caffeinate", wrapper("tw")],
  ["nice", wrapper("n", ["adjustment"])],
  ["timeout", wrapper("sk", ["signal", "kill-after"], 1)],
  ["ionice", wrapper("cnpPu", ["class", "classdata", "pid", "pgid", "uid"])],
  [
    "xargs",
    wrapper("InLPsEdaJRS", [
      "arg-file",
      "delimiter",
      "max-chars",
      "max-args",
      "max-procs",
      "process-slot-var",
    ]),
  ],
]);

const KEYWORDS = new Set(["!", "if", "then", "elif", "else", "while", "until", "do", "coproc"]);
const ASSIGNMENT = /^[a-z_]\w*(?:\[[^\]]*\])?\+?=/i;

/** Sees through the `words` of one simple command. Time is linear in the words; never throws. */
export function seeThrough(
  words: readonly ShellWord[],
  options: { syntax: ShellSyntax },
): SeenCommand {
  let at = 0;
  let hasKeyword = false;
  while (at < words.length) {
    const word = words[at];
    if (ASSIGNMENT.test(word.text)) {
      at++;
      continue;
    }
    if (KEYWORDS.has(word.text) && !word.isQuoted) {
      hasKeyword = true;
      at++;
      continue;
    }
    const program = programName(word, options);
    const found = WRAPPERS.get(program);
    const passed = found === undefined ? undefined : passWrapper(words, at + 1, found);
    if (passed === undefined || program === "command" && passed.letters.has("v")) {
      return finish(words, at, { program, hasKeyword });
    }
    if (program === "env" && passed.split !== undefined) {
      const rest = words.slice(passed.next).map((word) => quote(word.text));
      const text = [passed.split.text, ...rest].join(" ");
      return {
        program,
        args: [],
        readWords: new Set([passed.split.index]),
        hasKeyword,
        texts: [{ text, syntax: "posix" }],
        code: undefined,
        isEncoded: false,
        isFed: false,
      };
    }
    // Without a command behind it the wrapper itself is the program: `env`, `xargs`.
    if (passed.next >= words.length) return finish(words, at, { program, hasKeyword });
    at = passed.next;
  }
  return finish(words, at, { program: "", hasKeyword });
}

function finish(
  words: readonly ShellWord[],
  at: number,
  found: { program: string; hasKeyword: boolean },
): SeenCommand {
  const args = words.slice(at + 1);
  const started = findStartedText(found.program, args);
  const readWords = new Set<number>();
  for (const index of started.indexes) readWords.add(at + 1 + index);
  return { ...found, ...started, args, readWords };
}

interface Passed {
  next: number;
  letters: Set<string>;
  /** The text of `env -S` and the index of its word. */
  split: { text: string; index: number } | undefined;
}

function passWrapper(words: readonly ShellWord[], start: number, known: Wrapper): Passed {
  const letters = new Set<string>();
  let split: Passed["split"];
  let at = start;
  for (; at < words.length && words[at].text.startsWith("-"); at++) {
    const text = words[at].text;
    if (text === "--") {
      at++;
      break;
    }
    let letter = "";
    let value: string;
    let takesNext: boolean;
    if (text.startsWith("--")) {
      const equals = text.indexOf("=");
      const name = text.slice(2, equals < 0 ? undefined : equals);
      const long = known.longs.find((long) => long.startsWith(name));
      if (long === "split-string") letter = "S";
      value = equals < 0 ? "" : text.slice(equals + 1);
      takesNext = equals < 0 && long !== undefined;
    } else {
      const cluster = readCluster(text, known.letters);
      for (const one of cluster.letters) letters.add(one.toLowerCase());
      letter = cluster.letters.at(-1) ?? "";
      ({ value, takesNext } = cluster);
    }
    if (takesNext) at++;
    if (letter === "S") split ??= { text: takesNext ? words[at]?.text ?? "" : value, index: at };
  }
  return { next: at + known.operands, letters, split };
}

function wrapper(letters: string, longs: readonly string[] = [], operands = 0): Wrapper {
  return { letters, longs, operands };
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
