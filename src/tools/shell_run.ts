/**
 * One shell command, from its start to the end of what it writes. Knows how to keep the end of a long output, to fill a log and to
 * stop; refuses to know who waits for it, in the foreground or as a job.
 */

import type { CommandEnd, CommandOutput, RunningCommand } from "../agent/tool.ts";
import { errorText, HostError } from "../errors.ts";
import type { AppendFile, Host, HostProcess } from "../host.ts";
import { OutputTail } from "./output_tail.ts";

/** What a command is started with. */
export interface ShellRunOptions {
  readonly host: Host;
  readonly command: string;
  /** Absolute. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** A private folder for logs, made on first use. */
  outputFolder(): Promise<string>;
  /** Gets the decoded output as it comes, until `detach`. A returned promise keeps the pipe from being read. */
  readonly onOutput?: (delta: string) => Promise<void> | undefined;
}

/** What `wait` saw. `code` is the exit code after the end. */
export type WaitEnd =
  | CommandEnd
  | { readonly kind: "timeout"; readonly code: number }
  | { readonly kind: "aborted" }
  | { readonly kind: "moved" };

const DEFAULT_LIMIT_MIB = 1024;
/** After the end of a command, a pipe that someone still holds is read until it is quiet for this many turns. */
const QUIET_TURNS = 5;
const TURN_MS = 10;
/** When nothing is known to run, the pipe's end is near; this is for a stranger that holds it. */
const LAST_TURNS = 100;
/** An abort has one second for everything. */
const ABORT_GRACE_MS = 600;
const TIMEOUT_GRACE_MS = 1000;

let logCount = 0;

/** A name that no log of this process has. */
export function takeLogName(): string {
  return `run-${++logCount}.log`;
}

/** A shell command that runs. The owner disposes it, which stops it. */
export class ShellRun implements RunningCommand {
  readonly command: string;
  readonly ended: Promise<CommandEnd>;
  readonly #options: ShellRunOptions;
  readonly #process: HostProcess;
  readonly #tail = new OutputTail();
  readonly #limit: number;
  readonly #pumped: Promise<void>;
  readonly #moved = Promise.withResolvers<{ kind: "moved" }>();
  readonly #broken = Promise.withResolvers<CommandEnd>();
  #isBroken = false;
  /** Nobody may hold up the reading any more. */
  #isFree = false;
  #free = () => {};
  #onPumped = () => {};
  #wantsOutput = true;
  /** The raw bytes that are not in a log, because there is none; dropped once there is. */
  #early: Uint8Array[] | undefined = [];
  #log: AppendFile | undefined;
  #opening: Promise<string> | undefined;
  #logPath: string | undefined;
  #totalBytes = 0;
  #isPumped = false;
  /** Grows with each chunk; odd while the pipe is being waited for. */
  #step = 0;

