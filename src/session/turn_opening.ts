/** What opens a turn, and how it is told. Knows no queue. */

import type { MessageOrigin } from "../agent/agent_event.ts";
import type { UserMessage } from "../agent/message.ts";
import type { SessionEvent, TurnOpening } from "./event.ts";
import type { WaitingMessage } from "./message_queue.ts";

/** A message, or the notices that wait. */
export type Opening =
  | (WaitingMessage & {
    readonly kind: "message";
    readonly origin: MessageOrigin;
  })
  /** `isPrepared`: the conversation can take entries at once. */
  | { readonly kind: "notices"; readonly isPrepared: boolean };

/** A message that opens a turn, as clients are told of it. */
export function describeOpening(
  opening: Opening & { kind: "message" },
  stored: Pick<TurnOpening, "id" | "message">,
): TurnOpening {
  const { text, origin, requestId } = opening;
  return { ...stored, text, origin, requestId };
}

/** A turn whose message could not be stored is told all the same, so that its failure has a beginning. */
export function unsavedTurn(turn: number, opening: Opening): SessionEvent {
  if (opening.kind === "notices") {
    return { type: "turn_start", turn, opening: undefined, unsaved: true };
  }
  const message: UserMessage = {
    role: "user",
    content: [{ type: "text", text: opening.text }],
    timestamp: Date.now(),
  };
  return {
    type: "turn_start",
    turn,
    opening: describeOpening(opening, { id: "", message }),
    unsaved: true,
  };
}
