/** One way to drive a process in any dialect: a prompt, its end, an abort. Knows what ends a turn in each, and no single test. */

import { assert, assertEquals } from "@std/assert";
import { judgeAcpRecord } from "../fakes/acp_schema.ts";
import { checkCircleRecords } from "../fakes/grammar_circle.ts";
import { checkNimletRecords } from "../fakes/grammar_nimlet.ts";
import { checkPiRecords } from "../fakes/grammar_pi.ts";
import type { PreparedHome } from "../fakes/prepare_home.ts";
import {
  defaultProgram,
  startWeir,
  type WeirProcess,
  type WireRecord,
} from "../fakes/weir_process.ts";
import { isEnd } from "../program/_with_nimlet.ts";

export const DIALECTS = ["circle", "nimlet", "pi", "acp"] as const;
export type DialectName = typeof DIALECTS[number];

/** How a turn ended: with an answer, stopped by the client, or with a failure. */
export type TurnEnd = "answer" | "aborted" | "error";

export interface DriveOptions {
  readonly dialect: DialectName;
  readonly home: PreparedHome;
  /** Options before the folder. */
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  readonly timeoutMs?: number;
  /** Memory for JavaScript's objects in MiB, so that what is kept shows before what nobody has collected yet. */
  readonly heapMiB?: number;
}

/** A started process; the caller disposes it. */
export async function drive(options: DriveOptions): Promise<Driver> {
  const { dialect, home, args = ["--yolo"], env } = options;
  const own = dialect === "acp"
    ? ["--mode", "acp", ...args]
    : dialect === "pi"
    ? ["--mode", "rpc", "--dialect", "pi", ...args.filter((arg) => arg !== "--yolo")]
    : ["--mode", "rpc", "--dialect", dialect, ...args, home.workspace];
  const weir = await startWeir({
    args: own,
    home: home.home,
    cwd: home.workspace,
    timeoutMs: options.timeoutMs ?? 30_000,
    ...(env && { env }),
    ...(options.heapMiB !== undefined && { program: programWithHeap(options.heapMiB) }),
  });
  const driver = new Driver(dialect, { weir, workspace: home.workspace });
  await driver.open();
  return driver;
}

/** An executable that was compiled takes no such option, and runs as it is. */
function programWithHeap(heapMiB: number): string[] {
  const [deno, ...rest] = defaultProgram();
  if (rest[0] !== "run") return [deno!, ...rest];
  return [deno!, "run", `--v8-flags=--max-old-space-size=${heapMiB}`, ...rest.slice(1)];
}

export class Driver implements AsyncDisposable {
  readonly dialect: DialectName;
  readonly weir: WeirProcess;
  readonly #workspace: string;
  readonly #ids: string[] = [];
  readonly #methods = new Map<string, string>();
  #sessionId = "";
  #nextId = 1;

  constructor(dialect: DialectName, options: { weir: WeirProcess; workspace: string }) {
    this.dialect = dialect;
    this.weir = options.weir;
    this.#workspace = options.workspace;
  }

  async open(): Promise<void> {
    if (this.dialect !== "acp") return;
    await this.#call("initialize", { protocolVersion: 1, clientCapabilities: {} });
    await this.#openSession();
  }

  async #openSession(): Promise<void> {
    const { result } = await this.#call("session/new", { cwd: this.#workspace, mcpServers: [] });
    this.#sessionId = String((result as { sessionId: string }).sessionId);
  }

  /** Sends a command without waiting; returns its id. */
  async send(command: Record<string, unknown>): Promise<string> {
    const id = `d${this.#nextId++}`;
    this.#ids.push(id);
    await this.weir.send({ ...command, id });
    return id;
  }

  /** Goes on with an empty conversation, in the dialects that have a way to it. */
  async startAnew(): Promise<void> {
    if (this.dialect === "nimlet") return;
    if (this.dialect !== "acp") {
      await this.weir.response(await this.send({ type: "new_session" }));
      return;
    }
    await this.#call("session/close", { sessionId: this.#sessionId });
    await this.#openSession();
  }

  /** Starts a turn; resolves to how it ended. */
  async prompt(text: string): Promise<() => Promise<TurnEnd>> {
    if (this.dialect === "acp") {
      const prompt = [{ type: "text", text }];
      const answer = this.#call("session/prompt", { sessionId: this.#sessionId, prompt });
      answer.catch(() => {});
      return async () => {
        const { result, error } = await answer;
        if (error !== undefined) return "error";
        return (result as { stopReason: string }).stopReason === "cancelled" ? "aborted" : "answer";
      };
    }
    const id = await this.send({ type: "prompt", message: text });
    const response = await this.weir.response(id);
    assert(response.success === true || response.ok === true, JSON.stringify(response));
    return () => this.#end();
  }

  /** Stops the turn; resolves when that is answered. */
  async abort(): Promise<void> {
    if (this.dialect === "acp") {
      const method = "session/cancel";
      return await this.weir.send({
        jsonrpc: "2.0",
        method,
        params: { sessionId: this.#sessionId },
      });
    }
    const type = this.dialect === "nimlet" ? "interrupt" : "abort";
    await this.weir.response(await this.send({ type }));
  }

  /** Ends the input, expects exit code 0, and holds all records against the grammar. */
  async finish(): Promise<void> {
    await this.weir.closeInput();
    assertEquals((await this.weir.waitForExit()).code, 0, this.weir.stderr);
    this.check();
  }

  /** Holds all records so far against the grammar; `midway` when a turn may still run. */
  check(state: "settled" | "midway" = "settled"): void {
    const { records } = this.weir;
    if (this.dialect === "circle" && state === "settled") checkCircleRecords(records);
    if (this.dialect === "nimlet" && state === "settled") {
      checkNimletRecords(records, { ids: this.#ids });
    }
    if (this.dialect === "pi") checkPiRecords(records, { state });
    if (this.dialect === "acp") {
      for (const record of records) {
        assertEquals(judgeAcpRecord(record, this.#methods), undefined, JSON.stringify(record));
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.weir[Symbol.asyncDispose]();
  }

  async #call(method: string, params: unknown): Promise<WireRecord> {
    const id = `d${this.#nextId++}`;
    this.#methods.set(JSON.stringify(id), method);
    await this.weir.send({ jsonrpc: "2.0", id, method, params });
    return await this.weir.response(id);
  }

  async #end(): Promise<TurnEnd> {
    if (this.dialect === "nimlet") {
      const { type, message } = (await this.weir.until(isEnd)).at(-1)!;
      return type === "run_end" ? "answer" : message === "Interrupted" ? "aborted" : "error";
    }
    const records = await this.weir.until("agent_settled");
    if (this.dialect === "pi") {
      if (records.at(-1)!.aborted) return "aborted";
      const end = records.findLast(({ type }) => type === "turn_end")!;
      return (end.message as { stopReason: string }).stopReason === "error" ? "error" : "answer";
    }
    const ends = records.filter(({ type }) => type === "turn_end" || type === "error");
    assertEquals(ends.length, 1, "one record ends a turn");
    return ends[0]!.type === "error" ? "error" : ends[0]!.aborted === true ? "aborted" : "answer";
  }
}
