/**
 * The joint of an ACP connection: requests, notifications and answers of the client go in; answers, updates and our own requests come out, in
 * the order in which things happen. Loads nothing of a session before one is wanted.
 */

import type { EndCause, HubEnd } from "../../session/command.ts";
import type { SeatKeeper } from "../../session/seats.ts";
import { PendingCalls } from "../../wire/pending_calls.ts";
import { RecordQueue } from "../../session/record_queue.ts";
import { errorText } from "../../errors.ts";
import { ClientWatch } from "../../session/client_watch.ts";
import type { AcpSession } from "./acp_session.ts";
import { describeAgent } from "./describe_agent.ts";
import { weighRpc } from "./encode.ts";
import { type Method, type MethodContext, METHODS } from "./methods.ts";
import type { PermissionAccess } from "./permissions.ts";
import { type ClientAbilities, readInitialize, readParams, readText } from "./read_params.ts";
import {
  INTERNAL_ERROR,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  NOT_FOUND,
  REQUEST_CANCELLED,
  RpcError,
  type RpcId,
  type RpcInput,
  type RpcOutput,
} from "./rpc.ts";
import { toRpcError } from "./seat_errors.ts";

/** Bytes, about, that may wait to be written before producers wait. */
const QUEUE_LIMIT = 6 * 1024 * 1024;
const BATCH_WEIGHT = 64 * 1024;
/** At the end, what sessions that are being opened may still take. */
const LAST_OPENING_MS = 3000;

export interface ConnectionOptions {
  readonly keeper: SeatKeeper;
  readonly verbose: boolean;
  /** Tells when the client is gone although nothing is written to it; used while a request is open in silence. */
  readonly watchClient?: (onGone: () => void) => Disposable;
  warn(line: string): void;
}

/** A request that is not answered yet. */
interface OpenRequest {
  readonly id: RpcId;
  readonly stopper: AbortController;
}

