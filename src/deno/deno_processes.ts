/**
 * Starts child processes on a real machine. Each is a process group and session of its own, so that it can be ended with everything it
 * started and no terminal signal reaches it. Knows nothing of shells' output or tools.
 */

import { HostError } from "../errors.ts";
import type { HostProcess, HostProcesses, ProcessEnd, StartOptions } from "../host.ts";
import { toHostError } from "./deno_error.ts";
import { ErrorTail } from "./error_tail.ts";
import { findProgram, findShell, pathOf, type Shell, startName } from "./find_program.ts";
import { joinStreams } from "./join_streams.ts";
import { hasAll, hideVariables, mayRun, mayUse, readEnvironment } from "./permissions.ts";
import { ProcessOutput } from "./process_output.ts";
import { endOrphans, ProcessRecord } from "./process_record.ts";
import { isRunning } from "./process_table.ts";
import { createTreeMarker, ProcessTree } from "./process_tree.ts";

const isWindows = Deno.build.os === "windows";

/** The real processes. */
export class DenoProcesses implements HostProcesses {
  #shell: { found: Shell | undefined } | undefined;
  /** Those that were not stopped yet. */
  readonly #trees = new Set<ProcessTree>();
  #record: ProcessRecord | undefined;

  /** Whether this process may start a shell; without one there are no commands. */
  get canStart(): boolean {
    // Looking for the best one can wait until it is needed: there is always `sh`.
    return (!isWindows && hasAll("run")) || this.#findShell() !== undefined;
  }

  get shell(): Shell {
    const shell = this.#findShell();
    if (shell === undefined) {
      throw new HostError(
        "permission",
        "No permission to start a shell, --allow-run=bash is missing",
        {
          path: "bash",
        },
      );
    }
    return shell;
  }

  start(options: StartOptions): HostProcess {
    const [program] = options.argv;
    const marker = createTreeMarker();
    const env = { ...options.environment, ...marker.variables };
    const path = findProgram(program, { search: pathOf(env), folder: options.folder });
    if (path === undefined) {
      throw new HostError("not_found", `No such program: ${program}`, { path: program });
    }
    const argv = [startName(program, path), ...options.argv.slice(1)] as const;
    const [first, ...args] = mergedArgv({ ...options, argv }, this.shell);
    const keepsTail = options.stderr === "tail";
    const mergesHere = isWindows && options.stderr === "merge";
    try {
      const child = new Deno.Command(first, {
        args,
        cwd: options.folder,
        clearEnv: true,
        env: allowedEnvironment(env),
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
    // Where nobody may look, nothing is found; a program can still be started by its name.
    if (!hasAll("read")) return Promise.resolve(undefined);
    const folder = Deno.cwd();
    return Promise.resolve(
      findProgram(program, { search: pathOf(readEnvironment()), folder }),
    );
  }

  async recordIn(folder: string): Promise<void> {
    if (!mayUse("read", folder) || !mayUse("write", folder)) return;
    this.#record ??= new ProcessRecord(folder);
    await endOrphans(folder);
  }

  endRecord(): void {
    this.#record?.[Symbol.dispose]();
    this.#record = undefined;
  }

  isRunning(pid: number): boolean {
    return isRunning(pid);
  }

  killAll(): void {
    for (const tree of this.#trees) tree.killNow();
  }

  environment(): Record<string, string> {
    return readEnvironment();
  }

  hideVariables(names: readonly string[]): void {
    hideVariables(names);
  }

  /** Once, and not before it is asked for: looking for a program takes its time. */
  #findShell(): Shell | undefined {
    return (this.#shell ??= { found: findShell() }).found;
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

/** A small shell joins the two streams and becomes the program, so that there is one pipe with one order. */
function mergedArgv(options: StartOptions, [shell]: Shell): readonly [string, ...string[]] {
  if (options.stderr !== "merge" || isWindows) return options.argv;
  return [mayRun("/bin/sh") ? "/bin/sh" : shell, "-c", 'exec "$@" 2>&1', "sh", ...options.argv];
}

/** Deno lets nobody set variables of the dynamic linker who may start only some programs. */
function allowedEnvironment(environment: Record<string, string>): Record<string, string> {
  if (hasAll("run")) return environment;
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !/^(?:LD|DYLD)_/.test(name)),
  );
}
