/**
 * Decides from its text how much asking a shell command needs. Part of the approvals; it runs and
 * looks up nothing, and a determined author can evade it: a seat belt, not a sandbox.
 */

import { readOptions } from "./_command_options.ts";
import { judgeGit } from "./_git_command.ts";
import { deletesInPython, namesCredentialInPython } from "./_python_code.ts";
import { seeThrough } from "./_see_through.ts";
import type { SeenCommand } from "./_see_through.ts";
import { isCredentialFile } from "./credential_files.ts";
import { readShell } from "./read_shell.ts";
import type { ShellPart, ShellSyntax, ShellWord } from "./read_shell.ts";

/** How a command is treated, and why, in the words that a person reads. */
export interface CommandClass {
  class: "asks" | "alwaysAsks" | "refused";
  reason: string;
}

type Finding = CommandClass & { row: number };

interface Part extends ShellPart {
  syntax: ShellSyntax;
}

interface Work {
  texts: { text: string; depth: number; syntax: ShellSyntax; isBody: boolean }[];
  parts: Part[];
  patterns: readonly string[];
  strictest: Finding | undefined;
  /** How many parts only read, and how many do not. */
  reading: number;
  other: number;
}

const MAX_DEPTH = 3;

const REFUSED = setOf("sudo su doas pkexec runas gsudo");
const DELETES = setOf("rm rmdir unlink shred srm trash trash-put del erase rd remove-item ri");
const DESTROYS = setOf(
  "dd truncate wipefs fdisk parted format diskpart cipher sdelete clear-disk format-volume mkfs",
);
const READS = setOf(
  "cat head tail wc ls pwd stat file du df which grep egrep fgrep rg find tree sort uniq cut tr " +
    "diff cmp echo printf true false basename dirname realpath readlink date uname whoami",
);
const FIND_RUNS = setOf("-exec -execdir -ok -okdir");
const WRITES_FILE = setOf("> >> >| &> &>> >& <>");

/**
 * Classifies the text of a shell command: the strictest thing that any part of it would do counts.
 * `reason` is the table's text, for `refused` all that follows `Denied by approval policy: `.
 * `credentialPatterns` are globs added to the built-in ones. Time is linear in the length of the
 * command; never throws.
 */
export function classifyCommand(
  command: string,
  options: { credentialPatterns: readonly string[] },
): CommandClass {
  const work: Work = {
    texts: [{ text: command, depth: 0, syntax: "posix", isBody: false }],
    parts: [],
    patterns: options.credentialPatterns,
    strictest: undefined,
    reading: 0,
    other: 0,
  };
  for (let next = work.texts.pop(); next !== undefined; next = work.texts.pop()) {
    examineText(next, work);
    for (let part = work.parts.pop(); part !== undefined; part = work.parts.pop()) {
      examinePart(part, work);
    }
  }
  if (work.strictest !== undefined) {
    return { class: work.strictest.class, reason: work.strictest.reason };
  }
  const onlyReads = work.reading > 0 && work.other === 0;
  return { class: "asks", reason: onlyReads ? "only reads" : "runs a shell command" };
}

function examineText(next: Work["texts"][number], work: Work): void {
  const { depth, syntax } = next;
  if (depth > MAX_DEPTH) return add(work, tooDeep());
  const reading = readShell(next.text, { syntax, isBody: next.isBody });
  if (!reading.isBalanced) add(work, alwaysAsks(2, "command could not be parsed"));
  for (const nested of reading.nested) {
    work.texts.push({ ...nested, depth: depth + nested.depth, syntax });
  }
  // The first part is examined first, so that it is the one to be named.
  for (const part of reading.parts.toReversed()) {
    work.parts.push({ ...part, depth: depth + part.depth, syntax });
  }
  feedShells(reading.parts, { depth, syntax, work });
}

/** Bodies of heredocs are commands when a shell of the same text is fed with them. */
function feedShells(
  parts: readonly ShellPart[],
  options: { depth: number; syntax: ShellSyntax; work: Work },
): void {
  const { depth, syntax, work } = options;
  if (!parts.some((part) => seeThrough(part.words, { syntax }).isFed)) return;
  for (const part of parts) {
    const strings = part.redirections.filter(({ operator }) => operator === "<<<");
    for (const text of [...part.heredocs, ...strings.map(({ target }) => target.text)]) {
      work.texts.push({ text, depth: depth + part.depth + 1, syntax: "posix", isBody: false });
    }
  }
}

