/** What `serve` is given. Interfaces only. */

import type { AgentOptions } from "./open_agent.ts";

/** A client's two streams: what it sends, and what it is sent. */
export interface ClientStreams {
  /** Bytes that the client writes. */
  readonly readable: ReadableStream<BufferSource>;
  /** Takes the bytes that the client reads. */
  readonly writable: WritableStream<Uint8Array<ArrayBuffer>>;
}

/** What is served, and how. */
export interface ServeOptions extends AgentOptions {
  /** The language of the lines, by default `circle`. */
  readonly dialect?: "circle" | "nimlet" | "pi" | "acp";
  /** Aborting it stops what runs, saves, and ends the connection. */
  readonly signal?: AbortSignal;
}
