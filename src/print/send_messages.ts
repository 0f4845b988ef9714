/** Sends the messages of a one-shot run, each when the one before is answered, and then ends the input. Knows no dialect. */

import type { OneShotMessage } from "../dialects/one_shot.ts";
import type { MessageExtras, Request } from "../session/command.ts";
import type { Hub } from "../session/hub.ts";

export interface PrintMessage extends OneShotMessage, Pick<MessageExtras, "files" | "images"> {}

/**
 * Resolves when everything is over. A turn that fails is the last one: what follows was written for its answer, and jobs are not waited for.
 * Never rejects.
 */
export async function sendMessages(
  hub: Hub,
  messages: readonly PrintMessage[],
): Promise<void> {
  const commands = hub.writable.getWriter();
  // Each use of it tells as well.
  commands.closed.catch(() => {});
  try {
    for (const [index, message] of messages.entries()) {
      if (hub.ending) return;
      await commands.write([promptOf(message)]);
      await hub.session.idle();
      if (hub.ending || hub.session.success) continue;
      hub.session.holdNoticeTurns();
      tellUnsent(hub, messages.length - index - 1);
      break;
    }
    await commands.close();
  } catch {
    // The hub was stopped; it says why itself.
  }
}

function promptOf({ text, ...extras }: PrintMessage): Request {
  const command = { type: "prompt", message: text, whileBusy: "follow_up", extras } as const;
  return { id: undefined, name: command.type, command };
}

function tellUnsent({ settings: { host } }: Hub, count: number): void {
  if (count === 0) return;
  host.warn(`weir: ${count === 1 ? "1 message" : `${count} messages`} not sent after this failure`);
}
