/**
 * The files of a machine for a process that Deno lets use only some of them. Refuses before Deno would, whose question at a terminal waits
 * for an answer. Knows nothing of what is done with the files.
 */

import { HostError } from "../errors.ts";
import type { AppendFile, FileAccess, FileInfo, FolderEntry, HostFiles } from "../host.ts";
import { hasAll, mayUse, readVariable } from "./permissions.ts";

/** `files` itself when all of them may be read and written. */
export function guardFiles(files: HostFiles): HostFiles {
  return hasAll("read") && hasAll("write") ? files : new GuardedFiles(files);
}

class GuardedFiles implements HostFiles {
  readonly #files: HostFiles;

  constructor(files: HostFiles) {
    this.#files = files;
  }

  access(path: string): FileAccess {
    return { read: mayUse("read", path), write: mayUse("write", path) };
  }

  async stat(path: string): Promise<FileInfo | undefined> {
    demand("read", path);
    return await this.#files.stat(path);
  }

  async lstat(path: string): Promise<FileInfo | undefined> {
    demand("read", path);
    return await this.#files.lstat(path);
  }

  async realPath(path: string): Promise<string> {
    demand("read", path);
    return await this.#files.realPath(path);
  }

  async readLink(path: string): Promise<string> {
    demand("read", path);
    return await this.#files.readLink(path);
  }

  async makeTempFolder(prefix: string): Promise<string> {
    demand("write", readVariable("TMPDIR") || "/tmp");
    return await this.#files.makeTempFolder(prefix);
  }

  async read(
    path: string,
    options: { signal: AbortSignal; limit?: number; isReal?: boolean },
  ): Promise<Uint8Array> {
    options.signal.throwIfAborted();
    demand("read", path);
    return await this.#files.read(path, options);
  }

  async openRead(
    path: string,
    options: { start?: number; isReal?: boolean },
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    demand("read", path);
    return await this.#files.openRead(path, options);
  }

  async *readFolder(path: string): AsyncIterable<FolderEntry> {
    demand("read", path);
    yield* this.#files.readFolder(path);
  }

  async makeFolder(path: string, options?: { mode?: number }): Promise<void> {
    demand("write", path);
    await this.#files.makeFolder(path, options);
  }

  async replace(
    path: string,
    bytes: Uint8Array,
    options: { signal: AbortSignal; mode?: number; followSymlink?: boolean },
  ): Promise<void> {
    options.signal.throwIfAborted();
    demand("read", path);
    demand("write", path);
    await this.#files.replace(path, bytes, options);
  }

  async remove(path: string, options?: { recursive?: boolean }): Promise<void> {
    demand("write", path);
    await this.#files.remove(path, options);
  }

  async openAppend(path: string, options: { mode: number }): Promise<AppendFile> {
    demand("write", path);
    return await this.#files.openAppend(path, options);
  }

  async lock(path: string): Promise<AsyncDisposable> {
    demand("read", path);
    demand("write", path);
    return await this.#files.lock(path);
  }
}

function demand(kind: "read" | "write", path: string): void {
  if (mayUse(kind, path)) return;
  throw new HostError(
    "permission",
    `No permission to ${kind}, --allow-${kind} does not cover it: ${path}`,
    {
      path,
    },
  );
}
