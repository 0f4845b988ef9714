/** Sends the messages of a one-shot run, each when the one before is answered, and then ends the input. Knows no dialect. */

import type { OneShotMessage } from "../dialects/one_shot.ts";
import type { MessageExtras, Request } from "../session/command.ts";
import type { Hub } from "../session/hub.ts";

export interface PrintMessage extends OneShotMessage, Pick<MessageExtras, "files" | "images"> {}

/** Each message has its turn, whatever became of the one before. Resolves when everything is over. Never rejects. */
export async function sendMessages(
  hub: Hub,
  messages: readonly PrintMessage[],
): Promise<void> {
  const commands = hub.writable.getWriter();
  // Each use of it tells as well.
  commands.closed.catch(() => {});
  try {
    for (const message of messages) {
      if (hub.ending) return;
      await commands.write([promptOf(message)]);
      await hub.session.idle();
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
