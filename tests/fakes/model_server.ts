/**
 * A scripted OpenAI-compatible endpoint for tests: Chat Completions, Responses and the list of
 * models, over real HTTP. It knows nothing of Weir.
 */

import { chatCompletion, chatFrames } from "./_chat_reply.ts";
import { checkChatRequest, checkResponsesRequest } from "./_check_request.ts";
import { HttpConnection, type HttpRequest } from "./_http_connection.ts";
import { responsesFrames, responsesResponse } from "./_responses_reply.ts";
import { delay, rawFrames, sendStream, sendWhole, waitFor } from "./_send_reply.ts";
import type { Reply } from "./reply.ts";

/** A request as it arrived. */
export interface RecordedRequest {
  path: string;
  method: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** The parsed JSON; `{}` when there was none. */
  body: Record<string, unknown>;
  /** `body.messages` or `body.input` when it is a list, otherwise `[]`. */
  messages: Record<string, unknown>[];
}

/** Chooses the reply to the `n`th model request (1 is the first). */
export type Answerer = (request: RecordedRequest, n: number) => Reply | Promise<Reply>;

/** How a model server begins; everything can be changed later. */
export interface ModelServerOptions {
  /** Refuse malformed requests with 400, as strict endpoints do; default true. */
  strict?: boolean;
  /** What `GET /v1/models` lists, or a reply with `status` (and `body`) instead; default `test-model`. */
  models?: readonly string[] | Reply;
}

/** Starts a server on 127.0.0.1 and a free port. The caller disposes it. */
export function startModelServer(options: ModelServerOptions = {}): ModelServer {
  return new ModelServer(options);
}

/** A running server; disposing it closes all connections, also in the middle of an answer. */
export class ModelServer implements AsyncDisposable {
  /** Every request, in the order of arrival. */
  readonly requests: RecordedRequest[] = [];
  /** Those that ask for the list of models: a program may ask for it beside anything else. */
  readonly listRequests: RecordedRequest[] = [];
  /** Why requests were refused: malformed ones and those that the script has no reply for. */
  readonly complaints: string[] = [];
  strict: boolean;
  models: readonly string[] | Reply;
  #aborted = 0;
  #taken = 0;
  #modelRequests = 0;
  #script: Reply[] = [];
  #answerer: Answerer | undefined;
  #listener: Deno.TcpListener;
  #connections = new Map<HttpConnection, Promise<void>>();
  #accepting: Promise<void>;
  #waiters = new Set<() => void>();
  #disposed = new AbortController();

  constructor(options: ModelServerOptions) {
    this.strict = options.strict ?? true;
    this.models = options.models ?? ["test-model"];
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.#accepting = this.#accept();
  }

