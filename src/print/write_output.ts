/** The stdout of a one-shot run: its events as the dialect's records, or only the last answer. */

import { visibleText } from "../agent/visible_text.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { EncodeStream } from "../dialects/encode_stream.ts";
import type { OutRecord } from "../session/command.ts";
import type { Hub } from "../session/hub.ts";
import type { Progress } from "./progress.ts";

export interface OutputOptions {
  readonly hub: Hub;
  readonly progress: Progress;
  readonly stdout: WritableStream<Uint8Array<ArrayBuffer>>;
}

/** Writes every event and shows it to `progress` first. A stdout that nobody reads any more ends the run. Never rejects. */
export async function writeEvents(options: OutputOptions & { dialect: Dialect }): Promise<void> {
  const { hub, progress, stdout, dialect } = options;
  try {
    await hub.readable
      .pipeThrough(new EventStream(progress))
      .pipeThrough(new EncodeStream(dialect, { mode: "print" }))
      .pipeThrough(new TextEncoderStream())
      .pipeTo(stdout);
  } catch (error) {
    hub.clientGone(error);
  }
}

/**
 * Writes the answer that the run ended with and a line break; nothing when there is none. On a terminal nothing in it is obeyed: the model may
 * repeat what a stranger wrote. Returns whether it could.
 */
export async function writeAnswer(
  { hub, progress, stdout, isTerminal }: OutputOptions & { isTerminal: boolean },
): Promise<boolean> {
  await hub.readable.pipeThrough(new EventStream(progress)).pipeTo(new WritableStream());
  if (progress.answer === undefined) return true;
  const answer = isTerminal ? visibleText(progress.answer) : progress.answer;
  const writer = stdout.getWriter();
  try {
    await writer.write(new TextEncoder().encode(answer.endsWith("\n") ? answer : `${answer}\n`));
    return true;
  } catch {
    return false;
  } finally {
    writer.releaseLock();
  }
}

/** Lets events through and nothing else: there is no client that a response could be for. */
class EventStream extends TransformStream<readonly OutRecord[], readonly OutRecord[]> {
  constructor(progress: Progress) {
    super({
      transform(records, controller) {
        const events = records.filter((record) => record.kind === "event");
        for (const { event } of events) progress.note(event);
        if (events.length > 0) controller.enqueue(events);
      },
    });
  }
}
