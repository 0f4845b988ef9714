/** Where programs are, and which shell there is for commands. Starts nothing. */

import { hasAll, mayRun, readEnvironment, readVariable } from "./permissions.ts";
import { systemPaths } from "./system_paths.ts";

const isWindows = Deno.build.os === "windows";

/** A program with the options after which a shell command follows. */
export type Shell = readonly [string, ...string[]];

/** The shell for commands; `undefined` when this process may start none. */
export function findShell(): Shell | undefined {
  const where = { search: pathOf(readEnvironment()), folder: "/" };
  const isThere = (program: string) => findProgram(program, where) !== undefined;
  const bash = findProgram("bash", where);
  if (bash !== undefined) return [startName("bash", bash), "-c"];
  if (!isWindows) {
    // A list of allowed programs may name it either way.
    const program = ["/bin/sh", "sh"].find(mayRun);
    return program === undefined ? undefined : [program, "-c"];
  }
  if (isThere("powershell")) return ["powershell", "-NoProfile", "-NonInteractive", "-Command"];
  return mayRun("cmd") ? ["cmd", "/d", "/s", "/c"] : undefined;
}

/** Windows spells the variable in more than one way. */
export function pathOf(environment: Readonly<Record<string, string>>): string {
  return environment["PATH"] ?? environment["Path"] ?? (isWindows ? "" : "/usr/bin:/bin");
}

/**
 * Path of a program that may be started. Its bare name where its folder may not be read: the system finds it then. `undefined` when there is none.
 * What `search` has besides absolute folders is passed over: in a folder of a stranger, `./bin` is full of the stranger's programs.
 */
export function findProgram(
  program: string,
  options: { search: string; folder: string },
): string | undefined {
  const endings = isWindows
    ? ["", ...(readVariable("PATHEXT") ?? ".EXE;.CMD;.BAT;.COM").split(";")]
    : [""];
  if (!mayRun(program)) return undefined;
  // Deno has looked for what it was told to allow when it started.
  if (!hasAll("read")) return program;
  const folders = program.includes("/") || (isWindows && program.includes("\\"))
    ? [options.folder]
    : options.search.split(isWindows ? ";" : ":").filter((folder) =>
      systemPaths.isAbsolute(folder)
    );
  for (const folder of folders) {
    for (const ending of endings) {
      const path = systemPaths.resolve(
        systemPaths.resolve(options.folder, folder),
        program + ending,
      );
      if (isProgram(path)) return path;
    }
  }
  return undefined;
}

/**
 * The name by which a program that was found at `path` is started: the path, because the system itself would look into relative folders too. Its
 * own name where only that is allowed, and on Windows, where scripts are started by it.
 */
export function startName(program: string, path: string): string {
  return !isWindows && mayRun(path) ? path : program;
}

function isProgram(path: string): boolean {
  try {
    const info = Deno.statSync(path);
    return info.isFile && (info.mode === null || (info.mode & 0o111) !== 0);
  } catch {
    return false;
  }
}
