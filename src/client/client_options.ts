/** What `WeirClient` is given, and what it gives back. Types only. */

import type { CircleCommand, CircleResponse } from "./circle_records.ts";
import type { ProgramStart } from "./client_process.ts";

/** What both ways to a client have in common. */
export interface ConnectOptions {
  /** Sees each line of both directions, without its line feed: `>` to the program, `<` from it. */
  readonly onLine?: (direction: ">" | "<", line: string) => void;
}

/** The two streams of a program that serves the circle dialect. */
export interface ServerStreams {
  /** What the program writes. */
  readonly readable: ReadableStream<BufferSource>;
  /** What the program reads. */
  readonly writable: WritableStream<Uint8Array<ArrayBuffer>>;
}

/** Which program is started, and how. */
export interface ClientStartOptions extends ConnectOptions, Omit<ProgramStart, "args"> {
  /** Options and folder, put behind `--mode rpc --dialect circle`. */
  readonly args?: readonly string[];
  /** Aborting it ends the program as disposing does. */
  readonly signal?: AbortSignal;
}

/** The `data` of the response to a command; `undefined` for commands that report nothing. */
export type CommandData<Name extends CircleCommand["type"]> =
  Extract<CircleResponse, { readonly command: Name; readonly success: true }> extends
    { readonly data: infer Data } ? Data : undefined;
