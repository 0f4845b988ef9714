/**
 * A `Host` that is nothing but memory, for web pages, Node and tests. Web standards only: no process can be started.
 */

import { HostError, type HostErrorCode } from "../errors.ts";
import type { AppendFile, FileInfo, FolderEntry, Host, HostFiles } from "../host.ts";
import { posixPaths } from "./posix_paths.ts";

/** What a memory host starts with. */
export interface MemoryHostOptions {
  /** Absolute path to content; parents are made. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Absolute path to where the symlink points. */
  readonly symlinks?: Readonly<Record<string, string>>;
  /** Variables of the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Takes the lines of `warn`; without it they go nowhere. */
  readonly onWarning?: (line: string) => void;
}

/**
 * A machine of its own with the given files, `/home` as home folder and no processes.
 *
 * @example
 * ```ts
 * import { createMemoryHost } from "@weir/weir";
 *
 * const host = createMemoryHost({ files: { "/workspace/notes.md": "Next: a lid.\n" } });
 * const { signal } = new AbortController();
 * const bytes = await host.files.read("/workspace/notes.md", { signal });
 * if (new TextDecoder().decode(bytes) !== "Next: a lid.\n") throw new Error("not what was written");
 * ```
 */
export function createMemoryHost(options: MemoryHostOptions = {}): Host {
  const files = new MemoryFiles();
  files.add(options.files ?? {}, options.symlinks ?? {});
  const env = new Map(Object.entries(options.env ?? {}));
  return {
    platform: "other",
    pid: 1,
    files,
    paths: posixPaths,
    processes: undefined,
    homeFolder: env.get("HOME") ?? "/home",
    getEnv: (name) => env.get(name),
    warn: (line) => options.onWarning?.(line),
  };
}

interface FileNode {
  readonly kind: "file";
  /** May be longer than the file, so that appending stays cheap. */
  bytes: Uint8Array<ArrayBuffer>;
  size: number;
  mode: number;
  modifiedMs: number;
}

interface FolderNode {
  readonly kind: "folder";
  readonly entries: Map<string, Node>;
  readonly mode: number;
  modifiedMs: number;
}

interface LinkNode {
  readonly kind: "symlink";
  readonly target: string;
  readonly modifiedMs: number;
}

type Node = FileNode | FolderNode | LinkNode;

/** Where a path leads: the folder that holds the last name, and what is there. */
interface Place {
  readonly parent: FolderNode;
  readonly name: string;
  /** Without symlinks. */
  readonly path: string;
  readonly node: Node | undefined;
}

const TEXTS: Readonly<Partial<Record<HostErrorCode, string>>> = {
  not_found: "No such file or directory",
  exists: "File exists",
  is_folder: "Is a directory",
  not_folder: "Not a directory",
};
const MAX_LINKS = 40;
const PIECE = 65536;

class MemoryFiles implements HostFiles {
  readonly #root = newFolder(0o755);
  readonly #locks = new Set<string>();

  add(
    files: Readonly<Record<string, string | Uint8Array>>,
    symlinks: Readonly<Record<string, string>>,
  ): void {
    for (const [path, content] of Object.entries(files)) {
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      const { parent, name } = this.#withParents(path);
      parent.entries.set(name, newFile(bytes, 0o644));
    }
    for (const [path, target] of Object.entries(symlinks)) {
      const { parent, name } = this.#withParents(path);
      parent.entries.set(name, { kind: "symlink", target, modifiedMs: Date.now() });
    }
  }

