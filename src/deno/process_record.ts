/**
 * Remembers on disk what this process has started, so that another one can end it when this one was killed. One file for each process, a line
 * for each tree; an orderly end removes it.
 */

import { processStart } from "./process_table.ts";
import { ProcessTree, type TreeIdentity } from "./process_tree.ts";
import { systemPaths } from "./system_paths.ts";

const GRACE_MS = 500;

export class ProcessRecord implements Disposable {
  readonly #path: string;
  readonly #folder: string;
  #file: Deno.FsFile | undefined;

  /** Touches nothing; the file is made with the first tree. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#path = systemPaths.join(folder, `${Deno.pid}-${Date.now()}.jsonl`);
  }

  /** Survives the end of this process from the moment it returns. A record that cannot be kept is no reason not to start something. */
  add(tree: TreeIdentity): void {
    try {
      if (this.#file === undefined) {
        Deno.mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
        this.#file = Deno.openSync(this.#path, { create: true, append: true, mode: 0o600 });
      }
      this.#file.writeSync(new TextEncoder().encode(JSON.stringify(tree) + "\n"));
    } catch {
      this.#file = undefined;
    }
  }

  [Symbol.dispose](): void {
    if (this.#file === undefined) return;
    this.#file.close();
    this.#file = undefined;
    try {
      Deno.removeSync(this.#path);
    } catch {
      // Somebody has cleared the folder.
    }
  }
}

/** Ends what processes that are gone have left running. Resolves to how many trees there were. Never rejects. */
export async function endOrphans(folder: string): Promise<number> {
  let ended = 0;
  try {
    for await (const { name } of Deno.readDir(folder)) {
      const [, pid] = /^(\d+)-\d+\.jsonl$/.exec(name) ?? [];
      // A stranger may have the number by now; then the record waits until that one has ended too.
      if (pid === undefined || await processStart(Number(pid)) !== undefined) continue;
      const path = systemPaths.join(folder, name);
      for (const identity of parseRecord(await Deno.readTextFile(path))) {
        const tree = ProcessTree.ofDead(identity);
        if (!await tree.isRunning()) continue;
        ended++;
        await tree.end(GRACE_MS);
      }
      await Deno.remove(path);
    }
  } catch {
    // No such folder, or another process is at it.
  }
  return ended;
}

function parseRecord(text: string): TreeIdentity[] {
  const trees: TreeIdentity[] = [];
  for (const line of text.split("\n")) {
    try {
      const { root, startTicks, marker } = JSON.parse(line);
      if (Number.isInteger(root) && Number.isInteger(startTicks) && typeof marker === "string") {
        trees.push({ root, startTicks, marker });
      }
    } catch {
      // The last line of a process that was killed while it wrote, or the empty one at the end.
    }
  }
  return trees;
}