function examinePart(part: Part, work: Work): void {
  if (part.depth > MAX_DEPTH) return add(work, tooDeep());
  const seen = seeThrough(part.words, part);
  for (const text of seen.texts) {
    work.texts.push({ ...text, depth: part.depth + 1, isBody: false });
  }
  const finding = findRefused(part, { seen, work }) ?? findStrict(seen);
  if (finding !== undefined) add(work, finding);
  if (seen.program === "find") pushFindCommands(part, { seen, work });
  if (onlyReads(seen) && !part.redirections.some(writesFile)) work.reading++;
  else if (seen.texts.length === 0 || part.redirections.some(writesFile)) work.other++;
}

function findRefused(
  part: Part,
  options: { seen: SeenCommand; work: Work },
): Finding | undefined {
  const { seen, work: { patterns } } = options;
  if (REFUSED.has(seen.program)) {
    return refused(0, `${seen.program} changes who commands run as`);
  }
  const words = part.words.filter((_, index) => !seen.readWords.has(index));
  for (const word of [...words, ...part.redirections.map(({ target }) => target)]) {
    const file = credentialIn(word, patterns);
    if (file !== undefined) return refused(1, `${file} is a credential file`);
  }
  if (seen.code !== undefined && namesCredentialInPython(seen.code, { patterns })) {
    return refused(1, "credential file in Python code");
  }
  return undefined;
}

/** The path in a word that names a credential file; of `NAME=value` the value is one, too. */
function credentialIn(word: ShellWord, patterns: readonly string[]): string | undefined {
  const { text, literal } = word;
  const candidates = [text];
  if (text.includes("=")) {
    candidates.unshift(text.slice(text.lastIndexOf("=") + 1), text.slice(text.indexOf("=") + 1));
  }
  if (literal !== text) candidates.push(literal);
  return candidates.find((path) => isCredentialFile(path, { patterns }));
}

function findStrict(seen: SeenCommand): Finding | undefined {
  const { program, code } = seen;
  const args = seen.args.map((word) => word.text);
  if (seen.isEncoded) return alwaysAsks(4, "encoded command");
  if (code !== undefined && deletesInPython(code)) {
    return alwaysAsks(5, "python code deletes files");
  }
  const git = program === "git" ? judgeGit(args) : "other";
  const findDeletes = program === "find" && args.includes("-delete");
  if (DELETES.has(program) || findDeletes || git === "deletes") {
    return alwaysAsks(6, "deletes files");
  }
  if (DESTROYS.has(program) || program.startsWith("mkfs.") || git === "destroys") {
    return alwaysAsks(7, "destructive operation");
  }
  return undefined;
}

/** What `find -exec` starts is a command like any other, one level down. */
function pushFindCommands(part: Part, options: { seen: SeenCommand; work: Work }): void {
  const { seen: { args }, work } = options;
  for (let at = 0; at < args.length; at++) {
    if (!FIND_RUNS.has(args[at].text)) continue;
    const start = at + 1;
    while (at < args.length && !endsFindCommand(args, at)) at++;
    const words = args.slice(start, at);
    work.parts.push({ ...part, words, redirections: [], heredocs: [], depth: part.depth + 1 });
  }
}

function endsFindCommand(args: readonly ShellWord[], at: number): boolean {
  return args[at].text === ";" || args[at].text === "+" && args[at - 1].text === "{}";
}

function onlyReads(seen: SeenCommand): boolean {
  if (seen.hasKeyword) return false;
  const args = seen.args.map((word) => word.text);
  if (seen.program === "git") return judgeGit(args) === "reads";
  if (seen.program === "find") return !args.some((arg) => FIND_RUNS.has(arg));
  if (seen.program === "sort") {
    const given = readOptions(args, { valueLetters: "oktST" });
    return !given.letters.has("o") && !given.hasLong("output");
  }
  return READS.has(seen.program);
}

function writesFile({ operator, target }: ShellPart["redirections"][number]): boolean {
  if (operator === ">&" && /^\d*-?$/.test(target.text)) return false;
  return WRITES_FILE.has(operator) && target.text !== "/dev/null";
}

/** Of two findings the one higher up in the table counts, of two of a row the first. */
function add(work: Work, finding: Finding): void {
  if (work.strictest === undefined || finding.row < work.strictest.row) work.strictest = finding;
}

function refused(row: number, reason: string): Finding {
  return { class: "refused", reason, row };
}

function alwaysAsks(row: number, reason: string): Finding {
  return { class: "alwaysAsks", reason, row };
}

function tooDeep(): Finding {
  return alwaysAsks(3, "nested too deep to read");
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}
