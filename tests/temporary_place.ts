/** A home and a workspace in a temporary folder, with the real files and an environment that a test chooses. */

import { createDenoHost } from "../src/deno/deno_host.ts";
import type { Host } from "../src/host.ts";

export interface TemporaryPlace extends AsyncDisposable {
  readonly root: string;
  /** Not made yet. */
  readonly home: string;
  readonly workspace: string;
  readonly host: Host;
  /** The lines that were given to `host.warn`. */
  readonly warnings: string[];
  readonly environment: Record<string, string>;
  /** Writes a file below the root, folders included. */
  write(path: string, text: string, mode?: number): Promise<void>;
  /** Reads a file below the root. */
  read(path: string): Promise<string>;
  mode(path: string): Promise<number>;
}

/** Makes the place; the caller disposes it. */
export async function createTemporaryPlace(): Promise<TemporaryPlace> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  const workspace = `${root}/project`;
  await Deno.mkdir(workspace);
  const warnings: string[] = [];
  const environment: Record<string, string> = {};
  const host: Host = {
    ...createDenoHost(),
    homeFolder: root,
    getEnv: (name) => environment[name],
    warn: (line) => void warnings.push(line),
  };
  return {
    root,
    home: `${root}/home`,
    workspace,
    host,
    warnings,
    environment,
    async write(path, text, mode = 0o600) {
      const file = `${root}/${path}`;
      await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true, mode: 0o700 });
      await Deno.writeTextFile(file, text, { mode });
    },
    read: (path) => Deno.readTextFile(`${root}/${path}`),
    mode: async (path) => ((await Deno.stat(`${root}/${path}`)).mode ?? 0) & 0o777,
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}
