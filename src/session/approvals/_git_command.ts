/** What a git command line can destroy, for the classification of commands; runs nothing. */

import { readOptions } from "./_command_options.ts";

const READS = new Set(["status", "log", "diff", "show"]);
const VALUE_OPTIONS = new Set([
  "-C",
  "-c",
  "--git-dir",
  "--work-tree",
  "--namespace",
  "--super-prefix",
  "--config-env",
  "--attr-source",
]);

/** Which letters of a subcommand take a value, so that the value is not read as more letters. */
const VALUE_LETTERS: Record<string, string | undefined> = {
  clean: "e",
  push: "o",
  branch: "u",
  checkout: "bB",
  restore: "s",
  stash: "m",
};

/**
 * What the words behind `git` do: delete files, destroy work, only read, or something else.
 * Global options before the subcommand are passed over. Never throws.
 */
export function judgeGit(words: readonly string[]): "deletes" | "destroys" | "reads" | "other" {
  let at = 0;
  while (at < words.length && words[at].startsWith("-")) {
    at += VALUE_OPTIONS.has(words[at]) ? 2 : 1;
  }
  const subcommand = words[at] ?? "";
  if (subcommand === "rm") return "deletes";
  if (READS.has(subcommand)) return "reads";
  return destroys(subcommand, words.slice(at + 1)) ? "destroys" : "other";
}

function destroys(subcommand: string, words: readonly string[]): boolean {
  const valueLetters = Object.hasOwn(VALUE_LETTERS, subcommand) ? VALUE_LETTERS[subcommand] : "";
  const given = readOptions(words, { valueLetters: valueLetters ?? "" });
  const has = (letter: string, long: string) => given.letters.has(letter) || given.hasLong(long);
  switch (subcommand) {
    case "reset":
      return given.hasLong("hard") || given.hasLong("merge");
    case "clean":
      return has("f", "force");
    case "push":
      return has("f", "force") || given.hasLong("force-with-lease") || given.hasLong("mirror") ||
        has("d", "delete") || given.operands.some((word) => /^(?:\+|:[^])/.test(word));
    case "branch":
      return given.letters.has("D") || has("d", "delete") && has("f", "force");
    case "stash":
      return given.operands[0] === "drop" || given.operands[0] === "clear";
    case "checkout":
      return has("f", "force") || given.hasDashes ||
        given.operands.some((word) => word === "." || word === "./");
    case "restore":
      return !has("S", "staged") || has("W", "worktree");
    case "filter-branch":
    case "filter-repo":
      return true;
    default:
      return false;
  }
}
