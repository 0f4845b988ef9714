/**
 * Small questions to the system through a program or, where this process may start only a shell, through that shell. Knows no process table.
 */

import { findProgram, findShell, pathOf, startName } from "./find_program.ts";
import { hasAll, mayRun, readEnvironment } from "./permissions.ts";

/** The output of a small program, empty when it fails or may not be started. */
export async function runQuietly(program: string, args: readonly string[]): Promise<string> {
  return mayRun(program)
    ? await outputOf(startName(program, findByName(program) ?? program), args)
    : await askShell('exec "$@"', ["sh", program, ...args]);
}

function findByName(program: string): string | undefined {
  return findProgram(program, { search: pathOf(readEnvironment()), folder: "/" });
}

/** What a shell script writes, empty when it fails or no shell may be started. */
export async function askShell(script: string, args: readonly string[] = []): Promise<string> {
  const shell = findShell();
  return shell === undefined ? "" : await outputOf(shell[0], [...shell.slice(1), script, ...args]);
}

/** Signals processes and, as negative numbers, groups. What is gone already needs none, and what is not ours gets none. */
export function sendSignals(pids: readonly number[], name: Deno.Signal): void {
  if (!hasAll("run")) return sendWithShell(pids, name);
  for (const pid of pids) {
    try {
      Deno.kill(pid, name);
    } catch {
      // Ended meanwhile, or runs as another user.
    }
  }
}

/** Deno lets nobody send signals who may start only some programs; a shell that one may start can do it. */
function sendWithShell(pids: readonly number[], name: Deno.Signal): void {
  const shell = findShell();
  if (shell === undefined || pids.length === 0) return;
  const script = `kill -s ${name.slice("SIG".length)} -- ${pids.join(" ")}`;
  try {
    new Deno.Command(shell[0], {
      args: [...shell.slice(1), script],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).outputSync();
  } catch {
    // It was there a moment ago; without it there is no way.
  }
}

async function outputOf(program: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await new Deno.Command(program, {
      args: [...args],
      stdin: "null",
      stderr: "null",
    }).output();
    return new TextDecoder().decode(stdout);
  } catch {
    return "";
  }
}
