/**
 * The files of a real machine. Knows no tool and no format; every failure leaves as `HostError`.
 */

import { HostError } from "../errors.ts";
import type { AppendFile, FileInfo, FolderEntry, HostFiles } from "../host.ts";
import { openAppendFile } from "./append_file.ts";
import { isNothingThere, toHostError } from "./deno_error.ts";
import { lockFile } from "./file_lock.ts";
import { replaceFile, type ReplaceOptions } from "./replace_file.ts";

/** The real file system. */
export class DenoFiles implements HostFiles {
  stat(path: string): Promise<FileInfo | undefined> {
    return infoOrNothing(() => Deno.stat(path), path);
  }

  lstat(path: string): Promise<FileInfo | undefined> {
    return infoOrNothing(() => Deno.lstat(path), path);
  }

  async realPath(path: string): Promise<string> {
    try {
      return await Deno.realPath(path);
    } catch (error) {
      throw toHostError(error, path);
    }
  }

  async readLink(path: string): Promise<string> {
    try {
      return await Deno.readLink(path);
    } catch (error) {
      throw toHostError(error, path);
    }
  }

  async makeTempFolder(prefix: string): Promise<string> {
    try {
      // Deno makes it with mode 0700.
      return await Deno.makeTempDir({ prefix });
    } catch (error) {
      throw toHostError(error, prefix);
    }
  }

  async read(
    path: string,
    options: { signal: AbortSignal; limit?: number; isReal?: boolean },
  ): Promise<Uint8Array> {
    const { signal, limit = Infinity, isReal } = options;
    signal.throwIfAborted();
    try {
      if (limit === Infinity && !isReal) return await Deno.readFile(path, { signal });
      using file = await openFile(path, options);
      return await readStart(file, { limit, signal });
    } catch (error) {
      throw toHostError(error, path, { signal });
    }
  }

  async openRead(
    path: string,
    options: { start?: number; isReal?: boolean },
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    try {
      const file = await openFile(path, options);
      try {
        if (options.start) await file.seek(options.start, Deno.SeekMode.Start);
        return readPieces(file, path);
      } catch (error) {
        file.close();
        throw error;
      }
    } catch (error) {
      throw toHostError(error, path);
    }
  }

  async *readFolder(path: string): AsyncIterable<FolderEntry> {
    try {
      for await (const entry of Deno.readDir(path)) yield { name: entry.name, kind: kindOf(entry) };
    } catch (error) {
      throw toHostError(error, path);
    }
  }

  async makeFolder(path: string, options?: { mode?: number }): Promise<void> {
    try {
      await Deno.mkdir(path, { recursive: true, ...options });
    } catch (error) {
      throw toHostError(error, path);
    }
  }

  replace(path: string, bytes: Uint8Array, options: ReplaceOptions): Promise<void> {
    return replaceFile(path, bytes, options);
  }

  async remove(path: string, options?: { recursive?: boolean }): Promise<void> {
    try {
      await Deno.remove(path, options);
    } catch (error) {
      if (!isNothingThere(error)) throw toHostError(error, path);
    }
  }

  // deno-lint-ignore require-await -- a failure must be a rejection
  async openAppend(path: string, options: { mode: number }): Promise<AppendFile> {
    return openAppendFile(path, options);
  }

  lock(path: string): Promise<AsyncDisposable> {
    return lockFile(path);
  }
}

async function openFile(
  path: string,
  { isReal = false }: { isReal?: boolean },
): Promise<Deno.FsFile> {
  for (let tries = 1;; tries++) {
    const file = await Deno.open(path);
    try {
      if (!isReal || Deno.build.os === "windows" || isAt(path, file)) return file;
    } catch (error) {
      file.close();
      throw error;
    }
    file.close();
    // A file that is replaced just now is a reason to look again, but not for ever.
    if (tries === 3) throw new HostError("other", `Changed at the same time: ${path}`, { path });
  }
}

/**
 * Whether what was opened is what stands at the path itself. Sure for the last name of the path; who swaps a folder of it at the right moment, twice, is not
 * noticed, because nothing here opens files one name at a time.
 * Synchronous: the answers are known to the system by now, and a search asks for each file.
 */
function isAt(path: string, file: Deno.FsFile): boolean {
  const opened = file.statSync();
  const there = Deno.lstatSync(path);
  // Some file systems of networks number a file anew each time.
  const isSame = (opened.ino === there.ino && opened.dev === there.dev) ||
    (there.isFile && opened.size === there.size &&
      opened.mtime?.getTime() === there.mtime?.getTime());
  return isSame && Deno.realPathSync(path) === path;
}

async function readStart(
  file: Deno.FsFile,
  options: { limit: number; signal: AbortSignal },
): Promise<Uint8Array> {
  // A limit may be far above the size of the file, so memory grows with what is really there.
  const parts: Uint8Array[] = [];
  let total = 0;
  while (total < options.limit) {
    options.signal.throwIfAborted();
    const part = new Uint8Array(Math.min(65536, options.limit - total));
    const count = await file.read(part);
    if (count === null) break;
    parts.push(part.subarray(0, count));
    total += count;
  }
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function readPieces(file: Deno.FsFile, path: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const part = new Uint8Array(65536);
        const count = await file.read(part);
        if (count !== null) return controller.enqueue(part.subarray(0, count));
      } catch (error) {
        file.close();
        throw toHostError(error, path);
      }
      file.close();
      controller.close();
    },
    cancel() {
      file.close();
    },
  }, { highWaterMark: 0 });
}

async function infoOrNothing(
  look: () => Promise<Deno.FileInfo>,
  path: string,
): Promise<FileInfo | undefined> {
  try {
    const info = await look();
    return {
      kind: kindOf(info),
      size: info.size,
      modifiedMs: info.mtime?.getTime() ?? 0,
      mode: info.mode === null ? undefined : info.mode & 0o7777,
    };
  } catch (error) {
    if (isNothingThere(error)) return undefined;
    throw toHostError(error, path);
  }
}

function kindOf(
  info: { isFile: boolean; isDirectory: boolean; isSymlink: boolean },
): FileInfo["kind"] {
  if (info.isSymlink) return "symlink";
  if (info.isDirectory) return "folder";
  return info.isFile ? "file" : "other";
}
