/** An endpoint that misbehaves byte by byte, in front of one that does not. Knows HTTP/1.1 as far as a test needs it, and no model. */

import type { ModelServer } from "../fakes/model_server.ts";

const encoder = new TextEncoder();

/** Answers one request on a connection that the endpoint closes afterwards. Ends when `gone` aborts, at the latest. */
export type Behaviour = (
  conn: Deno.TcpConn,
  request: { text: string; gone: AbortSignal },
) => Promise<void>;

/** Passes connections on to `target` unless it is told to misbehave. The caller disposes it. */
export class FaultyEndpoint implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #target: ModelServer;
  readonly #open = new Set<Deno.TcpConn>();
  readonly #serving = new Set<Promise<void>>();
  readonly #accepting: Promise<void>;
  readonly #gone = new AbortController();
  #behaviour: Behaviour | undefined;
  #reset: string | undefined;

  /** Requests that it has misbehaved to since the last `misbehave`. */
  count = 0;

  constructor(target: ModelServer) {
    this.#target = target;
    this.#accepting = this.#accept();
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}`;
  }

  /** From now on, for this many requests; connections that are kept open are closed, so that none goes past it. */
  misbehave(behaviour: Behaviour, times = Infinity): void {
    this.behave();
    this.#behaviour = async (conn, request) => {
      if (++this.count >= times) this.#behaviour = undefined;
      await behaviour(conn, request);
    };
  }

  /** The next connection gets this much of an answer, and is reset then. */
  resetNext(answer: string): void {
    this.behave();
    this.#reset = answer;
  }

  behave(): void {
    this.#behaviour = undefined;
    this.#reset = undefined;
    this.count = 0;
    for (const conn of this.#open) close(conn);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#gone.abort();
    this.#listener.close();
    this.behave();
    await Promise.allSettled([this.#accepting, ...this.#serving]);
  }

  async #accept(): Promise<void> {
    for await (const conn of this.#listener) {
      this.#open.add(conn);
      const serving = this.#serve(conn).catch(() => {}).finally(() => {
        this.#open.delete(conn);
        close(conn);
        this.#serving.delete(serving);
      });
      this.#serving.add(serving);
    }
  }

  async #serve(conn: Deno.TcpConn): Promise<void> {
    const reset = this.#reset;
    this.#reset = undefined;
    if (reset !== undefined) {
      this.count++;
      // A connection that is closed with bytes that nobody has read is reset, not ended.
      await conn.read(new Uint8Array(1));
      await write(conn, reset);
      // A reset throws away what the other side has not taken yet.
      if (reset !== "") await new Promise((resolve) => setTimeout(resolve, 30));
      return;
    }
    if (this.#behaviour !== undefined) {
      const behaviour = this.#behaviour;
      return await behaviour(conn, { text: await readRequest(conn), gone: this.#gone.signal });
    }
    const { hostname, port } = new URL(this.#target.origin);
    using upstream = await Deno.connect({ hostname, port: Number(port) });
    const back = upstream.readable.pipeTo(conn.writable).catch(() => {});
    await Promise.race([conn.readable.pipeTo(upstream.writable), back]);
  }
}

/** Head and body, as text. */
async function readRequest(conn: Deno.TcpConn): Promise<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(65_536);
  let text = "";
  let bytes = 0;
  for (;;) {
    const read = await conn.read(buffer);
    if (read === null) return text;
    bytes += read;
    text += decoder.decode(buffer.subarray(0, read), { stream: true });
    const end = text.indexOf("\r\n\r\n");
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
    if (end >= 0 && bytes >= end + 4 + length) return text;
  }
}

function close(conn: Deno.TcpConn): void {
  try {
    conn.close();
  } catch {
    // It is closed.
  }
}

/** Writes all of it. Throws when the client is gone. */
export async function write(conn: Deno.TcpConn, data: string | Uint8Array): Promise<void> {
  const bytes = typeof data === "string" ? encoder.encode(data) : data;
  for (let written = 0; written < bytes.length;) {
    written += await conn.write(bytes.subarray(written));
  }
}

/** A whole answer. */
export function answer(
  status: string,
  { headers = {}, body = "" }: { headers?: Record<string, string>; body?: string | Uint8Array } =
    {},
): Behaviour {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  return async (conn) => {
    await write(conn, head(status, { "content-length": String(bytes.length), ...headers }));
    await write(conn, bytes);
  };
}

export function head(status: string, headers: Record<string, string>): string {
  const lines = Object.entries({ connection: "close", ...headers }).map(([name, value]) =>
    `${name}: ${value}\r\n`
  );
  return `HTTP/1.1 ${status}\r\n${lines.join("")}\r\n`;
}

/** The head of an event stream whose end is that of the connection. */
export const STREAM = head("200 OK", { "content-type": "text/event-stream" });

/** A part of an event stream that has no end: whoever reads it can tell that the rest is missing. */
export function cutStream(text: string): string {
  const headers = { "content-type": "text/event-stream", "transfer-encoding": "chunked" };
  const size = encoder.encode(text).length.toString(16);
  return `${head("200 OK", headers)}${size}\r\n${text}\r\n`;
}

/** One event of a Chat Completions stream. */
export function chunk(delta: Record<string, unknown>, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${
    JSON.stringify({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "test-model",
      choices,
    })
  }\n\n`;
}

/** Resolves when it aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