  async stat(path: string): Promise<FileInfo | undefined> {
    await undefined;
    return infoOf(this.#lookOrNothing(path, { follow: true })?.node);
  }

  async lstat(path: string): Promise<FileInfo | undefined> {
    await undefined;
    return infoOf(this.#lookOrNothing(path, { follow: false })?.node);
  }

  async readLink(path: string): Promise<string> {
    await undefined;
    const node = this.#lookOrNothing(path, { follow: false })?.node;
    if (node?.kind === "symlink") return node.target;
    throw new HostError("other", `Not a symlink: ${path}`, { path });
  }

  async makeTempFolder(prefix: string): Promise<string> {
    const path = `/tmp/${prefix}${crypto.randomUUID()}`;
    await this.makeFolder(path, { mode: 0o700 });
    return path;
  }

  async realPath(path: string): Promise<string> {
    await undefined;
    const place = this.#look(path, { follow: true });
    if (place.node === undefined) throw failure("not_found", path);
    return place.path;
  }

  async read(
    path: string,
    options: { signal: AbortSignal; limit?: number; isReal?: boolean },
  ): Promise<Uint8Array> {
    options.signal.throwIfAborted();
    await undefined;
    const file = this.#file(path, options);
    return file.bytes.slice(0, Math.min(file.size, options.limit ?? file.size));
  }

  async openRead(
    path: string,
    options: { start?: number; isReal?: boolean },
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    await undefined;
    const file = this.#file(path, options);
    let at = options.start ?? 0;
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        const end = Math.min(file.size, at + PIECE);
        if (at >= end) return controller.close();
        controller.enqueue(file.bytes.slice(at, end));
        at = end;
      },
    }, { highWaterMark: 0 });
  }

  async *readFolder(path: string): AsyncIterable<FolderEntry> {
    await undefined;
    const { node } = this.#look(path, { follow: true });
    if (node === undefined) throw failure("not_found", path);
    if (node.kind !== "folder") throw failure("not_folder", path);
    for (const [name, entry] of [...node.entries]) yield { name, kind: entry.kind };
  }

  async makeFolder(path: string, options?: { mode?: number }): Promise<void> {
    await undefined;
    const { node } = this.#withParents(path, options);
    if (node !== undefined && node.kind !== "folder") throw failure("exists", path);
    if (node === undefined) this.#makeFolderAt(this.#look(path, { follow: true }), options);
  }

  async replace(
    path: string,
    bytes: Uint8Array,
    options: { signal: AbortSignal; mode?: number; followSymlink?: boolean },
  ): Promise<void> {
    options.signal.throwIfAborted();
    await undefined;
    const place = this.#look(path, { follow: options.followSymlink === true });
    if (place.node?.kind === "folder") throw failure("is_folder", path);
    const mode = place.node?.kind === "file" ? place.node.mode : options.mode ?? 0o644;
    place.parent.entries.set(place.name, newFile(bytes, mode));
  }

  async remove(path: string, options?: { recursive?: boolean }): Promise<void> {
    await undefined;
    const place = this.#lookOrNothing(path, { follow: false });
    if (place?.node === undefined) return;
    if (place.node.kind === "folder" && place.node.entries.size > 0 && !options?.recursive) {
      throw new HostError("other", `Directory not empty: ${path}`, { path });
    }
    place.parent.entries.delete(place.name);
  }

  async openAppend(path: string, options: { mode: number }): Promise<AppendFile> {
    await undefined;
    const place = this.#look(path, { follow: true });
    if (place.node?.kind === "folder") throw failure("is_folder", path);
    if (place.node?.kind === "file") return new MemoryAppendFile(place.node);
    const file = newFile(new Uint8Array(), options.mode);
    place.parent.entries.set(place.name, file);
    return new MemoryAppendFile(file);
  }

  async lock(path: string): Promise<AsyncDisposable> {
    await undefined;
    const place = this.#look(path, { follow: true });
    const key = place.path;
    if (this.#locks.has(key)) {
      throw new HostError("locked", `Locked by process 1: ${path}`, { path, pid: 1 });
    }
    this.#locks.add(key);
    const file = newFile(new TextEncoder().encode("1\n"), 0o600);
    place.parent.entries.set(place.name, file);
    let held = true;
    return {
      [Symbol.asyncDispose]: () => {
        if (held) {
          this.#locks.delete(key);
          if (place.parent.entries.get(place.name) === file) {
            place.parent.entries.delete(place.name);
          }
        }
        held = false;
        return Promise.resolve();
      },
    };
  }

  #file(path: string, { isReal = false }: { isReal?: boolean }): FileNode {
    const place = this.#look(path, { follow: true });
    if (place.node === undefined) throw failure("not_found", path);
    if (place.node.kind !== "file") throw failure("is_folder", path);
    if (isReal && place.path !== path) {
      throw new HostError("other", `Changed at the same time: ${path}`, { path });
    }
    return place.node;
  }

  #withParents(path: string, options?: { mode?: number }): Place {
    const parent = posixPaths.dirname(path);
    if (parent !== path) {
      const above = this.#withParents(parent, options);
      if (above.node === undefined) {
        this.#makeFolderAt(this.#look(parent, { follow: true }), options);
      }
    }
    return this.#look(path, { follow: true });
  }

  #makeFolderAt(place: Place, options?: { mode?: number }): void {
    place.parent.entries.set(place.name, newFolder(options?.mode ?? 0o755));
  }

  #lookOrNothing(path: string, options: { follow: boolean }): Place | undefined {
    try {
      return this.#look(path, options);
    } catch (error) {
      if (error instanceof HostError) return undefined;
      throw error;
    }
  }

  /** Throws when a folder on the way is missing or is none. */
  #look(path: string, options: { follow: boolean }): Place {
    const names = path.split("/").filter((name) => name !== "" && name !== ".").reverse();
    let links = 0;
    let folders: { name: string; node: FolderNode }[] = [{ name: "", node: this.#root }];
    while (true) {
      const name = names.pop();
      const folder = folders.at(-1)!;
      const folderPath = folders.map((step) => step.name).join("/");
      if (name === undefined) {
        const parent = folders.at(-2) ?? folder;
        return {
          parent: parent.node,
          name: folder.name,
          path: folderPath || "/",
          node: folder.node,
        };
      }
      if (name === "..") {
        if (folders.length > 1) folders.pop();
        continue;
      }
      const node = folder.node.entries.get(name);
      const isLast = names.length === 0;
      if (node?.kind === "symlink" && (!isLast || options.follow)) {
        if (++links > MAX_LINKS) {
          throw new HostError("other", `Too many levels of symbolic links: ${path}`, { path });
        }
        if (node.target.startsWith("/")) folders = folders.slice(0, 1);
        names.push(
          ...node.target.split("/").filter((part) => part !== "" && part !== ".").reverse(),
        );
        continue;
      }
      if (node?.kind === "folder") {
        folders.push({ name, node });
        continue;
      }
      if (!isLast) throw failure(node === undefined ? "not_found" : "not_folder", path);
      return { parent: folder.node, name, path: `${folderPath}/${name}`, node };
    }
  }
}