export class AcpConnection implements MethodContext {
  readonly #options: ConnectionOptions;
  readonly #queue: RecordQueue<RpcOutput>;
  readonly #ended = Promise.withResolvers<HubEnd>();
  readonly #open = new Map<string, OpenRequest>();
  readonly #sessions = new Map<string, AcpSession>();
  /** What later requests for the same session wait for. */
  readonly #gates = new Map<string, Promise<void>>();
  readonly #tasks = new Set<Promise<void>>();
  readonly calls: PendingCalls;
  readonly access: PermissionAccess = { isRefused: false };
  readonly #clientWatch: ClientWatch | undefined;
  #abilities: ClientAbilities | undefined;
  #endCause: EndCause | undefined;
  #stopInput: (reason: unknown) => void = () => {};
  /** The client's messages. Closing it is the end of input; so is a read error. */
  readonly writable: WritableStream<readonly RpcInput[]>;
  /** Our messages. Cancelling it says that the client has gone. */
  readonly readable: ReadableStream<readonly RpcOutput[]>;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#queue = new RecordQueue({
      limit: QUEUE_LIMIT,
      batchWeight: BATCH_WEIGHT,
      onCancel: (reason) => this.clientGone(reason),
    });
    const { watchClient } = options;
    this.#clientWatch = watchClient && new ClientWatch({
      watch: () => watchClient(() => this.clientGone(new Error("nobody reads the output"))),
      isWorking: () => this.#open.size > 0,
    });
    this.readable = this.#queue.readable;
    this.calls = new PendingCalls({ send: (call) => this.#push({ jsonrpc: "2.0", ...call }) });
    this.writable = new WritableStream<readonly RpcInput[]>({
      start: (controller) => {
        this.#stopInput = (reason) => controller.error(reason);
      },
      write: async (batch) => {
        for (const input of batch) {
          this.#take(input);
          const room = this.room();
          if (room !== undefined) await room;
        }
      },
      close: () => this.#end("input"),
      abort: (reason) => {
        this.#options.warn(`weir: the input cannot be read: ${errorText(reason)}`);
        return this.#end("input");
      },
    }, { highWaterMark: 1 });
  }

  /** Resolves when the last record is in the queue and everything is saved. Never rejects. */
  get ended(): Promise<HubEnd> {
    return this.#ended.promise;
  }

  /** The client reads no more: stops what runs and ends. */
  clientGone(_reason: unknown): void {
    void this.#end("client_gone");
  }

  /** Stops what runs and ends, after a signal. */
  stop(cause: "signal" | "shutdown"): void {
    void this.#end(cause);
  }

  get keeper(): SeatKeeper {
    return this.#options.keeper;
  }

  get isEnding(): boolean {
    return this.#endCause !== undefined;
  }

  get abilities(): ClientAbilities {
    if (this.#abilities === undefined) throw new Error("the connection is not initialized");
    return this.#abilities;
  }

  /** The session with this id; throws the error for one that is not open. */
  session(id: string): AcpSession {
    const session = this.#sessions.get(id);
    if (session !== undefined) return session;
    throw new RpcError(NOT_FOUND, `There is no open session ${id.slice(0, 100)}`, {
      sessionId: id.slice(0, 200),
    });
  }

  findSession(id: string): AcpSession | undefined {
    return this.#sessions.get(id);
  }

  addSession(session: AcpSession): void {
    this.#sessions.set(session.id, session);
  }

  removeSession(id: string): void {
    this.#sessions.delete(id);
  }

  notify(method: string, params: object): void {
    this.#push({ jsonrpc: "2.0", method, params });
  }

  answer(id: RpcId, result: object): void {
    this.#open.delete(keyOf(id));
    this.#push({ jsonrpc: "2.0", id, result });
  }

  refuse(id: RpcId, error: RpcError): void {
    this.#open.delete(keyOf(id));
    this.#pushError(id, error);
  }

  room(): Promise<void> | undefined {
    return this.#queue.ready();
  }

  #push(message: RpcOutput): void {
    this.#queue.push(message, weighRpc(message));
    this.#clientWatch?.written();
  }

  #pushError(id: RpcId, error: RpcError): void {
    this.#push({ jsonrpc: "2.0", id, error: error.toJSON() });
  }

  #take(input: RpcInput): void {
    switch (input.kind) {
      case "invalid":
        return this.#pushError(input.id, input.error);
      case "request":
        return this.#takeRequest(input);
      case "notification":
        return this.#takeNotification(input);
      case "response":
        return this.#takeResponse(input);
    }
  }

  #takeResponse(input: RpcInput & { kind: "response" }): void {
    if (!input.isWhole && !this.calls.has(input.id)) {
      const id = typeof input.id === "string" || Number.isSafeInteger(input.id)
        ? input.id as RpcId
        : null;
      return this.#pushError(id, new RpcError(INVALID_REQUEST, "Expected a method or an answer"));
    }
    const { error, isWhole, result } = input;
    this.calls.settle(
      input.id,
      error !== undefined
        ? { kind: "error", ...error }
        : isWhole
        ? { kind: "result", value: result }
        : { kind: "error", code: undefined, message: "the answer has no result" },
    );
  }

  #takeNotification({ method, params }: RpcInput & { kind: "notification" }): void {
    try {
      if (method === "session/cancel") return this.#cancelSession(readParams(params));
      if (method === "$/cancel_request") return this.#cancelRequest(readParams(params).requestId);
      this.#note(`the notification ${method} is dropped: there is none of this name`);
    } catch (error) {
      this.#note(`the notification ${method} is dropped: ${errorText(error)}`);
    }
  }

  #note(text: string): void {
    if (this.#options.verbose) {
      this.#options.warn(`weir: ${text.replace(/\s+/g, " ").slice(0, 300)}`);
    }
  }

  #cancelSession(params: Readonly<Record<string, unknown>>): void {
    const id = readText(params, "sessionId");
    const gate = this.#gates.get(id);
    if (gate === undefined) this.#sessions.get(id)?.cancel();
    else this.#gate(id, () => this.#sessions.get(id)?.cancel());
  }

  #cancelRequest(requestId: unknown): void {
    if (typeof requestId !== "string" && typeof requestId !== "number" && requestId !== null) {
      return;
    }
    for (const session of this.#sessions.values()) {
      if (session.cancelRequest(requestId)) return;
    }
    this.#open.get(keyOf(requestId))?.stopper.abort(
      new RpcError(REQUEST_CANCELLED, "The request was cancelled"),
    );
  }

  #takeRequest({ id, method: name, params }: RpcInput & { kind: "request" }): void {
    const key = keyOf(id);
    if (this.#open.has(key)) {
      const text = `A request with the id ${key.slice(0, 100)} is not answered yet`;
      return this.#pushError(null, new RpcError(INVALID_REQUEST, text));
    }
    const request: OpenRequest = { id, stopper: new AbortController() };
    this.#open.set(key, request);
    try {
      if (name === "initialize") return this.#initialize(id, params);
      const method = this.#findMethod(name);
      if (name === "session/prompt") this.#clientWatch?.workBegins();
      if (this.#abilities === undefined) {
        throw new RpcError(INVALID_REQUEST, "initialize has to be the first request");
      }
      if (method === undefined) {
        this.#cancelSession(readParams(params));
        return this.answer(id, {});
      }
      const work = method.read(readParams(params), id);
      const { sessionId } = work;
      const run = () => work.run(this, request.stopper.signal);
      if (sessionId === undefined) return this.#start(request, run);
      if (work.isLong || this.#gates.has(sessionId)) {
        return this.#gate(sessionId, () => this.#carryOut(request, run));
      }
      this.#start(request, run);
    } catch (error) {
      this.#fail(request, error);
    }
  }

  /** `undefined` for the one notification that may come as a request. */
  #findMethod(name: string): Method | undefined {
    if (name === "session/cancel") return undefined;
    const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
    if (method === undefined || (method.needsStore && !this.keeper.isStored)) {
      throw new RpcError(METHOD_NOT_FOUND, `There is no method ${name.slice(0, 100)}`);
    }
    return method;
  }

  #initialize(id: RpcId, params: unknown): void {
    if (this.#abilities !== undefined) {
      throw new RpcError(INVALID_REQUEST, "The connection is initialized already");
    }
    this.#abilities = readInitialize(readParams(params));
    const { isStored } = this.keeper;
    this.answer(id, describeAgent({ isStored, abilities: this.#abilities }));
  }

  #start(request: OpenRequest, run: () => Promise<void> | void): void {
    const running = run();
    if (running === undefined) return;
    this.#addTask(running.catch((error) => this.#fail(request, error)));
  }

  async #carryOut(request: OpenRequest, run: () => Promise<void> | void): Promise<void> {
    try {
      request.stopper.signal.throwIfAborted();
      await run();
    } catch (error) {
      this.#fail(request, error);
    }
  }

  /** Runs the work behind everything that concerns the same session. It never rejects. */
  #gate(sessionId: string, work: () => Promise<void> | void): void {
    const before = this.#gates.get(sessionId);
    const run = async () => {
      await before;
      await work();
    };
    const task: Promise<void> = run().finally(() => {
      if (this.#gates.get(sessionId) === task) this.#gates.delete(sessionId);
    });
    this.#gates.set(sessionId, task);
    this.#addTask(task);
  }

  #addTask(task: Promise<void>): void {
    this.#tasks.add(task);
    void task.finally(() => this.#tasks.delete(task));
  }

  #fail({ id }: OpenRequest, error: unknown): void {
    const known = error instanceof RpcError ? error : toRpcError(error);
    if (known === undefined) {
      const detail = error instanceof Error ? error.stack ?? error.message : String(error);
      this.#options.warn(`weir: ${detail}`);
    }
    this.refuse(id, known ?? new RpcError(INTERNAL_ERROR, "Internal error"));
  }

  /** Stops everything, answers what is open, saves. The first cause counts, unless a signal follows. */
  async #end(cause: EndCause): Promise<void> {
    if (this.#endCause !== undefined) {
      if (cause === "signal") this.#endCause = cause;
      return;
    }
    this.#endCause = cause;
    using _watch = this.#clientWatch;
    this.calls.close();
    for (const session of this.#sessions.values()) session.cancel();
    const closing = [...this.#sessions.values()].map((session) => session.close());
    const timer = setTimeout(() => {
      for (const { stopper } of this.#open.values()) stopper.abort(closedError());
    }, LAST_OPENING_MS);
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
    clearTimeout(timer);
    await Promise.all(closing);
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
    this.#queue.close();
    this.#stopInput(new Error("the connection is over"));
    this.#ended.resolve({ cause: this.#endCause, success: true, answered: false });
  }
}

function closedError(): RpcError {
  return new RpcError(REQUEST_CANCELLED, "The connection is over");
}

function keyOf(id: RpcId): string {
  return JSON.stringify(id);
}
