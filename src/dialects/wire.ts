/** Wire: the two ends of a dialect, between which a joint carries out what comes in and says what goes out. */

import type { Line } from "../wire/line_stream.ts";

/** `In`: what a line of the client means. `Out`: what is told. */
export interface Wire<In, Out> {
  /** What is on a line; `undefined` for a line that gets no answer. Never throws or rejects. */
  decode(line: Line): In | undefined | Promise<In>;
  /** `rpc`: a lasting client; `print`: the one-shot mode, which may leave out what only a lasting client needs. */
  createEncoder(options: { mode: "rpc" | "print" }): {
    /** The record's lines, each with its LF; `""` when this dialect does not tell it. Never throws. */
    encode(record: Out): string;
  };
}
