/** The whole path of a connection, as one expression. Knows no command and no machine. */

import { DecodeStream } from "./dialects/decode_stream.ts";
import type { Dialect } from "./dialects/dialect.ts";
import { EncodeStream } from "./dialects/encode_stream.ts";
import type { Hub } from "./session/hub.ts";
import { LineStream, MAX_LINE_BYTES } from "./wire/line_stream.ts";

export interface ServeOptions {
  readonly stdin: ReadableStream<BufferSource>;
  readonly stdout: WritableStream<Uint8Array<ArrayBuffer>>;
  readonly dialect: Dialect;
  readonly hub: Hub;
}

/**
 * Serves one client until its input ends, it goes away, or the hub is stopped; then everything is stopped and saved. Rejects only when the
 * end itself fails. A broken stdout is the end of the client, not an error.
 */
export async function serve(options: ServeOptions): Promise<void> {
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
