// A client of Weir in the circle dialect, as small as one can be: a child process, a line each way, responses found by their id.
import { TextLineStream } from "@std/streams/text-line-stream";

/** A line that Weir wrote. */
export type Record = { type: string } & { [key: string]: unknown };

export interface RpcClientOptions {
  /** Program and arguments. */
  command: readonly string[];
  cwd: URL;
  env: { [name: string]: string };
  /** Sees each line of both directions, without its line feed. */
  onLine(direction: ">" | "<", line: string): void;
  /** Ends every wait and the process. */
  signal: AbortSignal;
}

interface Wait {
  matches(record: Record): boolean;
  resolve(record: Record): void;
  reject(reason: unknown): void;
}

/** A started Weir. The caller disposes it, which kills what still runs. */
export class RpcClient implements AsyncDisposable {
  readonly #options: RpcClientOptions;
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #reading: Promise<void>;
  /** Records that nobody has asked for yet. */
  #records: Record[] = [];
  #waits: Wait[] = [];
  #failure: Error | undefined;
  #lastId = 0;

  constructor(options: RpcClientOptions) {
    this.#options = options;
    const [program, ...args] = options.command;
    this.#child = new Deno.Command(program, {
      args,
      cwd: options.cwd,
      env: options.env,
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
      signal: options.signal,
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#reading = this.#read();
    options.signal.addEventListener("abort", () => this.#fail(options.signal.reason));
  }

  /** Sends a command; resolves to its response. Rejects when Weir refuses it. */
  async request(command: Record): Promise<Record> {
    const id = ++this.#lastId;
    const line = JSON.stringify({ id, ...command });
    const response = this.#next((record) => record.type === "response" && record.id === id);
    this.#options.onLine(">", line);
    // When the process has gone, the end of its output says so to whoever waits.
    this.#input.write(new TextEncoder().encode(line + "\n")).catch(() => {});
    const record = await response;
    if (record.success !== true) throw new Error(`${command.type} failed: ${record.error}`);
    return record;
  }

  /** Resolves to the first event of these types that was not asked for before; earlier ones of other types stay. */
  event(...types: string[]): Promise<Record> {
    return this.#next((record) => types.includes(record.type));
  }

  /** Closes the input; resolves to the exit code when everything was read. */
  async close(): Promise<number> {
    await this.#input.close();
    await this.#reading;
    const { code } = await this.#child.status;
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.#reading;
    await this.#child.status;
  }

  #next(matches: (record: Record) => boolean): Promise<Record> {
    const index = this.#records.findIndex(matches);
    if (index >= 0) return Promise.resolve(this.#records.splice(index, 1)[0]);
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => this.#waits.push({ matches, resolve, reject }));
  }

  async #read(): Promise<void> {
    const lines = this.#child.stdout
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new TextLineStream());
    try {
      for await (const line of lines) {
        this.#options.onLine("<", line);
        this.#take(JSON.parse(line));
      }
      this.#fail(new Error("Weir ended before it had answered"));
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #take(record: Record): void {
    const index = this.#waits.findIndex((wait) => wait.matches(record));
    if (index < 0) this.#records.push(record);
    else this.#waits.splice(index, 1)[0].resolve(record);
  }

  /** The first failure wins. */
  #fail(failure: Error): void {
    this.#failure ??= failure;
    for (const wait of this.#waits.splice(0)) wait.reject(this.#failure);
  }
}
