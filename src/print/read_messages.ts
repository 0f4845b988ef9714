/** From the command line and stdin to the messages of a one-shot run. Reads stdin and files; what belongs together is said by the dialect. */

import type { RunCommandLine } from "../cli/command_line.ts";
import type { OneShot, OneShotMessage } from "../dialects/one_shot.ts";
import { StartError } from "../errors.ts";
import type { Host } from "../host.ts";
import { readStdin } from "./read_stdin.ts";

export interface MessageSource {
  readonly host: Host;
  readonly oneShot: OneShot;
  readonly commandLine: RunCommandLine;
  /** `undefined` when a person sits at it: it is not read then. */
  readonly stdin: ReadableStream<Uint8Array> | undefined;
  readonly signal: AbortSignal;
}

/** At least one message, or none when `signal` is aborted. Throws `StartError` (`usage`) when there is nothing to do. */
export async function readMessages(source: MessageSource): Promise<readonly OneShotMessage[]> {
  const { oneShot, commandLine: { messages: words }, signal } = source;
  try {
    const stdin = await readInput(source);
    signal.throwIfAborted();
    const messages = oneShot.compose({ stdin, words });
    if (messages.length === 0) throw new StartError("usage", oneShot.nothingToDo);
    return messages;
  } catch (error) {
    if (signal.aborted && error === signal.reason) return [];
    throw error;
  }
}

async function readInput(source: MessageSource): Promise<string> {
  const { host, oneShot, commandLine: { messages: words }, stdin, signal } = source;
  if (stdin === undefined) return "";
  const hasMessage = oneShot.compose({ stdin: "", words }).length > 0;
  const firstByteMs = hasMessage ? oneShot.stdin.firstByteMs : undefined;
  const text = await readStdin(stdin, { firstByteMs, signal });
  if (text !== undefined) return text;
  const seconds = firstByteMs! / 1000;
  host.warn(
    `weir: nothing arrived on stdin within ${seconds}s; going on without it (use </dev/null to skip the wait)`,
  );
  return "";
}
