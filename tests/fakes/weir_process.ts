/**
 * The program as its clients see it: a child process that is driven over stdin and stdout. Made for
 * tests of every dialect, so it knows that a record is a line of JSON, but no dialect's order of
 * records.
 */

import { RecordLog, type WireRecord } from "./_record_log.ts";

export type { WireRecord } from "./_record_log.ts";

/** How the program is started. */
export interface WeirOptions {
  /** Everything after the program, such as `["--mode", "rpc", workspace]`. */
  args: readonly string[];
  /** `WEIR_HOME`. */
  home: string;
  /** Added to the clean environment: PATH, HOME, TMPDIR, WEIR_HOME, DENO_DIR, NO_COLOR. */
  env?: Record<string, string>;
  cwd?: string;
  /** Program and its first arguments; default: `WEIR_PROGRAM`, or `src/main.ts` with this deno. */
  program?: readonly string[];
  /** How long each wait may take; default 15000. */
  timeoutMs?: number;
  /** Reads stderr only when the process has ended. */
  holdsErrors?: boolean;
}

/** How the process ended: by itself with `code`, or by `signal`. */
export interface WeirExit {
  code: number;
  signal: Deno.Signal | null;
}

/** Which record is meant: its `type`, or a test of it. */
export type RecordChoice = string | ((record: WireRecord) => boolean);

interface WaitOptions {
  timeoutMs?: number;
}

/**
 * Starts the program in a process group of its own. The caller disposes it; that kills all it left
 * and throws when stdout carried anything but JSON objects.
 */
export async function startWeir(options: WeirOptions): Promise<WeirProcess> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "weir_process_" }));
  try {
    await Deno.mkdir(`${folder}/tmp`);
    return new WeirProcess(folder, options);
  } catch (error) {
    await Deno.remove(folder, { recursive: true });
    throw error;
  }
}

/** A started program. */
export class WeirProcess implements AsyncDisposable {
  /**
   * Resolves when the process has ended and its stdout was read to the end (without the latter after
   * `pauseReading()` or `closeOutput()`). Never rejects.
   */
  readonly exit: Promise<WeirExit>;
  #folder: string;
  #child: Deno.ChildProcess;
  #input: WritableStreamDefaultWriter<Uint8Array>;
  #output: ReadableStreamDefaultReader<Uint8Array>;
  #errors: ReadableStreamDefaultReader<Uint8Array>;
  #reading: Promise<void>;
  #readingErrors: Promise<void>;
  #log = new RecordLog();
  #stderr = "";
  #resumed: PromiseWithResolvers<void> | undefined;
  #hasClosedOutput = false;
  #detached = Promise.withResolvers<void>();
  #timeoutMs: number;
  #nextId = 1;
  #ended: WeirExit | undefined;
  #disposing: Promise<void> | undefined;

