/**
 * Conversation: where a turn reads what was said and keeps what is said. A session implements it on a file, a subagent in memory.
 */

import type { JsonObject, Message } from "./message.ts";

export interface Conversation {
  /** What the model is sent: every call with its result, partial replies left out, compacted messages replaced. */
  requestMessages(): readonly Message[];
  /** An id that no message has. */
  reserveId(): string;
  /** Keeps a message; when it returns the message survives the end of this process. */
  append(message: Message, options?: { id: string }): string;
  /** Takes a message that cannot be kept now; it is kept before the next one that can. Absent where keeping never fails. */
  holdBack?(message: Message): string;
  /** From now on the model is not sent the message with this id; it stays stored. Gives the stored note, as JSON. */
  omit?(id: string): JsonObject;
}
