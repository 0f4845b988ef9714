/**
 * Each dialect's own ways to say something to a turn, to take it back and to stop it, and what their answers promise about a message. Knows no
 * single test.
 */

import { assert } from "@std/assert";
import type { PreparedHome } from "../fakes/prepare_home.ts";
import { startWeir, type WeirProcess, type WireRecord } from "../fakes/weir_process.ts";
import type { DialectName } from "./_drive.ts";

/** The ways to say something; not every dialect has all. */
export type Way = "prompt" | "prompt as steer" | "prompt as follow-up" | "steer" | "follow-up";

/** What has become of messages: those that the model must have read once, those it may, and those it must not have. */
export interface Fates {
  readonly must: Set<string>;
  readonly may: Set<string>;
  readonly not: Set<string>;
}

export interface Talker extends AsyncDisposable {
  readonly weir: WeirProcess;
  readonly ways: readonly Way[];
  readonly fates: Fates;
  /** Resolves when it is answered, in acp when a turn that reads it has ended. */
  say(way: Way, message: string): Promise<void>;
  /** Takes back what waits; in acp one prompt. */
  takeBack(): Promise<void>;
  stop(): Promise<void>;
  /** Resolves when nothing runs and nothing waits. */
  idle(): Promise<void>;
}

/** A started process; the caller disposes it. */
export async function startTalker(dialect: DialectName, home: PreparedHome): Promise<Talker> {
  const folder = dialect === "circle" || dialect === "nimlet" ? [home.workspace] : [];
  const weir = await startWeir({
    args: ["--mode", "rpc", "--dialect", dialect, ...folder],
    home: home.home,
    cwd: home.workspace,
    timeoutMs: 60_000,
  });
  if (dialect !== "acp") return new LineTalker(weir, dialect);
  const talker = new AcpTalker(weir);
  await talker.open(home.workspace);
  return talker;
}

abstract class BaseTalker implements Talker {
  abstract readonly ways: readonly Way[];
  readonly fates: Fates = { must: new Set(), may: new Set(), not: new Set() };
  /** Grows with each stop, so that a message knows whether one came after it. */
  protected stops = 0;
  /** Messages that wait, or did a moment ago: where a stop drops what waits, it may have hit them. */
  protected readonly waiting = new Set<string>();

  constructor(readonly weir: WeirProcess) {}

  abstract say(way: Way, message: string): Promise<void>;
  abstract takeBack(): Promise<void>;
  abstract stop(): Promise<void>;
  abstract idle(): Promise<void>;

  async [Symbol.asyncDispose](): Promise<void> {
    await this.weir[Symbol.asyncDispose]();
  }

  /** Nobody knows any more whether the model reads what waits now. */
  protected dropWaiting(): void {
    this.stops++;
    for (const message of this.waiting) {
      if (this.fates.must.delete(message)) this.fates.may.add(message);
    }
    this.waiting.clear();
  }
}

const LINE_COMMANDS: Record<Way, Record<string, unknown>> = {
  "prompt": { type: "prompt" },
  "prompt as steer": { type: "prompt", streamingBehavior: "steer" },
  "prompt as follow-up": { type: "prompt", streamingBehavior: "followUp" },
  "steer": { type: "steer" },
  "follow-up": { type: "follow_up" },
};

/** The dialects whose commands have a `type`. */
class LineTalker extends BaseTalker {
  readonly ways = Object.keys(LINE_COMMANDS) as Way[];
  readonly #dialect: DialectName;
  #nextId = 1;

  constructor(weir: WeirProcess, dialect: DialectName) {
    super(weir);
    this.#dialect = dialect;
  }

  async say(way: Way, message: string): Promise<void> {
    const stops = this.stops;
    const answer = await this.#ask({ ...LINE_COMMANDS[way], message });
    const isTaken = answer.success === true || answer.ok === true;
    const { disposition } = (answer.data ?? {}) as { disposition?: unknown };
    const isWaiting = this.#dialect === "circle" && disposition !== "started";
    const mayBeDropped = isWaiting && this.stops !== stops;
    if (isWaiting && !mayBeDropped) this.waiting.add(message);
    this.fates[!isTaken ? "not" : mayBeDropped ? "may" : "must"].add(message);
  }

  async takeBack(): Promise<void> {
    const answer = await this.#ask({ type: "clear_queue" });
    const { steering, followUp, follow_up } = (answer.data ?? answer) as Record<string, string[]>;
    for (const message of [...steering!, ...(followUp ?? follow_up)!]) {
      this.fates.must.delete(message);
      this.fates.may.delete(message);
      this.fates.not.add(message);
    }
  }

  async stop(): Promise<void> {
    this.dropWaiting();
    const answer = await this.#ask({ type: this.#dialect === "nimlet" ? "interrupt" : "abort" });
    assert(answer.success === true || answer.ok === true, JSON.stringify(answer));
  }

  async idle(): Promise<void> {
    for (;;) {
      const answer = await this.#ask({ type: "get_state" });
      const state = (answer.data ?? answer) as Record<string, unknown>;
      const isBusy = state.isStreaming ?? state.busy;
      const waiting = Number(state.pendingMessageCount ?? state.queued);
      if (!isBusy && waiting === 0) return this.waiting.clear();
      // Here what waits is read with the next prompt only.
      if (!isBusy && this.#dialect === "pi") await this.say("prompt", `next ${this.#nextId}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  async #ask(command: Record<string, unknown>): Promise<WireRecord> {
    return await this.weir.request({ id: `t${this.#nextId++}`, ...command });
  }
}

class AcpTalker extends BaseTalker {
  readonly ways: readonly Way[] = ["prompt", "steer"];
  readonly #open = new Map<string, Promise<void>>();
  #sessionId = "";
  #nextId = 1;

  async open(cwd: string): Promise<void> {
    await this.#call("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const { result } = await this.#call("session/new", { cwd, mcpServers: [] });
    this.#sessionId = (result as { sessionId: string }).sessionId;
  }

  async say(way: Way, message: string): Promise<void> {
    const stops = this.stops;
    const params = { sessionId: this.#sessionId, prompt: [{ type: "text", text: message }] };
    const method = way === "prompt" ? "session/prompt" : "_weir/steer";
    const id = `t${this.#nextId++}`;
    const said = this.#call(method, params, id).then(({ result, error }) => {
      const { stopReason } = (result ?? {}) as { stopReason?: string };
      const isSure = way === "prompt" ? stopReason === "end_turn" : this.stops === stops;
      this.fates[error !== undefined ? "not" : isSure ? "must" : "may"].add(message);
      if (way === "steer" && isSure && error === undefined) this.waiting.add(message);
      this.#open.delete(id);
    });
    if (way === "prompt") this.#open.set(id, said);
    await said;
  }

  async takeBack(): Promise<void> {
    const requestId = [...this.#open.keys()].at(-1);
    if (requestId !== undefined) await this.#stop("$/cancel_request", { requestId });
  }

  async stop(): Promise<void> {
    await this.#stop("session/cancel", { sessionId: this.#sessionId });
  }

  async idle(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open.values());
    this.waiting.clear();
  }

  async #stop(method: string, params: Record<string, unknown>): Promise<void> {
    this.dropWaiting();
    await this.weir.send({ jsonrpc: "2.0", method, params });
  }

  async #call(method: string, params: unknown, id = `t${this.#nextId++}`): Promise<WireRecord> {
    await this.weir.send({ jsonrpc: "2.0", id, method, params });
    return await this.weir.response(id);
  }
}
