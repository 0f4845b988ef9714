/** The whole path of a connection, as one expression. Knows no command and no machine. */

import { DecodeStream } from "./dialects/decode_stream.ts";
import { EncodeStream } from "./dialects/encode_stream.ts";
import type { Wire } from "./dialects/wire.ts";
import type { HubEnd } from "./session/command.ts";
import { LineStream, MAX_LINE_BYTES } from "./wire/line_stream.ts";

/** What carries out what comes in, and says what goes out: a hub, or the connection of a dialect that has its own. */
export interface Joint<In, Out> {
  readonly writable: WritableStream<readonly In[]>;
  readonly readable: ReadableStream<readonly Out[]>;
  /** Resolves when the last record is in the queue and everything is saved. Never rejects. */
  readonly ended: Promise<HubEnd>;
  /** The client reads no more: stops what runs and ends. */
  clientGone(reason: unknown): void;
}

export interface ServeOptions<In, Out> {
  readonly stdin: ReadableStream<BufferSource>;
  readonly stdout: WritableStream<Uint8Array<ArrayBuffer>>;
  readonly dialect: Wire<In, Out>;
  readonly hub: Joint<In, Out>;
}

/**
 * Serves one client until its input ends, it goes away, or the hub is stopped; then everything is stopped and saved. Rejects only when the
 * end itself fails. A broken stdout is the end of the client, not an error.
 */
export async function serve<In, Out>(options: ServeOptions<In, Out>): Promise<void> {
  const { stdin, stdout, dialect, hub } = options;
  try {
    await stdin
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new LineStream({ maxLength: MAX_LINE_BYTES }))
      .pipeThrough(new DecodeStream(dialect))
      .pipeThrough(hub)
      .pipeThrough(new EncodeStream(dialect, { mode: "rpc" }))
      .pipeThrough(new TextEncoderStream())
      .pipeTo(stdout);
  } catch (error) {
    // The pipe has told the hub already; whatever else is wrong shows there.
    hub.clientGone(error);
  }
  await hub.ended;
}
