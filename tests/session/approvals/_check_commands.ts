/** The classes of commands, and one assertion over many commands, for the tests beside it. */

import { assertEquals } from "@std/assert";
import { classifyCommand } from "../../../src/session/approvals/classify_command.ts";
import type { CommandClass } from "../../../src/session/approvals/classify_command.ts";

export const READS: CommandClass = { class: "asks", reason: "only reads" };
export const RUNS: CommandClass = { class: "asks", reason: "runs a shell command" };
export const DELETES: CommandClass = { class: "alwaysAsks", reason: "deletes files" };
export const DESTROYS: CommandClass = { class: "alwaysAsks", reason: "destructive operation" };
export const PYTHON: CommandClass = { class: "alwaysAsks", reason: "python code deletes files" };
export const ENCODED: CommandClass = { class: "alwaysAsks", reason: "encoded command" };
export const UNPARSED: CommandClass = {
  class: "alwaysAsks",
  reason: "command could not be parsed",
};
export const TOO_DEEP: CommandClass = { class: "alwaysAsks", reason: "nested too deep to read" };

/** Refused for `reason`. */
export function refused(reason: string): CommandClass {
  return { class: "refused", reason };
}

/** Refused, because the credential file `name` is named. */
export function file(name: string): CommandClass {
  return refused(`${name} is a credential file`);
}

/** Refused, because the program `name` changes the user. */
export function sudo(name = "sudo"): CommandClass {
  return refused(`${name} changes who commands run as`);
}

/** Asserts that each of `commands` is classified as `expected`. */
export function check(expected: CommandClass, commands: string[]): void {
  for (const command of commands) {
    assertEquals(classifyCommand(command, { credentialPatterns: ["*.secret"] }), expected, command);
  }
}
