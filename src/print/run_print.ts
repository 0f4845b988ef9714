/**
 * The one-shot modes: messages from the command line and stdin, one turn after another through the same hub that serves clients, then the
 * end. Knows no dialect; how they differ is in `OneShot`.
 */

import type { Dialect } from "../dialects/dialect.ts";
import type { OneShotMessage } from "../dialects/one_shot.ts";
import type { HubEnd } from "../session/command.ts";
import { Hub } from "../session/hub.ts";
import { discardAgent, startAgent, type StartedAgent } from "../start/start_agent.ts";
import { Progress } from "./progress.ts";
import { readFiles } from "./read_files.ts";
import { type MessageSource, readMessages } from "./read_messages.ts";
import { type PrintMessage, sendMessages } from "./send_messages.ts";
import { writeAnswer, writeEvents } from "./write_output.ts";

export interface PrintOptions extends MessageSource {
  readonly dialect: Dialect;
  /** The folder that relative paths of the command line are meant from. */
  readonly currentFolder: string;
  readonly stdout: WritableStream<Uint8Array<ArrayBuffer>>;
  /** Whether a person looks at stdout. */
  readonly isTerminal: boolean;
  /** Tells when nobody reads stdout any more although nothing is written. */
  readonly watchClient?: (onGone: () => void) => Disposable;
  /** Aborted when a signal asks the program to end: what runs is stopped, saved and told. */
  readonly signal: AbortSignal;
}

/**
 * Runs all messages and writes the events (mode `json`) or the last answer. Throws `StartError` as long as nothing is on stdout, and
 * `signal.reason` when extensions were still being started. When it settles, nothing that was started runs any more.
 */
export async function runPrint(options: PrintOptions): Promise<HubEnd> {
  const { host, dialect, oneShot, commandLine, currentFolder, stdout, signal } = options;
  const isFirst = oneShot.stdin.read === "first";
  const early = isFirst ? await readMessages(options) : undefined;
  // A signal that comes meanwhile is seen below, but extensions may take long to start.
  const agent = await startAgent({
    host,
    dialect,
    commandLine,
    currentFolder,
    signal: commandLine.options.extensions ? signal : new AbortController().signal,
  });
  const messages = await completeMessages(early, { agent, options });
  const hub = new Hub({ ...agent, watchClient: options.watchClient });
  // Nobody sits at the other end.
  hub.questions?.close();
  const stop = () => hub.stop("signal");
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  const progress = new Progress({
    verbose: commandLine.options.verbose,
    mayAllowMore: agent.settings.approvals !== "allow",
    warn: (line) => host.warn(line),
  });
  const output = { hub, progress, stdout };
  const sent = sendMessages(hub, messages);
  let isWritten = true;
  if (commandLine.mode === "json") await writeEvents({ ...output, dialect });
  else isWritten = await writeAnswer({ ...output, isTerminal: options.isTerminal });
  await sent;
  const end = await hub.ended;
  signal.removeEventListener("abort", stop);
  return isWritten ? end : { ...end, cause: "client_gone" };
}

/** The messages with the files of the command line. Files are looked at before stdin, which may keep one waiting. */
async function completeMessages(
  early: readonly OneShotMessage[] | undefined,
  { agent, options }: { agent: StartedAgent; options: PrintOptions },
): Promise<readonly PrintMessage[]> {
  try {
    const { settings } = agent;
    const files = await readFiles(options.commandLine.atFiles, { ...options, settings });
    const [first, ...others] = early ?? await readMessages(options);
    return first === undefined ? [] : [{ ...first, ...files }, ...others];
  } catch (error) {
    if (options.signal.aborted && error === options.signal.reason) return [];
    await discardAgent(agent);
    throw error;
  }
}
