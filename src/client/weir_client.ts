/**
 * A client of Weir in the circle dialect: one method a command, events as something to loop over. Knows the wire and nothing of what is behind
 * it; a program to talk to is started by the host's code, which is loaded only then.
 */

import { encodeJson } from "../wire/encode_json.ts";
import { EventChannel, type EventReader } from "../wire/event_channel.ts";
import { type Line, LINE_TOO_LONG, LineStream } from "../wire/line_stream.ts";
import type { CircleCommand, CircleEvent, Delivery, Job } from "./circle_records.ts";
import { CommandRefusedError, ConnectionEndedError } from "./client_error.ts";
import type {
  ClientStartOptions,
  CommandData,
  ConnectOptions,
  ServerStreams,
} from "./client_options.ts";
import type { ProgramExit, ProgramProcess } from "./client_process.ts";

/** No string can be longer. */
const MAX_LINE_BYTES = 512 * 1024 * 1024;
/** After its input has ended, for what still runs. */
const CLOSE_MS = 10_000;
/** After a signal. Weir ends what it started within a second. */
const SIGNAL_MS = 3000;
/** Between a broken pipe and the end that explains it. */
const END_MS = 1000;

interface Pending {
  readonly command: string;
  readonly settle: PromiseWithResolvers<unknown>;
}

/**
 * A connection to a running Weir. Every command is a method that resolves to the `data` of its response, in the order in which responses
 * arrive and however slowly events are read; it rejects with `CommandRefusedError` when the response says so, and with
 * `ConnectionEndedError` when there will be none. The caller closes or disposes it.
 *
 * @example A turn over streams
 * ```ts
 * import { createDemoModel, serve, WeirClient } from "@weir/weir";
 *
 * const [up, down] = [new TransformStream(), new TransformStream()];
 * const served = serve(
 *   { readable: up.readable, writable: down.writable },
 *   { model: createDemoModel() },
 * );
 * const client = WeirClient.connect({ readable: down.readable, writable: up.writable });
 * const events = client.events();
 * await client.prompt("What is here?");
 * for await (const event of events) {
 *   if (event.type === "agent_settled") break;
 * }
 * const { text } = await client.getLastAssistantText();
 * if (!text.includes("What is here?")) throw new Error(text);
 * await client.close();
 * await served;
 * ```
 */
export class WeirClient implements AsyncDisposable {
  readonly #process: ProgramProcess | undefined;
  readonly #input: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #output: ReadableStreamDefaultReader<readonly Line[]>;
  readonly #onLine: ConnectOptions["onLine"];
  readonly #channel = new EventChannel<CircleEvent>();
  readonly #pending = new Map<number, Pending>();
  readonly #encoder = new TextEncoder();
  readonly #reading: Promise<void>;
  #lastId = 0;
  #isClosing = false;
  #isStopping = false;
  #closing: Promise<ProgramExit | undefined> | undefined;
  /** Makes the error for a command that will not be answered, once that is so. */
  #end: ((command: string) => ConnectionEndedError) | undefined;

  /** A client of a program that runs already, whose streams it takes over. */
  static connect(streams: ServerStreams, options: ConnectOptions = {}): WeirClient {
    return new WeirClient(streams, options, undefined);
  }

  /**
   * Starts the program and becomes its client. In Deno and Node only; needs the right to run it. Rejects when there is no such program; one that
   * starts and then gives up is told by the first command.
   */
  static async start(options: ClientStartOptions): Promise<WeirClient> {
    const { signal } = options;
    signal?.throwIfAborted();
    const { startProgram } = await import("../deno/start_program.ts");
    const args = ["--mode", "rpc", "--dialect", "circle", ...options.args ?? []];
    const process = await startProgram({ ...options, args });
    const client = new WeirClient(process, options, process);
    const stop = () => void client[Symbol.asyncDispose]();
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    void process.exited.then(() => signal?.removeEventListener("abort", stop));
    return client;
  }

