/**
 * Dialect: one wire language. A dialect is a policy, a decoder and an encoder; everything else is shared. Each lives in a folder of its own
 * and none imports another.
 */

import type { StartError } from "../errors.ts";
import type { HubEnd, OutRecord, Request } from "../session/command.ts";
import type { SessionPolicy } from "../session/policy.ts";
import type { Line } from "../wire/line_stream.ts";
import type { OneShot } from "./one_shot.ts";

/** Turns records into text. Has a state, one per connection: what was said before may decide how something is said. */
export interface Encoder {
  /** The record's lines, each with its LF; `""` when this dialect does not tell it. Never throws. */
  encode(record: OutRecord): string;
}

/** What is told on stderr, and the exit code, when the program cannot start. */
export interface StartFailure {
  readonly text: string;
  readonly exitCode: number;
}

/** How a served connection ended. */
export interface ServeEnd extends HubEnd {
  /** 128 + the number of the signal that ended it. */
  readonly signalCode: number | undefined;
}

export interface Dialect {
  readonly name: "circle" | "nimlet" | "pi" | "acp";
  readonly policy: SessionPolicy;
  /** More names that `--tools` and its kin take for tools. */
  readonly toolAliases: Readonly<Record<string, string>>;
  describeStartError(error: StartError): StartFailure;
  /** What a signal does once the end has begun: kill what runs and exit at once, or nothing. */
  readonly furtherSignals: "exit" | "ignore";
  /** The exit code of a lasting connection. */
  exitCode(end: ServeEnd): number;
  /** The command on a line, or why it is none; `undefined` for a line that gets no answer. Never throws or rejects. */
  decode(line: Line): Request | undefined | Promise<Request>;
  /** `rpc`: a lasting client; `print`: the one-shot mode, which may leave out what only a lasting client needs. */
  createEncoder(options: { mode: "rpc" | "print" }): Encoder;
  /** How its one-shot modes work; absent where there are none. */
  readonly loadOneShot?: () => Promise<OneShot>;
}