  /** The server without a path. */
  get origin(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}`;
  }

  /** The base URL for clients, ending in `/v1`. */
  get url(): string {
    return `${this.origin}/v1`;
  }

  /** How many clients went away during an answer. */
  get aborted(): number {
    return this.#aborted;
  }

  /** Scripted replies that were not used yet. */
  get unused(): number {
    return this.#script.length;
  }

  /** Adds replies to the script; each answers one model request. */
  reply(...replies: Reply[]): void {
    this.#script.push(...replies);
  }

  /** Lets a function choose replies whenever the script is empty. */
  answer(answerer: Answerer): void {
    this.#answerer = answerer;
  }

  /** The next request that no `nextRequest()` has returned. */
  async nextRequest(options: { timeoutMs?: number } = {}): Promise<RecordedRequest> {
    const index = this.#taken++;
    await this.waitForRequests(index + 1, options);
    return this.requests[index];
  }

  /** Ends when `count` requests have arrived since the start; rejects after `timeoutMs` (15000). */
  async waitForRequests(
    count: number,
    options: { timeoutMs?: number } = {},
  ): Promise<RecordedRequest[]> {
    const state = () => `${this.requests.length} of ${count} requests arrived`;
    await this.#until(() => this.requests.length >= count, { ...options, state });
    return this.requests.slice(0, count);
  }

  /** Ends when the list of models was asked for `count` times; rejects after `timeoutMs` (15000). */
  async waitForListRequests(count: number, options: { timeoutMs?: number } = {}): Promise<void> {
    const state = () => `${this.listRequests.length} of ${count} requests for a list arrived`;
    await this.#until(() => this.listRequests.length >= count, { ...options, state });
  }

  /** Ends when `count` clients have gone away during an answer; rejects after `timeoutMs` (15000). */
  async waitForAborted(count: number, options: { timeoutMs?: number } = {}): Promise<void> {
    const state = () => `${this.#aborted} of ${count} answers were aborted`;
    await this.#until(() => this.#aborted >= count, { ...options, state });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#disposed.signal.aborted) {
      this.#disposed.abort(new Error("Cannot wait for the model server: it was disposed"));
      this.#listener.close();
    }
    for (const connection of this.#connections.keys()) connection.close();
    await Promise.all([this.#accepting, ...this.#connections.values()]);
  }

  async #accept(): Promise<void> {
    for await (const conn of this.#listener) {
      const connection = new HttpConnection(conn);
      const serving = this.#serve(connection).finally(() => {
        this.#connections.delete(connection);
        connection.close();
      });
      this.#connections.set(connection, serving);
    }
  }

  async #serve(connection: HttpConnection): Promise<void> {
    for (;;) {
      const request = await connection.readRequest().catch((error: Error) => {
        this.complaints.push(error.message);
      });
      if (!request) return;
      connection.watch();
      try {
        await this.#answerRequest(connection, request);
      } catch (error) {
        if (!connection.gone.aborted) throw error;
        if (!this.#disposed.signal.aborted) this.#aborted++;
        this.#notify();
        return;
      }
      if (connection.gone.aborted) return;
    }
  }

  async #answerRequest(connection: HttpConnection, request: HttpRequest): Promise<void> {
    const recorded = record(request);
    const isList = request.method === "GET" && /\/models(?:\?|$)/.test(request.path);
    (isList ? this.listRequests : this.requests).push(recorded);
    this.#notify();
    const endpoint = `${request.method} ${request.path.replace(/\?.*/, "")}`;
    if (endpoint === "GET /v1/models") return await this.#answerModels(connection);
    const isChat = endpoint === "POST /v1/chat/completions";
    if (!isChat && endpoint !== "POST /v1/responses") {
      return await sendWhole(connection, errorReply(404, `no such endpoint: ${endpoint}`));
    }
    const serial = ++this.#modelRequests;
    const { body } = recorded;
    const complaint = isChat ? checkChatRequest(body) : checkResponsesRequest(body);
    if (complaint !== undefined && this.strict) {
      this.complaints.push(complaint);
      return await sendWhole(connection, errorReply(400, complaint));
    }
    const reply = await this.#chooseReply(recorded, serial);
    if (reply.gate) await waitFor(reply.gate, { signal: connection.gone });
    if (reply.delayMs) await delay(reply.delayMs, { signal: connection.gone });
    if (reply.drop) return connection.close();
    if (reply.status !== undefined) return await sendWhole(connection, reply);
    if (reply.raw !== undefined) {
      const frames = rawFrames(reply.raw);
      return await sendStream(connection, { reply, frames });
    }
    const model = String(body.model);
    const { include_usage } = (body.stream_options ?? {}) as { include_usage?: unknown };
    const context = { model, serial, includeUsage: include_usage === true };
    if (body.stream === true) {
      const frames = isChat ? chatFrames(reply, context) : responsesFrames(reply, context);
      return await sendStream(connection, { reply, frames });
    }
    const whole = isChat ? chatCompletion(reply, context) : responsesResponse(reply, context);
    await sendWhole(connection, { headers: reply.headers, body: whole });
  }

  async #chooseReply(request: RecordedRequest, n: number): Promise<Reply> {
    const scripted = this.#script.shift();
    if (scripted) return scripted;
    try {
      if (this.#answerer) return await this.#answerer(request, n);
      throw new Error("the script of the model server is empty, add a reply with reply()");
    } catch (error) {
      const message = `Cannot answer model request ${n}: ${(error as Error).message}`;
      this.complaints.push(message);
      return errorReply(500, message);
    }
  }

  async #answerModels(connection: HttpConnection): Promise<void> {
    const { models } = this;
    if (!isList(models)) {
      if (models.gate) await waitFor(models.gate, { signal: connection.gone });
      if (models.delayMs) await delay(models.delayMs, { signal: connection.gone });
      if (models.drop) return connection.close();
      return await sendWhole(connection, models);
    }
    const data = models.map((id) => ({ id, object: "model", created: 0, owned_by: "tests" }));
    await sendWhole(connection, { body: { object: "list", data } });
  }

  #notify(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }

  #until(
    condition: () => boolean,
    { state, timeoutMs = 15_000 }: { state: () => string; timeoutMs?: number },
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const { signal } = this.#disposed;
      signal.throwIfAborted();
      if (condition()) return resolve();
      const end = () => {
        this.#waiters.delete(check);
        signal.removeEventListener("abort", stop);
        clearTimeout(timer);
      };
      const check = () => {
        if (!condition()) return;
        end();
        resolve();
      };
      const stop = () => {
        end();
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        end();
        const complaints = this.complaints.map((text) => `\n  ${text}`).join("");
        const message = `Cannot wait for the model server: ${state()} in ${timeoutMs} ms`;
        reject(new Error(message + complaints));
      }, timeoutMs);
      this.#waiters.add(check);
      signal.addEventListener("abort", stop, { once: true });
    });
  }
}

function record({ path, method, headers, body: bytes }: HttpRequest): RecordedRequest {
  let body: Record<string, unknown> = {};
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof value === "object" && value !== null) body = value as Record<string, unknown>;
  } catch {
    // Not JSON: the strict check refuses it as a request without a model.
  }
  const entries = body.messages ?? body.input;
  const messages = Array.isArray(entries) ? entries : [];
  return { path, method, headers, body, messages };
}

function isList(models: readonly string[] | Reply): models is readonly string[] {
  return Array.isArray(models);
}

function errorReply(status: number, message: string): Reply {
  const type = status < 500 ? "invalid_request_error" : "server_error";
  return { status, body: { error: { message, type, param: null, code: null } } };
}