  private constructor(
    streams: ServerStreams,
    options: ConnectOptions,
    process: ProgramProcess | undefined,
  ) {
    this.#process = process;
    this.#onLine = options.onLine;
    this.#input = streams.writable.getWriter();
    // Each write reports a broken pipe itself.
    this.#input.closed.catch(() => {});
    this.#output = streams.readable
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new LineStream({ maxLength: MAX_LINE_BYTES }))
      .getReader();
    this.#reading = this.#read();
  }

  /** What happens from now on, for one reader, who may be slow. Fails when the program dies; ends when it ends in order. */
  events(): EventReader<CircleEvent> {
    return this.#channel.read();
  }

  /** Starts a turn; while one runs, `streamingBehavior` says whether the message joins it or waits for a turn of its own. */
  prompt(
    message: string,
    options: { streamingBehavior?: "steer" | "followUp" } = {},
  ): Promise<Delivery> {
    return this.request({ type: "prompt", message, ...options });
  }

  /** Lets the running turn read a message before its next model request; starts a turn when none runs. */
  steer(message: string): Promise<Delivery> {
    return this.request({ type: "steer", message });
  }

  /** A turn after the running one; at once when none runs. */
  followUp(message: string): Promise<Delivery> {
    return this.request({ type: "follow_up", message });
  }

  /** Stops the running turn and empties both queues; resolves when it has stopped. */
  abort(): Promise<undefined> {
    return this.request({ type: "abort" });
  }

  /** Takes back what waits. */
  clearQueue(): Promise<CommandData<"clear_queue">> {
    return this.request({ type: "clear_queue" });
  }

  /** Starts an empty conversation in the same folder. */
  newSession(): Promise<CommandData<"new_session">> {
    return this.request({ type: "new_session" });
  }

  /** What the session is doing. */
  getState(): Promise<CommandData<"get_state">> {
    return this.request({ type: "get_state" });
  }

  /** The conversation, in the shape of LangChain's message dicts. */
  getMessages(): Promise<CommandData<"get_messages">> {
    return this.request({ type: "get_messages" });
  }

  /** The conversation, as Weir keeps it. */
  getNativeMessages(): Promise<CommandData<"get_native_messages">> {
    return this.request({ type: "get_native_messages" });
  }

  /** The last answer, `""` when there was none. */
  getLastAssistantText(): Promise<CommandData<"get_last_assistant_text">> {
    return this.request({ type: "get_last_assistant_text" });
  }

  /** Messages, tokens and costs of the conversation. */
  getSessionStats(): Promise<CommandData<"get_session_stats">> {
    return this.request({ type: "get_session_stats" });
  }

  /** Names the conversation. */
  setSessionName(name: string): Promise<undefined> {
    return this.request({ type: "set_session_name", name });
  }

  /** The ids that the provider lists. */
  getAvailableModels(): Promise<CommandData<"get_available_models">> {
    return this.request({ type: "get_available_models" });
  }

  /** Uses another model from now on: `provider/model`, or a model of the current provider. */
  setModel(modelId: string): Promise<CommandData<"set_model">> {
    return this.request({ type: "set_model", modelId });
  }

  /** How hard the model thinks from now on: `off minimal low medium high xhigh max`. */
  setThinkingLevel(level: string): Promise<CommandData<"set_thinking_level">> {
    return this.request({ type: "set_thinking_level", level });
  }

  /** Writes the conversation as a page; resolves to its path. */
  exportHtml(outputPath?: string): Promise<CommandData<"export_html">> {
    return this.request({ type: "export_html", ...(outputPath !== undefined && { outputPath }) });
  }

  /** Every background job of the process, those that ended too. */
  listJobs(): Promise<CommandData<"list_jobs">> {
    return this.request({ type: "list_jobs" });
  }

  /** Ends a background job; resolves to its final record. */
  async stopJob(jobId: string): Promise<Job> {
    return (await this.request({ type: "stop_job", jobId })).job;
  }

  /** Turns the commands that are being waited for into background jobs. */
  background(): Promise<CommandData<"background">> {
    return this.request({ type: "background" });
  }

  /** `full`: replies and output are told piece by piece too. */
  setEventDetail(detail: "standard" | "full"): Promise<CommandData<"set_event_detail">> {
    return this.request({ type: "set_event_detail", detail });
  }

  /** Sends any command; an `id` of its own is replaced. */
  request<Name extends CircleCommand["type"]>(
    command: CircleCommand & { readonly type: Name },
  ): Promise<CommandData<Name>> {
    if (this.#end !== undefined) return Promise.reject(this.#end(command.type));
    if (this.#isClosing) {
      const text = `Cannot ${words(command.type)}: the client is closed, start another one`;
      return Promise.reject(new ConnectionEndedError(text));
    }
    const id = ++this.#lastId;
    const settle = Promise.withResolvers<unknown>();
    this.#pending.set(id, { command: command.type, settle });
    const line = encodeJson({ ...command, id });
    this.#onLine?.(">", line);
    this.#input.write(this.#encoder.encode(`${line}\n`)).catch((cause) => this.#loseInput(cause));
    return settle.promise as Promise<CommandData<Name>>;
  }

  /**
   * Ends the input and waits until the program has ended by itself; after `timeoutMs` (10 s) with signals. Resolves to how it ended, or
   * `undefined` for one that this client did not start. Safe to call again.
   */
  close(options: { timeoutMs?: number } = {}): Promise<ProgramExit | undefined> {
    return this.#closing ??= this.#close(options.timeoutMs ?? CLOSE_MS);
  }

  /** Stops what runs, lets the program save, and waits for its end. Safe to call again, and while `close` waits. */
  async [Symbol.asyncDispose](): Promise<void> {
    // A second signal would keep the program from saving, so there is one, whoever sends it.
    if (this.#closing !== undefined && !this.#isStopping) this.#process?.kill("SIGTERM");
    this.#isStopping = true;
    await this.close({ timeoutMs: 0 });
  }

  async #close(timeoutMs: number): Promise<ProgramExit | undefined> {
    this.#isClosing = true;
    this.#input.close().catch(() => {});
    const process = this.#process;
    if (process === undefined) {
      if (await isLate(this.#reading, timeoutMs)) await this.#output.cancel().catch(() => {});
      await this.#reading;
      return undefined;
    }
    // The second SIGTERM makes Weir kill what it started and exit at once.
    for (const [ms, signal] of SIGNALS) {
      if (!await isLate(process.exited, ms ?? timeoutMs)) break;
      process.kill(signal);
    }
    const exit = await process.exited;
    // Something that the program left may hold the pipe.
    if (await isLate(this.#reading, END_MS)) await this.#output.cancel().catch(() => {});
    await this.#reading;
    return exit;
  }

  async #read(): Promise<void> {
    let failure: Error | undefined;
    try {
      while (true) {
        const { done, value: lines } = await this.#output.read();
        if (done) break;
        for (const line of lines) this.#take(line);
      }
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      await this.#output.cancel(failure).catch(() => {});
    }
    await this.#finish(failure);
  }

  #take(line: Line): void {
    if (line === LINE_TOO_LONG) throw new ConnectionEndedError(`${UNREADABLE} a line is too long`);
    this.#onLine?.("<", line);
    const record = parseRecord(line);
    if (record.type !== "response") return this.#channel.send(record as CircleEvent);
    const pending = this.#pending.get(record.id as number);
    if (pending === undefined) return;
    this.#pending.delete(record.id as number);
    const { command, settle } = pending;
    if (record.success === true) settle.resolve(record.data);
    else settle.reject(new CommandRefusedError(command, String(record.error)));
  }

  /** Nothing more comes: says so to everybody who waits, in the order in which they asked. */
  async #finish(failure: Error | undefined): Promise<void> {
    const process = this.#process;
    const exit = process && !await isLate(process.exited, END_MS)
      ? await process.exited
      : undefined;
    const reason = failure === undefined ? endText(exit) : failure.message;
    const stderr = process?.lastLines() ?? "";
    const ending = stderr === "" ? "" : `; the end of its stderr:\n${stderr}`;
    this.#end = (command) =>
      new ConnectionEndedError(`Cannot ${words(command)}: ${reason}${ending}`, {
        exit,
        cause: failure,
      });
    const isOrderly = failure === undefined &&
      (this.#isClosing || process === undefined || exit?.code === 0);
    this.#channel.close(isOrderly ? undefined : this.#end("read_events"));
    for (const { command, settle } of this.#pending.values()) settle.reject(this.#end(command));
    this.#pending.clear();
  }

  /** The program reads no more. Its end tells why; if it does not end, that is all there is to say. */
  async #loseInput(cause: unknown): Promise<void> {
    if (!await isLate(this.#reading, END_MS)) return;
    for (const [id, { command, settle }] of this.#pending) {
      this.#pending.delete(id);
      const text = `Cannot ${words(command)}: Weir reads no more, close the client`;
      settle.reject(new ConnectionEndedError(text, { cause }));
    }
  }
}

const UNREADABLE = "what Weir writes cannot be read:";
const SIGNALS: readonly (readonly [number | undefined, "SIGTERM" | "SIGKILL"])[] = [
  [undefined, "SIGTERM"],
  [SIGNAL_MS, "SIGTERM"],
  [SIGNAL_MS, "SIGKILL"],
];

function parseRecord(line: string): Record<string, unknown> {
  let record: unknown;
  try {
    record = JSON.parse(line);
  } catch {
    // Told below.
  }
  if (typeof record === "object" && record !== null && !Array.isArray(record)) {
    return record as Record<string, unknown>;
  }
  const shown = JSON.stringify(line.slice(0, 200));
  throw new ConnectionEndedError(`${UNREADABLE} ${shown} is no record, use --mode rpc`);
}

function endText(exit: ProgramExit | undefined): string {
  if (exit === undefined) return "Weir has closed its output";
  return exit.signal === undefined
    ? `Weir has ended with exit code ${exit.code}`
    : `Weir was ended by ${exit.signal}`;
}

/** `get_state` → `get state`. */
function words(command: string): string {
  return command.replaceAll("_", " ");
}

/** Whether a promise, which never rejects, is still open after that time. Leaves no timer. */
async function isLate(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => timer = setTimeout(() => resolve(true), ms));
  try {
    return await Promise.race([promise.then(() => false), late]);
  } finally {
    clearTimeout(timer);
  }
}
