/**
 * A nimlet RPC process with a scripted endpoint, a home and a workspace, for tests of the whole program. Keeps what was sent, so that at
 * its end every record can be held against the dialect's grammar. It knows nothing of a single test.
 */

import { assertEquals } from "@std/assert";
import { checkNimletRecords } from "../fakes/grammar_nimlet.ts";
import {
  type Answerer,
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from "../fakes/model_server.ts";
import { type HomeOptions, type PreparedHome, prepareHome } from "../fakes/prepare_home.ts";
import type { Reply, ReplyToolCall } from "../fakes/reply.ts";
import { startWeir, type WeirProcess, type WireRecord } from "../fakes/weir_process.ts";

export type { WireRecord } from "../fakes/weir_process.ts";

export type Json = Record<string, unknown>;

export interface NimletOptions extends Omit<HomeOptions, "server">, ModelServerOptions {
  /** Options before the folder; the session's id is `s1` unless they say otherwise. */
  args?: readonly string[];
  env?: Record<string, string>;
  replies?: readonly Reply[];
  answer?: Answerer;
  /** Changes the home before the start. */
  prepare?: (home: PreparedHome) => Promise<void>;
}

/**
 * Runs `test` with a started process. Afterwards the input is closed unless the test has ended the process itself; then the exit code, all
 * records and the requests that the endpoint saw are checked.
 */
export async function withNimlet(
  options: NimletOptions,
  test: (nimlet: Nimlet) => Promise<void>,
): Promise<void> {
  await using server = startModelServer({ strict: options.strict, models: options.models });
  server.reply(...options.replies ?? []);
  if (options.answer) server.answer(options.answer);
  await using home = await prepareHome({ ...options, server });
  await options.prepare?.(home);
  await using weir = await startWeir({
    args: [
      ...["--mode", "rpc", "--dialect", "nimlet"],
      ...options.args ?? ["--session-id", "s1"],
      home.workspace,
    ],
    home: home.home,
    env: options.env,
  });
  const nimlet = new Nimlet({ server, home, weir });
  await test(nimlet);
  await nimlet.end();
  assertEquals(server.complaints, []);
}

/** A client of one process. */
export class Nimlet {
  readonly server: ModelServer;
  readonly home: PreparedHome;
  readonly weir: WeirProcess;
  readonly #ids: string[] = [];
  #ended = false;
  #nextId = 1;

  constructor(options: { server: ModelServer; home: PreparedHome; weir: WeirProcess }) {
    this.server = options.server;
    this.home = options.home;
    this.weir = options.weir;
  }

  get workspace(): string {
    return this.home.workspace;
  }

  /** Closes the input, waits for the exit and checks all records. Later calls do nothing. */
  async end(expected: { code?: number } = {}): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    await this.weir.closeInput();
    const exit = await this.weir.waitForExit();
    assertEquals(exit, { code: expected.code ?? 0, signal: null }, this.weir.stderr);
    checkNimletRecords(this.weir.records, { ids: this.#ids });
  }

  /** The test has seen to the end of the process itself. */
  markEnded(): void {
    this.#ended = true;
  }

  /** Writes commands in one go, each with an id of its own unless it has one; returns the ids. */
  async send(...commands: Json[]): Promise<string[]> {
    const full = commands.map((command) => ({ id: `c${this.#nextId++}`, ...command }));
    const ids = full.map(({ id }) => id as string);
    this.#ids.push(...ids);
    await this.weir.sendRaw(full.map((command) => JSON.stringify(command) + "\n").join(""));
    return ids;
  }

  /** Writes exactly this text. `ids` are those that its responses will carry. */
  async sendText(text: string | Uint8Array, ids: readonly string[]): Promise<void> {
    this.#ids.push(...ids);
    await this.weir.sendRaw(text);
  }

  /** Sends a command and returns its response without what every response has. */
  async ask(command: Json): Promise<Json> {
    const [id] = await this.send(command);
    const { version: _version, type: _type, id: _id, ...rest } = await this.weir.response(id);
    return rest;
  }

  /** Starts a run and returns all records up to the one that ends it. */
  async run(message: string): Promise<WireRecord[]> {
    assertEquals(await this.ask({ type: "prompt", message }), { ok: true, state: "started" });
    return await this.weir.until(isEnd);
  }

  /** Starts a run and returns when its first request has been made. */
  async begin(message: string): Promise<void> {
    assertEquals(await this.ask({ type: "prompt", message }), { ok: true, state: "started" });
    await this.weir.next("step_start");
  }

  /** All logs of jobs, once one of them has this text and its command has ended. */
  async jobOutput(text: string): Promise<string> {
    for (;;) {
      const logs = await readAll(`${this.home.home}/jobs`);
      if (logs.includes(text)) return logs;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** A file of the workspace that a command may wait for. */
  async touch(path: string): Promise<void> {
    await Deno.writeTextFile(`${this.workspace}/${path}`, "");
  }
}

async function readAll(folder: string): Promise<string> {
  let text = "";
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    text += isDirectory ? await readAll(path) : await Deno.readTextFile(path);
  }
  return text;
}

/** Checks all records of a one-shot run. There nobody says that a run starts, so the grammar gets the answer that a client would have had. */
export function checkOneShotRecords(records: readonly Json[]): void {
  const started = { version: 1, type: "response", id: "", ok: true, state: "started" };
  checkNimletRecords(records.toSpliced(1, 0, started));
}

/** Whether a record ends a run; the soft stops do not. */
export function isEnd({ type, message }: WireRecord): boolean {
  return type === "run_end" ||
    type === "error" && message !== "The model stopped without a user-facing answer." &&
      message !== "Stopped after repeated output-token limits.";
}

/** The ids that the answers to these lines carry. */
export function idsOn(lines: string): string[] {
  return lines.split("\n").filter((line) => line.trim() !== "").map((line) => {
    try {
      const { id, type } = JSON.parse(line) as Record<string, unknown>;
      return typeof id === "string" && typeof type === "string" ? id : "";
    } catch {
      return "";
    }
  });
}

/** A reply that calls tools. */
export function calls(...toolCalls: readonly ReplyToolCall[]): Reply {
  return { toolCalls };
}

/** Output, then nothing until the file `go` is in the workspace. */
export function waitForGo(before = ""): ReplyToolCall {
  const command = `${before}while [ ! -e go ]; do sleep 0.02; done`;
  return { id: "c_1", name: "bash", args: { command, timeout: 30 } };
}

/** What kind of record each is: its type, with what tells records of one type apart. */
export function kindsOf(records: readonly WireRecord[]): string[] {
  return records.map((record) => {
    if (record.type === "message") return String(record.role);
    if (record.type === "queue") return `${record.action} ${record.depth}`;
    return String(record.type);
  });
}

/** The records of one type. */
export function allOf(records: readonly WireRecord[], type: string): WireRecord[] {
  return records.filter((record) => record.type === type);
}

/** What the messages of a request say, as `role: content`. */
export function saidIn(request: { messages: readonly Json[] }): string[] {
  return request.messages
    .filter(({ role }) => role !== "system")
    .map(({ role, content }) =>
      `${role}: ${typeof content === "string" ? content : JSON.stringify(content)}`
    );
}
