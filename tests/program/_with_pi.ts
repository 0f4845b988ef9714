/**
 * A pi RPC process with a scripted endpoint, a home and a workspace, for tests of the whole program. At its end every record is held
 * against the dialect's grammar. It knows nothing of a single test.
 */

import { assertEquals } from "@std/assert";
import { checkPiRecords } from "../fakes/grammar_pi.ts";
import {
  type Answerer,
  type ModelServer,
  type ModelServerOptions,
  type RecordedRequest,
  startModelServer,
} from "../fakes/model_server.ts";
import { type HomeOptions, type PreparedHome, prepareHome } from "../fakes/prepare_home.ts";
import type { Reply, ReplyToolCall } from "../fakes/reply.ts";
import { startWeir, type WeirProcess, type WireRecord } from "../fakes/weir_process.ts";

export type { WireRecord } from "../fakes/weir_process.ts";

export type Json = Record<string, unknown>;

export interface PiOptions extends Omit<HomeOptions, "server">, ModelServerOptions {
  args?: readonly string[];
  env?: Record<string, string>;
  replies?: readonly Reply[];
  answer?: Answerer;
}

/** How a process is expected to end. */
export interface PiEnd {
  code?: number;
  /** `midway` when the process may end in the middle of a run. */
  state?: "settled" | "midway";
}

/**
 * Runs `test` with a started process. Afterwards the input is closed unless the test has ended the process itself; then the exit code, all
 * records and the requests that the endpoint saw are checked.
 */
export async function withPi(options: PiOptions, test: (pi: Pi) => Promise<void>): Promise<void> {
  await using server = startModelServer({ strict: options.strict, models: options.models });
  server.reply(...options.replies ?? []);
  if (options.answer) server.answer(options.answer);
  await using home = await prepareHome({ ...options, server });
  await using pi = new Pi({ server, home, env: options.env });
  await pi.start(options.args);
  await test(pi);
  await pi.end();
  assertEquals(server.complaints, []);
}

/** A client of one process at a time, always in the same home and workspace. */
export class Pi implements AsyncDisposable {
  readonly server: ModelServer;
  readonly home: PreparedHome;
  #env: Record<string, string> | undefined;
  #weir: WeirProcess | undefined;
  #ended = true;
  #nextId = 1;

  constructor(options: { server: ModelServer; home: PreparedHome; env?: Record<string, string> }) {
    this.server = options.server;
    this.home = options.home;
    this.#env = options.env;
  }

  get weir(): WeirProcess {
    return this.#weir!;
  }

  get workspace(): string {
    return this.home.workspace;
  }

  /** Ends the process that runs and starts another one. */
  async start(args: readonly string[] = []): Promise<void> {
    await this.end();
    await this.#weir?.[Symbol.asyncDispose]();
    this.#ended = false;
    this.#weir = await startWeir({
      args: ["--mode", "rpc", "--dialect", "pi", ...args],
      home: this.home.home,
      cwd: this.workspace,
      env: this.#env,
    });
  }

  /** Closes the input, waits for the exit and checks all records. Once per process; later calls do nothing. */
  async end(expected: PiEnd = {}): Promise<void> {
    if (this.#ended) return;
    await this.weir.closeInput();
    await this.exit(expected);
  }

  /** Waits for the exit and checks all records. */
  async exit(expected: PiEnd = {}): Promise<void> {
    this.#ended = true;
    const exit = await this.weir.waitForExit();
    assertEquals(exit, { code: expected.code ?? 0, signal: null }, this.weir.stderr);
    checkPiRecords(this.weir.records, { state: expected.state ?? "settled" });
  }

  /** Kills the process at once; only what it wrote until then is checked. */
  async kill(): Promise<void> {
    this.#ended = true;
    this.weir.kill("SIGKILL");
    await this.weir.waitForExit();
    checkPiRecords(this.weir.records, { state: "midway" });
  }

  /** Writes a command, with an id of its own unless it has one, and returns the id. */
  async send(command: Json): Promise<unknown> {
    const id = Object.hasOwn(command, "id") ? command.id : `c${this.#nextId++}`;
    await this.weir.send({ ...command, id });
    return id;
  }

  /** Writes several commands in one go; returns their ids. */
  async sendAll(...commands: Json[]): Promise<unknown[]> {
    const full = commands.map((command) => ({ ...command, id: `c${this.#nextId++}` }));
    await this.weir.sendRaw(full.map((command) => JSON.stringify(command) + "\n").join(""));
    return full.map(({ id }) => id);
  }

  /** Sends a command and returns its whole response. */
  async ask(command: Json): Promise<WireRecord> {
    return await this.weir.response(await this.send(command));
  }

  /** Sends a command that has to succeed and returns its data. */
  async data(command: Json): Promise<Json> {
    const response = await this.ask(command);
    assertEquals(response.success, true, JSON.stringify(response));
    return response.data as Json;
  }

  /** Sends a command that has to fail and returns its error. */
  async error(command: Json): Promise<unknown> {
    const response = await this.ask(command);
    assertEquals(response.success, false, JSON.stringify(response));
    return response.error;
  }

  state(): Promise<Json> {
    return this.data({ type: "get_state" });
  }

  async messages(): Promise<Json[]> {
    return (await this.data({ type: "get_messages" })).messages as Json[];
  }

  async entries(since?: string): Promise<Json[]> {
    return (await this.data({ type: "get_entries", ...(since && { since }) })).entries as Json[];
  }

  /** Starts a run while nothing runs; returns all records after the response, up to `agent_settled`. */
  async run(message: string, more: Json = {}): Promise<WireRecord[]> {
    assertEquals(await this.data({ type: "prompt", message, ...more }), { disposition: "started" });
    return await this.weir.settled();
  }

  /** Starts a run and returns once its first request has arrived. */
  async begin(message: string): Promise<void> {
    const count = this.server.requests.length;
    assertEquals(await this.data({ type: "prompt", message }), { disposition: "started" });
    await this.server.waitForRequests(count + 1);
  }

  /** The `n`th model request of the server (1 is the first), also one that has not arrived yet. */
  async request(n: number): Promise<RecordedRequest> {
    await this.server.waitForRequests(n);
    return this.server.requests[n - 1];
  }

  /** The newest model request that has arrived. */
  get lastRequest(): RecordedRequest {
    return this.server.requests.at(-1)!;
  }

  async config(): Promise<string> {
    return await Deno.readTextFile(`${this.home.home}/config.jsonc`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#weir?.[Symbol.asyncDispose]();
  }
}

/** A reply that calls tools. */
export function calls(...toolCalls: readonly ReplyToolCall[]): Reply {
  return { toolCalls };
}

/** A scripted reply that waits until it is let go. */
export function held(reply: Reply = { text: "held" }): { reply: Reply; letGo(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { reply: { ...reply, gate: promise }, letGo: resolve };
}

/** The types of records, in order, without updates of messages. */
export function typesOf(records: readonly WireRecord[]): unknown[] {
  return records.map(({ type }) => type).filter((type) => type !== "message_update");
}

/** The records of one type. */
export function allOf(records: readonly WireRecord[], type: string): WireRecord[] {
  return records.filter((record) => record.type === type);
}

/** What a message says. */
export function textOf(message: unknown): string {
  const { content } = message as { content: { type: string; text?: string }[] };
  return content.map((block) => block.text ?? "").join("");
}

/** What the messages of a request say, as `role: content`. */
export function saidIn(request: RecordedRequest): string[] {
  return request.messages
    .filter(({ role }) => role !== "system")
    .map(({ role, content }) =>
      `${role}: ${typeof content === "string" ? content : JSON.stringify(content)}`
    );
}
