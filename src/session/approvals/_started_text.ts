/**
 * What shells and interpreters are told to run on their command line (`sh -c`, `cmd /c`,
 * `powershell -Command`, `python -c`). Knows their options; reads none of the texts.
 */

import { readCluster } from "./_command_options.ts";
import type { ShellSyntax, ShellWord } from "./read_shell.ts";

/** What a program was given to run. */
export interface StartedText {
  /** Command texts, with the syntax they are written in. */
  texts: { text: string; syntax: ShellSyntax }[];
  /** Python code. */
  code: string | undefined;
  /** Whether PowerShell was given commands that cannot be read. */
  isEncoded: boolean;
  /** Whether it is a shell that gets its commands from standard input or a substitution. */
  isFed: boolean;
}

type Found = StartedText & { indexes: number[] };

const SHELLS = new Set(["sh", "bash", "zsh", "dash", "ksh", "fish"]);
/** Operands of a shell in whose place other commands or a heredoc write the script. */
const FED = new Set(["-", "/dev/stdin", "$()"]);
const PYTHON = /^(?:python|py)w?[\d.]*$/;
const POWERSHELL_VALUES = [
  "configurationfile",
  "configurationname",
  "custompipename",
  "executionpolicy",
  "inputformat",
  "outputformat",
  "psconsolefile",
  "settingsfile",
  "version",
  "windowstyle",
  "workingdirectory",
];
const POWERSHELL_SHORT = new Set(["ep", "if", "of", "wd"]);

/**
 * The texts in the arguments of `program` that it would run; `indexes` are the arguments that hold
 * them. Never throws.
 */
export function findStartedText(program: string, args: readonly ShellWord[]): Found {
  const words = args.map((word) => word.text);
  if (SHELLS.has(program)) return findShellText(program, words);
  if (program === "." || program === "source") {
    return { ...nothing(), isFed: FED.has(words[0]) };
  }
  if (program === "cmd") return findCmdText(words);
  if (program === "powershell" || program === "pwsh") return findPowershellText(words);
  if (PYTHON.test(program)) return findPythonCode(words);
  return nothing();
}

function findShellText(program: string, words: readonly string[]): Found {
  const found = nothing();
  const take = (text: string, index: number) => {
    found.texts.push({ text, syntax: "posix" });
    found.indexes.push(index);
  };
  const isFish = program === "fish";
  let wantsText = false;
  let wantsInput = false;
  let at = 0;
  for (; at < words.length && /^[-+]./.test(words[at]); at++) {
    const word = words[at];
    if (word === "--") {
      at++;
      break;
    }
    if (word.startsWith("--")) {
      const [, name, value] = /^--([^=]*)(?:=([^]*))?$/.exec(word) ?? [];
      const isText = isFish && (name === "command" || name === "init-command");
      const takesNext = value === undefined &&
        (isText || name === "rcfile" || name === "init-file");
      if (takesNext) at++;
      if (isText) take(value ?? words[at] ?? "", at);
      continue;
    }
    const cluster = readShellCluster(word, program);
    if (cluster.takesNext) at++;
    const last = cluster.letters.at(-1);
    if (isFish && (last === "c" || last === "C")) {
      take(cluster.takesNext ? words[at] ?? "" : cluster.value, at);
    } else if (word.startsWith("-")) {
      wantsText ||= cluster.letters.includes("c");
      wantsInput ||= cluster.letters.includes("s");
    }
  }
  if (wantsText && at < words.length) take(words[at], at);
  const isFed = found.texts.length > 0
    ? found.texts.some(({ text }) => text.includes("$()"))
    : wantsInput || FED.has(words[at] ?? "-");
  return { ...found, isFed };
}

/** In `bash -oc NAME TEXT` the value of `o` is not the rest of its word, unlike elsewhere. */
function readShellCluster(word: string, program: string): ReturnType<typeof readCluster> {
  if (program === "fish") return readCluster(word, "cCdfo");
  if (program === "zsh" || program === "ksh") return readCluster(word, "oO");
  return { letters: [...word.slice(1)], value: "", takesNext: /o/i.test(word) };
}

/** `cmd` takes everything behind `/c` or `/k` as one text; other options may be glued to it. */
function findCmdText(words: readonly string[]): Found {
  for (let at = 0; at < words.length && words[at].startsWith("/"); at++) {
    const [, text] = /^\/+(?:[^/ck][^/]*\/+)*[ck]([^]*)$/i.exec(words[at]) ?? [];
    if (text !== undefined) return joinFrom(words, at, { first: text, syntax: "cmd" });
  }
  return nothing();
}

function findPowershellText(words: readonly string[]): Found {
  for (let at = 0; at < words.length; at++) {
    const name = /^(?:--?|[/\u2013-\u2015])([a-z]+)$/i.exec(words[at])?.[1].toLowerCase();
    if (name === undefined) {
      // A script of that name, or a command: without an option it may be either.
      return joinFrom(words, at, { first: words[at], syntax: "powershell" });
    }
    if (name === "ec" || "encodedcommand".startsWith(name)) {
      return { ...nothing(), isEncoded: true };
    }
    if ("file".startsWith(name)) return nothing();
    if (name === "cwa" || "commandwithargs".startsWith(name)) {
      return joinFrom(words, at, { first: "", syntax: "powershell" });
    }
    const takesNext = POWERSHELL_SHORT.has(name) ||
      POWERSHELL_VALUES.some((long) => long.startsWith(name));
    if (takesNext && !/^[-/]/.test(words[at + 1] ?? "")) at++;
  }
  return nothing();
}

function findPythonCode(words: readonly string[]): Found {
  for (let at = 0; at < words.length && /^-./.test(words[at]); at++) {
    // Version and environment choices of the `py` launcher.
    if (/^-(?:V:|\d)/.test(words[at])) continue;
    if (words[at].startsWith("--")) {
      if (words[at] === "--") break;
      if (words[at] === "--check-hash-based-pycs") at++;
      continue;
    }
    const cluster = readCluster(words[at], "cmWXQ");
    if (cluster.takesNext) at++;
    const last = cluster.letters.at(-1);
    if (last === "m") break;
    if (last === "c") {
      const code = cluster.takesNext ? words[at] ?? "" : cluster.value;
      return { ...nothing(), code, indexes: [at] };
    }
  }
  return nothing();
}

function joinFrom(
  words: readonly string[],
  at: number,
  options: { first: string; syntax: ShellSyntax },
): Found {
  const text = [options.first, ...words.slice(at + 1)].join(" ");
  const indexes = words.slice(at).map((_, index) => at + index);
  return { ...nothing(), texts: [{ text, syntax: options.syntax }], indexes };
}

function nothing(): Found {
  return { texts: [], code: undefined, isEncoded: false, isFed: false, indexes: [] };
}
