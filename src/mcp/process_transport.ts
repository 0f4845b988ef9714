/**
 * A server that is a program: JSON-RPC messages as lines over its stdin and stdout. Knows no request and no tool.
 */

import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { Host, HostProcess, ProcessEnd } from "../host.ts";
import { LINE_TOO_LONG, LineStream, MAX_LINE_BYTES } from "../wire/line_stream.ts";

/** What a server that was told to end may take before it is killed. */
const GRACE_MS = 1000;
/** Between the end of its output and its exit, a program that ends by itself takes no longer. */
const EXIT_WAIT_MS = 200;

export interface ProcessTransportOptions {
  readonly host: Host;
  readonly argv: readonly [string, ...string[]];
  /** Where the program starts. */
  readonly folder: string;
  /** The whole environment of the program. */
  readonly environment: Readonly<Record<string, string>>;
  /** What a message looks like; `data` is absent for anything else. */
  readonly messageSchema: {
    safeParse(value: unknown): { readonly data?: JSONRPCMessage | undefined };
  };
  /** Called for the first line on stdout that is no message; later ones are passed over silently. */
  onJunk(): void;
}

/**
 * The SDK's transport over a process of the host. `start` throws `HostError` when there is no such program. Whatever ends the
 * connection, the process and everything it started is stopped: `close` resolves when nothing of it runs.
 */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: ProcessTransportOptions;
  #process: HostProcess | undefined;
  #input: WritableStreamDefaultWriter<Uint8Array> | undefined;
  #closing: Promise<void> | undefined;
  #hasJunk = false;
  #end: ProcessEnd | undefined;

  constructor(options: ProcessTransportOptions) {
    this.#options = options;
  }

  /** How the program ended by itself: `undefined` as long as it has not. */
  get end(): ProcessEnd | undefined {
    return this.#end;
  }

  /** The last lines that the program wrote to stderr. */
  get errorTail(): string {
    return this.#process?.errorTail() ?? "";
  }

  start(): Promise<void> {
    const { host, argv, folder, environment } = this.#options;
    if (host.processes === undefined) {
      throw new Error("no program can be started on this machine");
    }
    const started = host.processes.start({
      argv,
      folder,
      environment,
      stdin: "piped",
      stderr: "tail",
    });
    this.#process = started;
    this.#input = started.input!.getWriter();
    // A write tells of a broken pipe itself.
    this.#input.closed.catch(() => {});
    void started.exited.then((end) => {
      if (this.#closing === undefined) this.#end = end;
      void this.close();
    });
    void this.#read(started).then(() => this.#afterOutput(started));
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#input === undefined || this.#closing !== undefined) {
      throw new Error("the server has ended");
    }
    await this.#input.write(new TextEncoder().encode(JSON.stringify(message) + "\n"));
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  /** Lets a program that has closed its output say how it ended. */
  async #afterOutput({ exited }: HostProcess): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => timer = setTimeout(resolve, EXIT_WAIT_MS));
    await Promise.race([exited, late]);
    clearTimeout(timer);
    await this.close();
  }

  async #close(): Promise<void> {
    try {
      // The end of its input tells a server that it is no longer wanted; the signal follows at once.
      this.#input?.close().catch(() => {});
      await this.#process?.stop({ graceMs: GRACE_MS });
    } finally {
      this.onclose?.();
    }
  }

  /** Hands on every message until the output ends. Never rejects. */
  async #read(started: HostProcess): Promise<void> {
    const batches = started.output
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new LineStream({ maxLength: MAX_LINE_BYTES }));
    try {
      for await (const batch of batches) {
        for (const line of batch) {
          // An answer that nobody can hold would be waited for in vain.
          if (line === LINE_TOO_LONG) {
            throw new Error("the server wrote a line of more than 64 MiB");
          }
          this.#receive(line);
        }
      }
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #receive(line: string): void {
    const message = line.trim() === "" ? undefined : this.#parse(line);
    if (message !== undefined) {
      this.onmessage?.(message);
    } else if (line.trim() !== "" && !this.#hasJunk) {
      this.#hasJunk = true;
      this.#options.onJunk();
    }
  }

  #parse(line: string): JSONRPCMessage | undefined {
    try {
      return this.#options.messageSchema.safeParse(JSON.parse(line)).data;
    } catch {
      return undefined;
    }
  }
}