  /** Starts the command. Throws `HostError`, also when the host has no processes. */
  constructor(options: ShellRunOptions) {
    const { host, command, folder, environment } = options;
    const { processes } = host;
    if (processes === undefined) {
      throw new HostError("other", "Cannot start a command: this host has no processes", {
        path: folder,
      });
    }
    this.command = command;
    this.#options = options;
    this.#limit = outputLimit(host);
    this.#process = processes.start({
      argv: [...processes.shell, command],
      folder,
      environment,
      stderr: "merge",
    });
    this.#pumped = this.#pump();
    this.ended = Promise.race([this.#broken.promise, this.#watchExit()]);
  }

  snapshot(): CommandOutput {
    return {
      text: this.#tail.text(),
      truncated: this.#tail.isCut,
      logPath: this.#logPath,
      totalBytes: this.#totalBytes,
    };
  }

  openLog(): Promise<string> {
    return this.#opening ??= this.#openLog();
  }

  /**
   * Waits for the end. A timeout or an abort stops the command and everything it started before this returns; `detach` leaves it
   * running. Never throws.
   */
  async wait(options: { signal: AbortSignal; timeoutMs: number | undefined }): Promise<WaitEnd> {
    using alarm = new Alarm(options);
    const end = await Promise.race([this.ended, alarm.rung, this.#moved.promise]);
    if (end.kind === "aborted") {
      await this.stop({ graceMs: ABORT_GRACE_MS });
    } else if (end.kind === "timeout") {
      await this.stop({ graceMs: TIMEOUT_GRACE_MS });
      return { kind: "timeout", code: (await this.#process.exited).code };
    }
    return end;
  }

  /** Makes `wait` return `moved` and the output go to the log alone. Without effect once the command has ended. */
  detach(): void {
    this.#wantsOutput = false;
    this.#letReadingGo();
    this.#moved.resolve({ kind: "moved" });
  }

  async waitForTree({ signal }: { signal: AbortSignal }): Promise<void> {
    signal.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    const stop = () => aborted.reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    try {
      await Promise.race([this.#process.exited, aborted.promise]);
      for (let pauseMs = 50; await this.#process.isTreeRunning(); pauseMs += 50) {
        await pause(Math.min(pauseMs, 1000), aborted.promise);
      }
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async stop(options: { graceMs: number }): Promise<void> {
    this.#letReadingGo();
    await this.#process.stop(options);
    await this.#pumped;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop({ graceMs: TIMEOUT_GRACE_MS });
  }

  #letReadingGo(): void {
    this.#isFree = true;
    this.#free();
  }

  async #watchExit(): Promise<CommandEnd> {
    const { code, signal } = await this.#process.exited;
    // What the command wrote last is still on its way, so the table of processes is not read without need.
    await this.#untilQuiet(1);
    const leftRunning = await this.#process.isTreeRunning();
    await this.#untilQuiet(leftRunning ? QUIET_TURNS : LAST_TURNS);
    // The end of a command that is being stopped is not an end of its own.
    if (this.#isBroken) return await this.#broken.promise;
    return { kind: "exited", code, leftRunning, ...(signal === undefined ? {} : { signal }) };
  }

  /** Until the pipe's end, or until nothing came from it for some turns of the event loop. */
  async #untilQuiet(turns: number): Promise<void> {
    let last = -1;
    for (let quiet = 0; !this.#isPumped && quiet < turns;) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, TURN_MS);
        this.#onPumped = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      const waits = this.#step % 2 === 1 && this.#step === last;
      quiet = waits ? quiet + 1 : 0;
      last = this.#step;
    }
  }

  async #pump(): Promise<void> {
    const reader = this.#process.output.getReader();
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    try {
      while (true) {
        this.#step++;
        const { done, value } = await reader.read();
        this.#step++;
        if (done) break;
        const room = this.#limit - this.#totalBytes;
        const bytes = value.length > room ? value.subarray(0, room) : value;
        await this.#take(bytes, decoder.decode(bytes, { stream: true }));
        if (value.length > room) {
          this.#break({ kind: "output limit" });
          return;
        }
      }
      const rest = decoder.decode();
      if (rest !== "") await this.#take(new Uint8Array(), rest);
    } catch (error) {
      // It does not have everything.
      this.#logPath = undefined;
      this.#break({ kind: "output unavailable", problem: errorText(error) });
    } finally {
      reader.releaseLock();
      this.#isPumped = true;
      this.#onPumped();
      this.#closeLog();
    }
  }

  async #take(bytes: Uint8Array, text: string): Promise<void> {
    this.#totalBytes += bytes.length;
    this.#tail.add(text);
    if (this.#log !== undefined) {
      this.#log.write(bytes);
    } else {
      // A chunk may be a small part of a large buffer.
      this.#early?.push(bytes.slice());
      // Someone else may be opening it right now; what was added above is then in it.
      if (this.#tail.isCut || this.#opening !== undefined) await this.#keepInLog();
    }
    if (text === "" || !this.#wantsOutput) return;
    const wait = this.#options.onOutput?.(text);
    if (wait === undefined || this.#isFree) return;
    await new Promise<void>((resolve) => {
      this.#free = resolve;
      wait.then(resolve, () => resolve());
    });
  }

  /** Where nothing may be written, the end of the output has to do. */
  async #keepInLog(): Promise<void> {
    try {
      await this.openLog();
    } catch (error) {
      if (!(error instanceof HostError) || error.code !== "permission") throw error;
      this.#early = undefined;
    }
  }

  async #openLog(): Promise<string> {
    const { host } = this.#options;
    const folder = await this.#options.outputFolder();
    const path = host.paths.join(folder, takeLogName());
    this.#log = await host.files.openAppend(path, { mode: 0o600 });
    this.#logPath = path;
    for (const bytes of this.#early ?? []) this.#log.write(bytes);
    this.#early = undefined;
    if (this.#isPumped) this.#closeLog();
    return path;
  }

  #closeLog(): void {
    this.#log?.close();
    this.#log = undefined;
  }

  /** The command cannot go on; nobody reads the pipe any more. */
  #break(end: { kind: "output limit" } | { kind: "output unavailable"; problem: string }): void {
    this.#isBroken = true;
    const stopped = this.#process.stop({ graceMs: TIMEOUT_GRACE_MS });
    this.#broken.resolve(
      stopped.then(() => this.#process.exited).then(({ code }) => ({ ...end, code })),
    );
  }
}

/** The end of a wait from outside: abort or timeout. Rings once. */
class Alarm implements Disposable {
  readonly rung: Promise<{ kind: "aborted" } | { kind: "timeout"; code: number }>;
  readonly #done = new AbortController();

  constructor({ signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number | undefined }) {
    this.rung = new Promise((resolve) => {
      if (signal.aborted) resolve({ kind: "aborted" });
      signal.addEventListener("abort", () => resolve({ kind: "aborted" }), {
        signal: this.#done.signal,
      });
      if (timeoutMs === undefined) return;
      const timer = setTimeout(() => resolve({ kind: "timeout", code: 0 }), timeoutMs);
      this.#done.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
    });
  }

  [Symbol.dispose](): void {
    this.#done.abort();
  }
}

function outputLimit(host: Host): number {
  for (const name of ["WEIR_JOB_OUTPUT_LIMIT_MB", "CIRCLE_JOB_OUTPUT_LIMIT_MB"]) {
    const text = host.getEnv(name)?.trim();
    if (!text) continue;
    const mebibytes = Number(text);
    if (mebibytes > 0) return Math.max(1, Math.floor(mebibytes * 1024 * 1024));
  }
  return DEFAULT_LIMIT_MIB * 1024 * 1024;
}

/** Some time, or as long as it takes `until` to settle, with its failure. */
async function pause(ms: number, until: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const time = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([time, until]);
  } finally {
    clearTimeout(timer);
  }
}
