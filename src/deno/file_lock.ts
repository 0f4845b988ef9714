/**
 * An advisory lock: a file that names the process which holds it. Knows nothing of what it protects.
 *
 * The file appears with its content in one step (a hard link to a finished temporary file), so nobody ever reads a half-written one.
 * A lock whose process is gone is replaced; of several that try, the system's own lock on the old file lets one at a time do so, and
 * each looks again whether the old file is still the one in place.
 */

import { systemPaths } from "./system_paths.ts";
import { HostError } from "../errors.ts";
import { toHostError } from "./deno_error.ts";
import { processStart } from "./process_table.ts";

/** The locks of this process, which cannot be told from a foreign process's by pid and start time. */
const held = new Set<string>();

/** See `HostFiles.lock`. */
export async function lockFile(path: string): Promise<AsyncDisposable> {
  const key = systemPaths.resolve(Deno.cwd(), path);
  if (held.has(key)) throw lockedError(path, Deno.pid);
  held.add(key);
  try {
    const content = `${Deno.pid} ${await processStart(Deno.pid) ?? "unknown"}\n`;
    await takeLock(path, content);
    return new FileLock(path, key, content);
  } catch (error) {
    held.delete(key);
    throw toHostError(error, path);
  }
}

class FileLock implements AsyncDisposable {
  readonly #path: string;
  readonly #key: string;
  readonly #content: string;
  #released: Promise<void> | undefined;

  constructor(path: string, key: string, content: string) {
    this.#path = path;
    this.#key = key;
    this.#content = content;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#released ??= this.#release();
  }

  async #release(): Promise<void> {
    try {
      // Someone may have removed the file by hand, and another process may have locked since.
      if (await readLock(this.#path) === this.#content) await Deno.remove(this.#path);
    } catch {
      // A lock that cannot be removed is stale when this process ends.
    } finally {
      held.delete(this.#key);
    }
  }
}

async function takeLock(path: string, content: string): Promise<void> {
  const temporary = `${path}.${crypto.randomUUID().slice(0, 8)}.tmp`;
  try {
    await Deno.writeTextFile(temporary, content, { createNew: true, mode: 0o600 });
    while (true) {
      if (await placeNew(temporary, path, content)) return;
      const found = await readLock(path);
      if (found === undefined || await isBeingWritten(path, found)) continue;
      const owner = await livingOwner(found);
      if (owner !== undefined) throw lockedError(path, owner);
      if (await replaceStale(temporary, path, found)) return;
    }
  } finally {
    await Deno.remove(temporary).catch(() => {});
  }
}

/** False when a lock file is there. */
async function placeNew(temporary: string, path: string, content: string): Promise<boolean> {
  try {
    await Deno.link(temporary, path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return false;
  }
  // No hard links on this file system: the content arrives a moment after the name.
  try {
    await Deno.writeTextFile(path, content, { createNew: true, mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return false;
    throw error;
  }
}

/** Without hard links a lock is empty for a moment after it was made. Waits a little when that may be so. */
async function isBeingWritten(path: string, found: string): Promise<boolean> {
  if (found !== "") return false;
  const info = await Deno.stat(path).catch(() => undefined);
  if (Date.now() - (info?.mtime?.getTime() ?? 0) > 2000) return false;
  await new Promise((resolve) => setTimeout(resolve, 20));
  return true;
}

/** False when the lock is no longer the one that was found; the caller looks again. */
async function replaceStale(temporary: string, path: string, found: string): Promise<boolean> {
  let old: Deno.FsFile;
  try {
    old = await Deno.open(path, { read: true, write: true });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
  using file = old;
  await file.lock(true).catch(() => {});
  const [mine, now] = await Promise.all([file.stat(), Deno.stat(path).catch(() => undefined)]);
  if (now === undefined || now.ino !== mine.ino || now.dev !== mine.dev) return false;
  if (await readLock(path) !== found) return false;
  await Deno.rename(temporary, path);
  return true;
}

async function readLock(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** The pid in a lock when that process still runs. */
async function livingOwner(content: string): Promise<number | undefined> {
  const [, pid, start] = content.match(/^(\d+) (.+)\n$/) ?? [];
  if (pid === undefined || Number(pid) === 0) return undefined;
  const now = await processStart(Number(pid));
  if (now === undefined) return undefined;
  // A compiled program may not ask where others do, and gets the time in another form: then the pid has to do.
  const isComparable = /^\d+$/.test(now) === /^\d+$/.test(start!);
  return !isComparable || now === start ? Number(pid) : undefined;
}

function lockedError(path: string, pid: number): HostError {
  return new HostError("locked", `Locked by process ${pid}: ${path}`, { path, pid });
}
