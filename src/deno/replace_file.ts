/**
 * Atomic replacement of a file: temporary file beside it, fsync, rename, fsync of the folder. Knows nothing of the content.
 */

import { systemPaths } from "./system_paths.ts";
import { HostError } from "../errors.ts";
import { isNothingThere, toHostError } from "./deno_error.ts";

const MAX_LINKS = 40;

/** How a replacement is done; see `HostFiles.replace`. */
export interface ReplaceOptions {
  readonly signal: AbortSignal;
  readonly mode?: number;
  readonly followSymlink?: boolean;
}

/** See `HostFiles.replace`. Leaves no temporary file behind, whether it fails or is aborted. */
export async function replaceFile(
  path: string,
  bytes: Uint8Array,
  options: ReplaceOptions,
): Promise<void> {
  const { signal } = options;
  signal.throwIfAborted();
  try {
    const target = options.followSymlink ? await followLinks(path) : path;
    const old = await lstatOrNothing(target);
    if (old?.isDirectory) throw new HostError("is_folder", `Is a directory: ${path}`, { path });
    const kept = old?.isFile ? old : undefined;
    const mode = kept?.mode ?? options.mode;
    const folder = systemPaths.dirname(target);
    const temporary = systemPaths.join(folder, temporaryName(systemPaths.basename(target)));
    try {
      await writeSynced(temporary, bytes, { mode, owner: kept, signal });
      signal.throwIfAborted();
      await Deno.rename(temporary, target);
    } catch (error) {
      await Deno.remove(temporary).catch(() => {});
      throw error;
    }
    await syncFolder(folder);
  } catch (error) {
    throw toHostError(error, path, { signal });
  }
}

async function writeSynced(
  path: string,
  bytes: Uint8Array,
  options: { mode: number | undefined; owner: Deno.FileInfo | undefined; signal: AbortSignal },
): Promise<void> {
  const { mode, owner } = options;
  // The system takes the umask off the mode of a new file; one that has its own mode is nobody else's until it has it.
  const firstMode = mode === undefined ? 0o666 : 0o600;
  using file = await Deno.open(path, { write: true, createNew: true, mode: firstMode });
  for (let done = 0; done < bytes.length;) {
    options.signal.throwIfAborted();
    done += await file.write(bytes.subarray(done));
  }
  if (Deno.build.os !== "windows") {
    if (owner !== undefined) await keepOwner(path, { owner, now: await file.stat() });
    if (mode !== undefined) await Deno.chmod(path, mode & 0o7777);
  }
  await file.sync();
}

/** A file that root replaces stays its owner's; who may not give files away keeps the new one. */
async function keepOwner(
  path: string,
  { owner, now }: { owner: Deno.FileInfo; now: Deno.FileInfo },
): Promise<void> {
  const { uid, gid } = owner;
  if (uid === null || gid === null || (uid === now.uid && gid === now.gid)) return;
  await Deno.chown(path, uid, gid).catch(() => {});
}

/** Where the symlinks lead, also when nothing is there yet. */
async function followLinks(path: string): Promise<string> {
  let current = path;
  for (let count = 0; count < MAX_LINKS; count++) {
    const info = await lstatOrNothing(current);
    if (!info?.isSymlink) return current;
    current = systemPaths.resolve(systemPaths.dirname(current), await Deno.readLink(current));
  }
  throw new HostError("other", `Too many levels of symbolic links: ${path}`, { path });
}

async function lstatOrNothing(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.lstat(path);
  } catch (error) {
    if (isNothingThere(error)) return undefined;
    throw error;
  }
}

/** A power cut must not lose the rename. Systems that cannot sync a folder do without. */
async function syncFolder(folder: string): Promise<void> {
  if (Deno.build.os === "windows") return;
  try {
    using handle = await Deno.open(folder);
    await handle.sync();
  } catch {
    // Not every file system allows it; the file itself is on the disk.
  }
}

/** Cut so that a name of the greatest allowed length still gives a valid one. */
function temporaryName(name: string): string {
  return `.${name.slice(0, 60)}.${crypto.randomUUID().slice(0, 8)}.tmp`;
}
