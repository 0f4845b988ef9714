/**
 * Starts child processes on a real machine. Each is a process group and session of its own, so that it can be ended with everything it
 * started and no terminal signal reaches it. Knows nothing of shells' output or tools.
 */

import { HostError } from "../errors.ts";
import type { HostProcess, HostProcesses, ProcessEnd, StartOptions } from "../host.ts";
import { builtInModule } from "./built_in_module.ts";
import { toHostError } from "./deno_error.ts";
import { ErrorTail } from "./error_tail.ts";
import { joinStreams } from "./join_streams.ts";
import { ProcessOutput } from "./process_output.ts";
import { endOrphans, ProcessRecord } from "./process_record.ts";
import { readRow } from "./process_table.ts";
import { createTreeMarker, ProcessTree } from "./process_tree.ts";
import { systemPaths } from "./system_paths.ts";

const isWindows = Deno.build.os === "windows";

/** The real processes. */
export class DenoProcesses implements HostProcesses {
  #shell: readonly [string, ...string[]] | undefined;
  /** Those that were not stopped yet. */
  readonly #trees = new Set<ProcessTree>();
  #record: ProcessRecord | undefined;

  get shell(): readonly [string, ...string[]] {
    return this.#shell ??= findShell();
  }

  start(options: StartOptions): HostProcess {
    const [program] = options.argv;
    const marker = createTreeMarker();
    const env = { ...options.environment, ...marker.variables };
    const path = findProgram(program, { search: pathOf(env), folder: options.folder });
    if (path === undefined) {
      throw new HostError("not_found", `No such program: ${program}`, { path: program });
    }
    const [first, ...args] = mergedArgv(options);
    const keepsTail = options.stderr === "tail";
    const mergesHere = isWindows && options.stderr === "merge";
    try {
      const child = new Deno.Command(first, {
        args,
        cwd: options.folder,
        clearEnv: true,
        env,
        detached: true,
        stdin: options.stdin === "piped" ? "piped" : "null",
        stdout: "piped",
        stderr: mergesHere || keepsTail
          ? "piped"
          : options.stderr === "inherit"
          ? "inherit"
          : "null",
      }).spawn();
      const tree = new ProcessTree(child.pid, marker.id);
      this.#trees.add(tree);
      this.#record?.add(tree.identity);
      return new DenoProcess(child, {
        tree,
        onStopped: () => this.#trees.delete(tree),
        hasInput: options.stdin === "piped",
        errorTail: keepsTail ? new ErrorTail(child.stderr) : undefined,
        output: new ProcessOutput(
          mergesHere ? joinStreams([child.stdout, child.stderr]) : child.stdout,
        ),
      });
    } catch (error) {
      throw toHostError(error, options.folder);
    }
  }

  find(program: string): Promise<string | undefined> {
    const folder = Deno.cwd();
    return Promise.resolve(
      findProgram(program, { search: pathOf(Deno.env.toObject()), folder }),
    );
  }

  async recordIn(folder: string): Promise<void> {
    this.#record ??= new ProcessRecord(folder);
    await endOrphans(folder);
  }

  endRecord(): void {
    this.#record?.[Symbol.dispose]();
    this.#record = undefined;
  }

  isRunning(pid: number): boolean {
    return readRow(pid) !== undefined || isSignalable(pid);
  }

  killAll(): void {
    for (const tree of this.#trees) tree.killNow();
  }

  environment(): Record<string, string> {
    return Deno.env.toObject();
  }
}

class DenoProcess implements HostProcess {
  readonly pid: number;
  readonly input: WritableStream<Uint8Array> | undefined;
  readonly exited: Promise<ProcessEnd>;
  readonly #output: ProcessOutput;
  readonly #errorTail: ErrorTail | undefined;
  readonly #tree: ProcessTree;
  readonly #onStopped: () => void;
  #hasExited = false;

  constructor(
    child: Deno.ChildProcess,
    options: {
      tree: ProcessTree;
      hasInput: boolean;
      output: ProcessOutput;
      errorTail: ErrorTail | undefined;
      onStopped: () => void;
    },
  ) {
    this.#onStopped = options.onStopped;
    this.pid = child.pid;
    this.input = options.hasInput ? child.stdin : undefined;
    this.#tree = options.tree;
    this.#output = options.output;
    this.#errorTail = options.errorTail;
    this.exited = child.status.then(
      ({ code, signal }) => this.#end({ code, signal: signal ?? undefined }),
      // The system lost track of the process; nobody can say how it ended.
      () => this.#end({ code: 255, signal: undefined }),
    );
  }

  get output(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return this.#output.stream;
  }

  errorTail(): string {
    return this.#errorTail?.text ?? "";
  }

  async isTreeRunning(): Promise<boolean> {
    return !this.#hasExited || await this.#tree.isRunning();
  }

  async stop(options: { graceMs: number }): Promise<void> {
    await this.#tree.end(options.graceMs);
    this.#onStopped();
    await Promise.all([this.#output.finish(), this.#errorTail?.finish()]);
    // An input that nobody closed would stay open; one that is being written to fails by itself.
    await this.input?.abort().catch(() => {});
    await this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop({ graceMs: 0 });
  }

  #end(end: ProcessEnd): ProcessEnd {
    this.#hasExited = true;
    return end;
  }
}

/** Signal 0 reaches every living process, on systems that have no table to read too. */
function isSignalable(pid: number): boolean {
  try {
    builtInModule<typeof import("node:process")>("node:process").kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** A small shell joins the two streams and becomes the program, so that there is one pipe with one order. */
function mergedArgv(options: StartOptions): readonly [string, ...string[]] {
  if (options.stderr !== "merge" || isWindows) return options.argv;
  return ["/bin/sh", "-c", 'exec "$@" 2>&1', "sh", ...options.argv];
}

function findShell(): readonly [string, ...string[]] {
  const where = { search: pathOf(Deno.env.toObject()), folder: "/" };
  if (findProgram("bash", where) !== undefined) return ["bash", "-c"];
  if (!isWindows) return ["/bin/sh", "-c"];
  if (findProgram("powershell", where) !== undefined) {
    return ["powershell", "-NoProfile", "-NonInteractive", "-Command"];
  }
  return ["cmd", "/d", "/s", "/c"];
}

/** Windows spells the variable in more than one way. */
function pathOf(environment: Readonly<Record<string, string>>): string {
  return environment["PATH"] ?? environment["Path"] ?? (isWindows ? "" : "/usr/bin:/bin");
}

function findProgram(
  program: string,
  options: { search: string; folder: string },
): string | undefined {
  const endings = isWindows
    ? ["", ...(Deno.env.get("PATHEXT") ?? ".EXE;.CMD;.BAT;.COM").split(";")]
    : [""];
  const folders = program.includes("/") || (isWindows && program.includes("\\"))
    ? [options.folder]
    : options.search.split(isWindows ? ";" : ":").filter((folder) => folder !== "");
  for (const folder of folders) {
    for (const ending of endings) {
      const path = systemPaths.resolve(
        systemPaths.resolve(options.folder, folder),
        program + ending,
      );
      if (isProgram(path)) return path;
    }
  }
  return undefined;
}

function isProgram(path: string): boolean {
  try {
    const info = Deno.statSync(path);
    return info.isFile && (info.mode === null || (info.mode & 0o111) !== 0);
  } catch {
    return false;
  }
}
