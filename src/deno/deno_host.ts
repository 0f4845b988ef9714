/**
 * The real machine as a `Host`. This folder is the only one that names `Deno` or `node:`.
 */

import { visibleText } from "../agent/visible_text.ts";
import type { Host } from "../host.ts";
import { DenoFiles } from "./deno_files.ts";
import { DenoProcesses } from "./deno_processes.ts";
import { describeLimits } from "./describe_limits.ts";
import { errorOutput } from "./error_output.ts";
import { guardFiles } from "./guarded_files.ts";
import { hasAll, readVariable } from "./permissions.ts";
import { systemPaths } from "./system_paths.ts";

const PLATFORMS: Readonly<Record<string, Host["platform"]>> = {
  linux: "linux",
  darwin: "darwin",
  windows: "windows",
};

/** The host of this machine, within the permissions of this process. Starts and opens nothing by itself. */
export function createDenoHost(): Host {
  const processes = new DenoProcesses();
  return {
    platform: PLATFORMS[Deno.build.os] ?? "other",
    pid: Deno.pid,
    files: guardFiles(new DenoFiles()),
    paths: systemPaths,
    get processes() {
      return processes.canStart ? processes : undefined;
    },
    homeFolder: findHomeFolder(),
    getEnv: readVariable,
    describeLimits: (use) => describeLimits(use, { canRun: processes.canStart }),
    warn,
  };
}

/** A user without a home has the root's, as everywhere; who may not know where the home is has none. */
function findHomeFolder(): string {
  const named = readVariable("HOME") || readVariable("USERPROFILE");
  return named || (hasAll("env") ? systemPaths.resolve("/", "/") : "");
}

/** What it says may quote anything, so nothing of it steers the terminal. */
function warn(line: string): void {
  errorOutput.write(visibleText(line) + "\n");
}
