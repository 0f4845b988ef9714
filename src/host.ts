/**
 * Host: what the product needs from a machine. Interfaces and one reader of them; `src/deno/` implements them for real machines, `src/memory_host.ts`
 * for pages and tests. Imports only the errors.
 *
 * Paths are absolute strings in the host's own form. Every method that fails throws `HostError`.
 */

/** What is at a path. */
export interface FileInfo {
  /** What it is. */
  readonly kind: "file" | "folder" | "symlink" | "other";
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modifiedMs: number;
  /** Unix permission bits, `undefined` where the system has none. */
  readonly mode: number | undefined;
}

/** One name in a folder; symlinks are not followed. */
export interface FolderEntry {
  /** Without the folder. */
  readonly name: string;
  /** What it is. */
  readonly kind: FileInfo["kind"];
}

/** A file that only grows. */
export interface AppendFile extends AsyncDisposable {
  /** Bytes in the file now. */
  readonly size: number;
  /** Appends in one write call; when it returns, the bytes survive the end of this process. */
  write(bytes: Uint8Array): void;
  /** Resolves when everything written is on the disk (fdatasync). */
  flush(): Promise<void>;
  /** Cuts the file off at `size` bytes. */
  truncate(size: number): void;
  /** Closes; a second call does nothing. */
  close(): void;
}

/** What this process may do with what is at and below a path, whatever the rights of its user are. */
export interface FileAccess {
  /** Whether it may be read. */
  readonly read: boolean;
  /** Whether it may be written. */
  readonly write: boolean;
}

