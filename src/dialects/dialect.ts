/**
 * Dialect: one wire language. A dialect is a policy, a decoder and an encoder; everything else is shared. Each lives in a folder of its own
 * and none imports another.
 */

import type { OutRecord, Request } from "../session/command.ts";
import type { SessionPolicy } from "../session/policy.ts";
import type { Line } from "../wire/line_stream.ts";

/** Turns records into text. Has a state, one per connection: what was said before may decide how something is said. */
export interface Encoder {
  /** The record's lines, each with its LF; `""` when this dialect does not tell it. Never throws. */
  encode(record: OutRecord): string;
}

export interface Dialect {
  readonly name: "circle" | "nimlet" | "pi" | "acp";
  readonly policy: SessionPolicy;
  /** The command on a line, or why it is none; `undefined` for a line that gets no answer. Never throws. */
  decode(line: Line): Request | undefined;
  createEncoder(): Encoder;
}