  /** Use `startWeir()`; `folder` is removed on dispose. */
  constructor(folder: string, options: WeirOptions) {
    this.#folder = folder;
    this.#timeoutMs = options.timeoutMs ?? 15_000;
    const [command, ...first] = options.program ?? defaultProgram();
    this.#child = new Deno.Command(command, {
      args: [...first, ...options.args],
      cwd: options.cwd,
      clearEnv: true,
      env: { ...cleanEnvironment(folder), WEIR_HOME: options.home, ...options.env },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      detached: Deno.build.os !== "windows",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#input.closed.catch(() => {}); // Each write reports a broken pipe itself.
    this.#output = this.#child.stdout.getReader();
    this.#errors = this.#child.stderr.getReader();
    this.#reading = this.#read();
    this.#readingErrors = options.holdsErrors
      ? this.#child.status.then(() => this.#readErrors())
      : this.#readErrors();
    this.exit = this.#waitForExit();
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** `TMPDIR` of the program. */
  get temporaryFolder(): string {
    return `${this.#folder}/tmp`;
  }

  /** All records so far. */
  get records(): readonly WireRecord[] {
    return this.#log.records;
  }

  /** All of stderr so far, as far as it was read. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Writes one record as a line of JSON. */
  send(record: unknown): Promise<void> {
    return this.sendRaw(JSON.stringify(record) + "\n");
  }

  /** Writes exactly this. Waits while the program does not read; rejects when it reads no more. */
  sendRaw(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
    const written = this.#write(bytes);
    written.catch(() => {}); // A caller that does not wait has chosen not to know.
    return written;
  }

  /** Ends stdin. */
  async closeInput(): Promise<void> {
    await this.#input.close().catch(() => {});
  }

  /** Stops reading stdout, like a client that hangs; one chunk may still arrive. */
  pauseReading(): void {
    this.#resumed ??= Promise.withResolvers<void>();
  }

  /** Goes on reading stdout. */
  resumeReading(): void {
    this.#resumed?.resolve();
    this.#resumed = undefined;
  }

  /** Closes the reading end of stdout, like a client that went away. */
  async closeOutput(): Promise<void> {
    this.#hasClosedOutput = true;
    this.#detached.resolve();
    this.resumeReading();
    await this.#output.cancel();
    await this.#reading;
  }

  /**
   * The next record that matches. Records before it are passed over for good, so the order of waits
   * is the order on the wire. Rejects on timeout, or when stdout ends without one.
   */
  async next(choice: RecordChoice, options: WaitOptions = {}): Promise<WireRecord> {
    return (await this.until(choice, options)).at(-1)!;
  }

  /** Like `next()`, but returns all records up to it, without responses that were already taken. */
  until(choice: RecordChoice, options: WaitOptions = {}): Promise<WireRecord[]> {
    const matches = typeof choice === "string"
      ? (record: WireRecord) => record.type === choice
      : choice;
    const wanted = typeof choice === "string" ? `a record ${choice}` : "a matching record";
    return this.#wait(this.#log.search(matches), { ...options, wanted });
  }

  /** All records up to the next `agent_settled`. */
  settled(options: WaitOptions = {}): Promise<WireRecord[]> {
    return this.until("agent_settled", options);
  }

  /**
   * The first response with this id (any JSON value) that was not taken yet, wherever it stands; what
   * `next()` returns stays as it was. Also finds JSON-RPC responses.
   */
  response(id: unknown, options: WaitOptions = {}): Promise<WireRecord> {
    const wanted = `the response ${JSON.stringify(id)}`;
    return this.#wait(() => this.#log.takeResponse(id), { ...options, wanted });
  }

  /** Sends a command (with a fresh `id` unless it has one) and returns its response. */
  async request(command: Record<string, unknown>, options: WaitOptions = {}): Promise<WireRecord> {
    const id = Object.hasOwn(command, "id") ? command.id : `request-${this.#nextId++}`;
    await this.send({ ...command, id });
    return await this.response(id, options);
  }

  /** Like `exit`, but rejects with what happened so far when it takes too long. */
  async waitForExit(options: WaitOptions = {}): Promise<WeirExit> {
    const timeoutMs = options.timeoutMs ?? this.#timeoutMs;
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(new Error(this.#explain(`Cannot wait for weir's exit: none in ${timeoutMs} ms`)));
    }, timeoutMs);
    try {
      return await Promise.race([this.exit, promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends a signal to the program alone, not to its children. */
  kill(signal: Deno.Signal = "SIGTERM"): void {
    this.#child.kill(signal);
  }

  /**
   * Pids of everything that the program started and that still lives, itself included, also in other
   * process groups. Found by the unique HOME in their environment; Linux only, elsewhere `[]`.
   */
  async livingProcesses(): Promise<number[]> {
    if (Deno.build.os !== "linux") return [];
    const pids: number[] = [];
    for await (const { name } of Deno.readDir("/proc")) {
      if (!/^[0-9]+$/.test(name)) continue;
      const environment = await Deno.readTextFile(`/proc/${name}/environ`).catch(() => "");
      if (environment.split("\0").includes(`HOME=${this.#folder}`)) pids.push(Number(name));
    }
    return pids.sort((a, b) => a - b);
  }

  /** Safe to call twice. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#disposing ??= this.#dispose();
  }

  async #dispose(): Promise<void> {
    killGroup(this.pid);
    for (const pid of await this.livingProcesses()) killProcess(pid);
    await this.closeInput();
    this.resumeReading();
    await this.exit;
    await Promise.allSettled([this.#output.cancel(), this.#errors.cancel()]);
    await Promise.all([this.#reading, this.#readingErrors]);
    await Deno.remove(this.#folder, { recursive: true });
    // A line that the kill cut off, or that we stopped reading in the middle, is not the program's fault.
    if (this.#ended?.signal === null && !this.#hasClosedOutput) this.#log.checkEnd();
    const { violations } = this.#log;
    if (violations.length === 0) return;
    throw new Error(this.#explain(`stdout is protocol only: ${violations.join("; ")}`));
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    try {
      for (;;) {
        await this.#resumed?.promise;
        const { value, done } = await this.#output.read();
        if (done) break;
        this.#log.add(decoder.decode(value, { stream: true }));
      }
    } catch (error) {
      this.#log.violations.push(`stdout cannot be read: ${(error as Error).message}`);
      await this.#output.cancel().catch(() => {});
    }
    this.#log.end();
  }

  async #readErrors(): Promise<void> {
    const decoder = new TextDecoder();
    for (;;) {
      const { value, done } = await this.#errors.read();
      if (done) break;
      this.#stderr += decoder.decode(value, { stream: true });
    }
  }

  async #waitForExit(): Promise<WeirExit> {
    const { code, signal } = await this.#child.status;
    let timer: ReturnType<typeof setTimeout> | undefined;
    // A process that inherited stdout can hold it open; dispose ends that one.
    const tooLate = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.#log.violations.push("stdout was still open after the exit");
        resolve();
      }, this.#timeoutMs);
    });
    const stopped = this.#resumed ? Promise.resolve() : this.#detached.promise;
    const drained = Promise.all([this.#reading, this.#readingErrors]);
    await Promise.race([drained, stopped, tooLate]);
    clearTimeout(timer);
    return this.#ended = { code, signal };
  }

  async #write(bytes: Uint8Array): Promise<void> {
    // Asked first: some systems let one more write into a pipe that nobody reads.
    const what = "Cannot send to weir: it reads no more";
    if (this.#ended) throw new Error(this.#explain(what));
    try {
      await this.#input.write(bytes);
    } catch (cause) {
      throw new Error(this.#explain(what), { cause });
    }
  }

  #wait<T>(
    take: () => T | undefined,
    { wanted, timeoutMs = this.#timeoutMs }: WaitOptions & { wanted: string },
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const attempt = () => {
        const taken = take();
        if (taken === undefined && !this.#log.ended) return false;
        clearTimeout(timer);
        if (taken !== undefined) resolve(taken);
        else reject(new Error(this.#explain(`Cannot get ${wanted}: weir's output ended before`)));
        return true;
      };
      const timer = setTimeout(() => {
        this.#log.stopWatching(attempt);
        reject(new Error(this.#explain(`Cannot get ${wanted}: none in ${timeoutMs} ms`)));
      }, timeoutMs);
      this.#log.watch(attempt);
    });
  }

  #explain(what: string): string {
    const exit = this.#ended ? `exit ${JSON.stringify(this.#ended)}` : "still running";
    return `${what}\n--- ${exit}; records:\n${this.#log}\n--- stderr:\n${this.#stderr}`;
  }
}

/** The program under test and its first arguments. */
export function defaultProgram(): string[] {
  const program = Deno.env.get("WEIR_PROGRAM");
  if (program) return [program];
  const root = new URL("../../", import.meta.url).pathname;
  return [Deno.execPath(), "run", "-A", "--config", `${root}deno.npm.json`, `${root}src/main.ts`];
}

/** An environment in which nothing of the real user is found; `folder` becomes HOME. */
export function cleanEnvironment(folder: string): Record<string, string> {
  const home = Deno.env.get("HOME") ?? "";
  const caches: Partial<Record<typeof Deno.build.os, string>> = {
    darwin: `${home}/Library/Caches/deno`,
    windows: `${Deno.env.get("LOCALAPPDATA")}\\deno`,
  };
  const systemRoot = Deno.env.get("SystemRoot");
  return {
    PATH: Deno.env.get("PATH") ?? "",
    HOME: folder,
    TMPDIR: `${folder}/tmp`,
    NO_COLOR: "1",
    DENO_DIR: Deno.env.get("DENO_DIR") ?? caches[Deno.build.os] ??
      `${Deno.env.get("XDG_CACHE_HOME") ?? `${home}/.cache`}/deno`,
    ...(systemRoot && { SystemRoot: systemRoot }), // Windows starts no process without it.
  };
}

function killGroup(pid: number): void {
  if (Deno.build.os === "windows") killProcess(pid);
  else killProcess(-pid);
}

function killProcess(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}