class MemoryAppendFile implements AppendFile {
  readonly #file: FileNode;

  constructor(file: FileNode) {
    this.#file = file;
  }

  get size(): number {
    return this.#file.size;
  }

  write(bytes: Uint8Array): void {
    const file = this.#file;
    const size = file.size + bytes.length;
    if (size > file.bytes.length) {
      const larger = new Uint8Array(Math.max(size, file.bytes.length * 2));
      larger.set(file.bytes.subarray(0, file.size));
      file.bytes = larger;
    }
    file.bytes.set(bytes, file.size);
    file.size = size;
    file.modifiedMs = Date.now();
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  truncate(size: number): void {
    this.#file.size = Math.min(this.#file.size, size);
  }

  close(): void {}

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

function newFile(bytes: Uint8Array, mode: number): FileNode {
  return {
    kind: "file",
    bytes: new Uint8Array(bytes),
    size: bytes.length,
    mode,
    modifiedMs: Date.now(),
  };
}

function newFolder(mode: number): FolderNode {
  return { kind: "folder", entries: new Map(), mode, modifiedMs: Date.now() };
}

function infoOf(node: Node | undefined): FileInfo | undefined {
  if (node === undefined) return undefined;
  const { kind, modifiedMs } = node;
  if (kind === "symlink") return { kind, modifiedMs, size: node.target.length, mode: 0o777 };
  return { kind, modifiedMs, size: kind === "file" ? node.size : 0, mode: node.mode };
}

function failure(code: HostErrorCode, path: string): HostError {
  return new HostError(code, `${TEXTS[code]}: ${path}`, { path });
}
