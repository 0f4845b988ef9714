/**
 * A circle RPC process with a scripted endpoint, a home and a workspace, for tests of the whole program. Keeps what was sent, so that at
 * its end every record can be held against the dialect's grammar. It knows nothing of a single test.
 */

import { assertEquals } from "@std/assert";
import { checkCircleRecords } from "../fakes/grammar_circle.ts";
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

type Json = Record<string, unknown>;

export interface CircleOptions extends Omit<HomeOptions, "server">, ModelServerOptions {
  /** Options before the folder. */
  args?: readonly string[];
  env?: Record<string, string>;
  replies?: readonly Reply[];
  answer?: Answerer;
}

/** How a process is expected to end. */
export interface CircleEnd {
  code?: number;
  /** `midway` when the process may end in the middle of a turn. */
  state?: "ended" | "midway";
}

/**
 * Runs `test` with a started process. Afterwards the input is closed unless the test has ended the process itself; then the exit code, all
 * records and the requests that the endpoint saw are checked.
 */
export async function withCircle(
  options: CircleOptions,
  test: (circle: Circle) => Promise<void>,
): Promise<void> {
  await using server = startModelServer({ strict: options.strict, models: options.models });
  server.reply(...options.replies ?? []);
  if (options.answer) server.answer(options.answer);
  await using home = await prepareHome({ ...options, server });
  await using circle = new Circle({ server, home, env: options.env });
  await circle.start(options.args);
  await test(circle);
  await circle.end();
  assertEquals(server.complaints, []);
}

/** A client of one process at a time, always in the same home and workspace. */
export class Circle implements AsyncDisposable {
  readonly server: ModelServer;
  readonly home: PreparedHome;
  #env: Record<string, string> | undefined;
  #weir: WeirProcess | undefined;
  #sent: Json[] = [];
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
  async start(args: readonly string[] = [], options: { folder?: string } = {}): Promise<void> {
    await this.end();
    await this.#weir?.[Symbol.asyncDispose]();
    this.#sent = [];
    this.#ended = false;
    const folder = options.folder ?? this.workspace;
    this.#weir = await startWeir({
      args: ["--mode", "rpc", ...args, folder],
      home: this.home.home,
      env: this.#env,
    });
  }

  /** Closes the input, waits for the exit and checks all records. Once per process; later calls do nothing. */
  async end(expected: CircleEnd = {}): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    const { weir } = this;
    await weir.closeInput();
    const exit = await weir.waitForExit();
    assertEquals(exit, { code: expected.code ?? 0, signal: null }, weir.stderr);
    this.#check(expected.state ?? "ended");
  }

  /** Kills the process at once; only what it wrote until then is checked. */
  async kill(): Promise<void> {
    this.#ended = true;
    this.weir.kill("SIGKILL");
    await this.weir.waitForExit();
    checkCircleRecords(this.weir.records, { state: "midway" });
  }

  /** Writes a command, with an id of its own unless it has one, and returns the id. */
  async send(command: Json): Promise<unknown> {
    const id = Object.hasOwn(command, "id") ? command.id : `c${this.#nextId++}`;
    const full = { ...command, id };
    this.#sent.push(full);
    await this.weir.send(full);
    return id;
  }

  /** Writes exactly this text. `commands` are those in it, `{ type: "parse" }` for a line that is none. */
  async sendText(text: string | Uint8Array, commands: readonly Json[]): Promise<void> {
    this.#sent.push(...commands);
    await this.weir.sendRaw(text);
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

  /** The messages in the shape of `get_messages` (default) or `get_native_messages`. */
  async messages(type = "get_messages"): Promise<Json[]> {
    return (await this.data({ type })).messages as Json[];
  }

  /** Starts a turn while nothing runs; returns all records after the response, up to `agent_settled`. */
  async turn(message: string, more: Json = {}): Promise<WireRecord[]> {
    const data = await this.data({ type: "prompt", message, ...more });
    assertEquals(data, { disposition: "started" });
    return await this.weir.settled();
  }

  /** Sends a command that starts a turn and returns once the turn has begun. */
  async begin(message: string): Promise<void> {
    assertEquals(await this.data({ type: "prompt", message }), { disposition: "started" });
    await this.weir.next("turn_start");
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

  /** A file of the workspace; `undefined` when there is none. */
  async file(path: string): Promise<string | undefined> {
    try {
      return await Deno.readTextFile(`${this.workspace}/${path}`);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#weir?.[Symbol.asyncDispose]();
  }

  #check(state: "ended" | "midway"): void {
    checkCircleRecords(this.weir.records, {
      state,
      ...(state === "ended" && { commands: this.#sent }),
    });
  }
}

/** A reply that calls tools. */
export function calls(...toolCalls: readonly ReplyToolCall[]): Reply {
  return { toolCalls };
}

/** The types of records, in order. */
export function typesOf(records: readonly WireRecord[]): unknown[] {
  return records.map(({ type }) => type);
}

/** The records of one type. */
export function allOf(records: readonly WireRecord[], type: string): WireRecord[] {
  return records.filter((record) => record.type === type);
}

/** The output of the only result among the records. */
export function onlyOutput(records: readonly WireRecord[]): string {
  const results = allOf(records, "tool_result");
  assertEquals(results.length, 1, JSON.stringify(records));
  return String(results[0].output);
}

/** What the messages of a request say, as `role: content`. */
export function saidIn(request: RecordedRequest): string[] {
  return request.messages
    .filter(({ role }) => role !== "system")
    .map(({ role, content }) =>
      `${role}: ${typeof content === "string" ? content : JSON.stringify(content)}`
    );
}
