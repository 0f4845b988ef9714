/** The program as an editor sees it: a client of the acp dialect for tests, over the real process. Every record is checked against the schema. */

import { assert, assertEquals } from "@std/assert";
import { judgeAcpRecord } from "../fakes/acp_schema.ts";
import { type ModelServer, startModelServer } from "../fakes/model_server.ts";
import { type HomeOptions, type PreparedHome, prepareHome } from "../fakes/prepare_home.ts";
import {
  startWeir,
  type WeirExit,
  type WeirOptions,
  type WeirProcess,
  type WireRecord,
} from "../fakes/weir_process.ts";

export type Json = Record<string, unknown>;

/** Started, initialized unless a test wants to do it; the caller disposes it. */
export class AcpClient implements AsyncDisposable {
  readonly weir: WeirProcess;
  readonly #methods = new Map<string, string>();
  #lastId = 0;

  constructor(weir: WeirProcess) {
    this.weir = weir;
  }

  /** Sends a request and gives its id. */
  send(method: string, params: unknown = {}): string {
    const id = `c${++this.#lastId}`;
    this.#methods.set(JSON.stringify(id), method);
    void this.weir.send({ jsonrpc: "2.0", id, method, params });
    return id;
  }

  notify(method: string, params: unknown): Promise<void> {
    return this.weir.send({ jsonrpc: "2.0", method, params });
  }

  /** The whole answer. */
  answer(id: string): Promise<WireRecord> {
    return this.weir.response(id);
  }

  /** The result; fails when it is an error. */
  async result(id: string): Promise<Json> {
    const record = await this.answer(id);
    assert(record.result !== undefined, `expected a result: ${JSON.stringify(record)}`);
    return record.result as Json;
  }

  /** The error; fails when it is a result. */
  async error(id: string): Promise<{ code: number; message: string; data?: Json }> {
    const record = await this.answer(id);
    assert(record.error !== undefined, `expected an error: ${JSON.stringify(record)}`);
    return record.error as { code: number; message: string; data?: Json };
  }

  request(method: string, params: unknown = {}): Promise<Json> {
    return this.result(this.send(method, params));
  }

  refused(method: string, params: unknown = {}) {
    return this.error(this.send(method, params));
  }

  async initialize(clientCapabilities: Json = {}): Promise<Json> {
    return await this.request("initialize", { protocolVersion: 1, clientCapabilities });
  }

  /** A new session; its id. */
  async open(cwd: string, mcpServers: readonly Json[] = []): Promise<string> {
    const { sessionId } = await this.request("session/new", { cwd, mcpServers });
    return sessionId as string;
  }

  /** Sends a prompt and gives the id of the request. */
  prompt(sessionId: string, ...blocks: (string | Json)[]): string {
    const prompt = blocks.map((block) =>
      typeof block === "string" ? { type: "text", text: block } : block
    );
    return this.send("session/prompt", { sessionId, prompt });
  }

  /** The stop reason of a prompt. */
  async stopReason(id: string): Promise<unknown> {
    return (await this.result(id)).stopReason;
  }

  /** The next request of the program with this method. */
  async asked(method: string): Promise<{ id: number; params: Json }> {
    const record = await this.weir.next((record) =>
      record.method === method && Object.hasOwn(record, "id")
    );
    return { id: record.id as number, params: record.params as Json };
  }

  reply(id: number, result: unknown): Promise<void> {
    return this.weir.send({ jsonrpc: "2.0", id, result });
  }

  /** Answers the next permission request with an option. */
  async permit(optionId: string): Promise<Json> {
    const { id, params } = await this.asked("session/request_permission");
    await this.reply(id, { outcome: { outcome: "selected", optionId } });
    return params;
  }

  /** All updates of a session so far. */
  updates(sessionId: string): Json[] {
    return this.weir.records
      .filter(({ method }) => method === "session/update")
      .map(({ params }) => params as Json)
      .filter((params) => params.sessionId === sessionId)
      .map((params) => params.update as Json);
  }

  /** Waits for the next update of this kind that fits. */
  async update(kind: string, fits: (update: Json) => boolean = () => true): Promise<Json> {
    const record = await this.weir.next(({ method, params }) => {
      const update = (params as Json | undefined)?.update as Json | undefined;
      return method === "session/update" && update?.sessionUpdate === kind && fits(update);
    });
    return (record.params as Json).update as Json;
  }

  /** Text of all chunks of a kind. */
  text(sessionId: string, kind = "agent_message_chunk"): string {
    return this.updates(sessionId).filter(({ sessionUpdate }) => sessionUpdate === kind)
      .map(({ content }) => (content as Json).text).join("");
  }

  /** The states that a call of this title went through, as `pending`, `in_progress` and so on. */
  states(sessionId: string, title: string): unknown[] {
    const updates = this.updates(sessionId);
    const call = updates.find((update) => update.title === title);
    assert(call !== undefined, `no call is titled ${title}`);
    return updates.filter(({ toolCallId }) => toolCallId === call.toolCallId)
      .map(({ status }) => status).filter((status) => status !== undefined);
  }

  /** The last update of a call, the one with its result. */
  end(sessionId: string, title: string): Json {
    const updates = this.updates(sessionId);
    const call = updates.find((update) => update.title === title);
    assert(call !== undefined, `no call is titled ${title}`);
    return updates.findLast(({ toolCallId }) => toolCallId === call.toolCallId)!;
  }

  async close(): Promise<WeirExit> {
    await this.weir.closeInput();
    return await this.weir.waitForExit();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.weir[Symbol.asyncDispose]();
    for (const record of this.weir.records) {
      const problem = judgeAcpRecord(record, this.#methods);
      assertEquals(problem, undefined, `${problem}: ${JSON.stringify(record).slice(0, 2000)}`);
    }
  }
}

export interface AcpOptions extends Omit<HomeOptions, "server"> {
  args?: readonly string[];
  capabilities?: Json;
  /** False where the test sends `initialize` itself. */
  initialize?: boolean;
  env?: WeirOptions["env"];
}

export interface AcpPlace {
  readonly client: AcpClient;
  readonly server: ModelServer;
  readonly home: PreparedHome;
  readonly workspace: string;
  /** Another process with the same home. */
  start(options?: { args?: readonly string[]; capabilities?: Json }): Promise<AcpClient>;
}

/** Runs a test with a home, a scripted model and a client that is initialized; everything is gone afterwards. */
export async function withAcp(
  options: AcpOptions,
  test: (place: AcpPlace) => Promise<void>,
): Promise<void> {
  await using server = startModelServer();
  await using home = await prepareHome({ ...options, server });
  await using clients = new AsyncDisposableStack();
  const { args = [], capabilities = {}, initialize = true, env } = options;
  const start = async (more: { args?: readonly string[]; capabilities?: Json } = {}) => {
    const weir = await startWeir({
      args: ["--mode", "acp", ...(more.args ?? args)],
      home: home.home,
      ...(env === undefined ? {} : { env }),
    });
    const client = clients.use(new AcpClient(weir));
    if (initialize) await client.initialize(more.capabilities ?? capabilities);
    return client;
  };
  await test({ client: await start(), server, home, workspace: home.workspace, start });
  assertEquals(server.complaints, []);
}

/** Waits until a file has content; for what a child process writes. */
export async function waitForFile(path: string): Promise<string> {
  for (;;) {
    const text = await Deno.readTextFile(path).catch(() => "");
    if (text !== "") return text;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
