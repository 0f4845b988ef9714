/**
 * The real machine as a `Host`. This folder is the only one that names `Deno` or `node:`.
 */

import type { Host } from "../host.ts";
import { DenoFiles } from "./deno_files.ts";
import { DenoProcesses } from "./deno_processes.ts";
import { systemPaths } from "./system_paths.ts";

const PLATFORMS: Readonly<Record<string, Host["platform"]>> = {
  linux: "linux",
  darwin: "darwin",
  windows: "windows",
};

/** The host of this machine. Needs all permissions. Starts and opens nothing by itself. */
export function createDenoHost(): Host {
  return {
    platform: PLATFORMS[Deno.build.os] ?? "other",
    pid: Deno.pid,
    files: new DenoFiles(),
    paths: systemPaths,
    processes: new DenoProcesses(),
    homeFolder: Deno.env.get("HOME") || Deno.env.get("USERPROFILE") ||
      systemPaths.resolve("/", "/"),
    getEnv: (name) => Deno.env.get(name),
    warn,
  };
}

/** Synchronous, so that the line is out before an exit that follows. A stderr that nobody reads is no failure. */
function warn(line: string): void {
  try {
    const bytes = new TextEncoder().encode(line + "\n");
    for (let done = 0; done < bytes.length;) done += Deno.stderr.writeSync(bytes.subarray(done));
  } catch {
    // There is nowhere left to say it.
  }
}
