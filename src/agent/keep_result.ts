/**
 * Keeps the results of calls, and finds words for one that cannot be kept. Knows no tool and nothing of how calls run.
 */

import { errorText } from "../errors.ts";
import type { Conversation } from "./conversation.ts";
import type { ToolResultMessage } from "./message.ts";

/** Where the results of one reply go. */
export interface ResultKeeping {
  readonly conversation: Conversation;
  /** Why a result could not be kept; from then on none is. */
  unkept: { readonly error: unknown } | undefined;
}

/**
 * Keeps a result and gives what is told of it. One that cannot be kept is held back: as it is when clients have been told of it already
 * (`isTold`), else as an error that says why, because nothing that is told may be gone later. Throws where nothing can be held back.
 */
export function keepResult(
  message: ToolResultMessage,
  { begun, isTold, keeping }: { begun: boolean; isTold: boolean; keeping: ResultKeeping },
): { readonly id: string; readonly message: ToolResultMessage } {
  const { conversation } = keeping;
  if (keeping.unkept === undefined) {
    try {
      return { id: conversation.append(message), message };
    } catch (error) {
      if (conversation.holdBack === undefined) throw error;
      keeping.unkept = { error };
    }
  }
  const told = isTold ? message : unkeptResult(message, { error: keeping.unkept.error, begun });
  return { id: conversation.holdBack!(told), message: told };
}

function unkeptResult(
  { details: _details, ...message }: ToolResultMessage,
  { error, begun }: { error: unknown; begun: boolean },
): ToolResultMessage {
  const state = begun ? "The result is lost; the call may have been carried out" : "Not run";
  return {
    ...message,
    content: [{ type: "text", text: `${state}: ${errorText(error)}` }],
    isError: true,
  };
}