/** The files of a machine. */
export interface HostFiles {
  /** Only where the process itself is restricted; without it everything may be tried. */
  access?(path: string): FileAccess;
  /** Follows symlinks; `undefined` when nothing is there (a dangling symlink included). */
  stat(path: string): Promise<FileInfo | undefined>;
  /** Does not follow a symlink at the end of the path. */
  lstat(path: string): Promise<FileInfo | undefined>;
  /** The path without symlinks; `not_found` when it does not exist. */
  realPath(path: string): Promise<string>;
  /** Where a symlink points to, as it is written in it. */
  readLink(path: string): Promise<string>;
  /** A new private folder (0700) in the system's place for such; the caller removes it. */
  makeTempFolder(prefix: string): Promise<string>;
  /**
   * The whole file, or its first `limit` bytes. `isReal`: the path had no symlinks when it was judged; it fails when it has one now, whatever that leads
   * to.
   */
  read(
    path: string,
    options: { signal: AbortSignal; limit?: number; isReal?: boolean },
  ): Promise<Uint8Array>;
  /** The bytes of a file from `start` on as they are wanted; cancelling closes the file. `isReal` as for `read`. */
  openRead(
    path: string,
    options: { start?: number; isReal?: boolean },
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /** Names in no special order. */
  readFolder(path: string): AsyncIterable<FolderEntry>;
  /** Makes the folder and its parents; fine when it exists. `mode` is for those that are made. */
  makeFolder(path: string, options?: { mode?: number }): Promise<void>;
  /**
   * Writes a file so that a reader sees the old or the new content, never a part: temporary file beside it, fsync, rename. An
   * existing file keeps its permission bits; a new one gets `mode`. Does not follow a symlink at `path`: it replaces the file that the
   * symlink points to when `followSymlink` is set, otherwise the symlink itself.
   */
  replace(
    path: string,
    bytes: Uint8Array,
    options: { signal: AbortSignal; mode?: number; followSymlink?: boolean },
  ): Promise<void>;
  /** Removes a file or, with `recursive`, a folder; fine when it does not exist. */
  remove(path: string, options?: { recursive?: boolean }): Promise<void>;
  /** Opens for appending, made with `mode` when it is new; the caller disposes it. */
  openAppend(path: string, options: { mode: number }): Promise<AppendFile>;
  /**
   * Takes an advisory lock that this process holds until it is disposed or ends. A lock of a dead process is taken over. Throws
   * `locked` with the other process's pid.
   */
  lock(path: string): Promise<AsyncDisposable>;
}

/** How to start a child process. Its stdin is empty unless `stdin` is `piped`. */
export interface StartOptions {
  /** Program and arguments. */
  readonly argv: readonly [string, ...string[]];
  /** Absolute path of the folder that it starts in. */
  readonly folder: string;
  /** The whole environment of the child. */
  readonly environment: Readonly<Record<string, string>>;
  /** `piped`: what is written to `input`. */
  readonly stdin?: "empty" | "piped";
  /**
   * `merge`: stderr goes into `output` in write order. `inherit`: to our stderr. `discard`: nowhere. `tail`: its end is kept for
   * `errorTail`.
   */
  readonly stderr: "merge" | "inherit" | "discard" | "tail";
}

/** A child process in a process group of its own. */
export interface HostProcess extends AsyncDisposable {
  /** Id of the process. */
  readonly pid: number;
  /** Ends when every process that holds the pipe has closed it, which may be after `exited`. */
  readonly output: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** With `stdin: "piped"`. */
  readonly input: WritableStream<Uint8Array> | undefined;
  /** With `stderr: "tail"` the last 4 KiB of what was written there so far, complete after `stop`; otherwise empty. */
  errorTail(): string;
  /** When the started process itself has ended. Never rejects. */
  readonly exited: Promise<ProcessEnd>;
  /** Whether anything it started still runs (zombies do not count). */
  isTreeRunning(): Promise<boolean>;
  /**
   * Ends it and everything it started: SIGTERM, `graceMs`, SIGKILL. Resolves when nothing of it runs. Safe to call again.
   */
  stop(options: { graceMs: number }): Promise<void>;
}

/** How a process ended. */
export interface ProcessEnd {
  /** Exit code; 128 + number after a signal. */
  readonly code: number;
  /** Name of the signal that ended it. */
  readonly signal: string | undefined;
}

/** The processes of a machine. */
export interface HostProcesses {
  /** Starts a program; `not_found` when there is none. */
  start(options: StartOptions): HostProcess;
  /** Program and options that run a text as a shell command when the text is added as last argument, e.g. `["bash", "-c"]`. */
  readonly shell: readonly [string, ...string[]];
  /** Full path of a program on PATH. */
  find(program: string): Promise<string | undefined>;
  /**
   * From now on what is started is remembered in this folder until `endRecord`, and what processes that were killed have left running is
   * ended. Resolves when that is done; never rejects.
   */
  recordIn(folder: string): Promise<void>;
  /** Everything was stopped in order: nothing needs to be remembered. */
  endRecord(): void;
  /** Whether a process with this id runs. */
  isRunning(pid: number): boolean;
  /** Sends SIGKILL to everything that was started and still runs, without waiting: for an exit that cannot wait. */
  killAll(): void;
  /** The environment of this process, all of it. */
  environment(): Record<string, string>;
  /**
   * Takes variables out of the process's environment, for code and for processes that do not come through this interface: `environment` and
   * `getEnv` still give them. Those that may not be read stay.
   */
  hideVariables(names: readonly string[]): void;
}

/** Path arithmetic of the host; same meaning as the functions of these names everywhere. */
export interface HostPaths {
  /** Between the names of a path. */
  readonly separator: string;
  /** Whether a path begins at a root. */
  isAbsolute(path: string): boolean;
  /** Absolute and normalised. */
  resolve(base: string, path: string): string;
  /** The parts with separators between them, normalised. */
  join(...parts: string[]): string;
  /** The path without its last name. */
  dirname(path: string): string;
  /** The last name of a path. */
  basename(path: string): string;
  /** The path that leads from one to the other. */
  relative(from: string, to: string): string;
}

/** What a run is going to use. What is left out is not judged. */
export interface LimitedUse {
  /** The workspace. */
  readonly folder?: string;
  /** Of settings and conversations; `undefined` when this process may not know where it is. */
  readonly home?: string | undefined;
  /** URLs of models, of which one is enough. */
  readonly endpoints?: readonly string[];
}

/** A machine, as far as the product needs one. */
export interface Host {
  /** Which kind of system it is. */
  readonly platform: "linux" | "darwin" | "windows" | "other";
  /** Id of this process. */
  readonly pid: number;
  /** Its files. */
  readonly files: HostFiles;
  /** How its paths are written. */
  readonly paths: HostPaths;
  /** `undefined` where no process can be started: the agent has no `bash` then. */
  readonly processes: HostProcesses | undefined;
  /** The user's home folder; empty when this process may not know it. */
  readonly homeFolder: string;
  /** Only where the process itself is restricted: a line for people for each thing that it may not do, with what stops working. */
  describeLimits?(use: LimitedUse): readonly string[];
  /** A variable of the environment. */
  getEnv(name: string): string | undefined;
  /** Writes one line for people, never to stdout. */
  warn(line: string): void;
}

/** What may be done with files; everything on a host that is not restricted, nothing with a path that is not absolute. */
export function accessTo(host: Host, path: string): FileAccess {
  if (!host.paths.isAbsolute(path)) return { read: false, write: false };
  return host.files.access?.(path) ?? { read: true, write: true };
}
