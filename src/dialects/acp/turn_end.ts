/** From the end of a turn to the answer of its prompt. Knows no request. */

import type { AssistantMessage } from "../../agent/message.ts";
import { HostError, ModelError, StartError, TurnLimitError } from "../../errors.ts";
import type { SessionEvent } from "../../session/event.ts";
import { AUTH_REQUIRED, INTERNAL_ERROR, RpcError } from "./rpc.ts";
import type { StopReason } from "@agentclientprotocol/sdk";

/** `lastReply`: the last complete reply of the turn. */
export function judgeTurn(
  event: SessionEvent & { type: "turn_end" },
  lastReply: AssistantMessage | undefined,
): StopReason | RpcError {
  switch (event.outcome) {
    case "aborted":
      return "cancelled";
    case "answered":
      return stopReasonOf(lastReply);
    case "failed":
      return judgeFailure(event, lastReply);
  }
}

/** A fault of ours; the details are on stderr. */
export function internalError(): RpcError {
  return new RpcError(INTERNAL_ERROR, "Internal error");
}

function stopReasonOf(reply: AssistantMessage | undefined): StopReason {
  if (reply?.rawStopReason === "content_filter" || reply?.rawStopReason === "refusal") {
    return "refusal";
  }
  return reply?.stopReason === "length" ? "max_tokens" : "end_turn";
}

function judgeFailure(
  { error, cause }: { error: string; cause?: unknown },
  lastReply: AssistantMessage | undefined,
): StopReason | RpcError {
  if (cause instanceof TurnLimitError) return "max_turn_requests";
  if (cause instanceof ModelError) {
    const { kind, status, message } = cause;
    if (kind === "auth" || kind === "set_up") return new RpcError(AUTH_REQUIRED, message);
    const data = { kind: "model", ...(status === undefined ? {} : { status }) };
    return new RpcError(INTERNAL_ERROR, message, data);
  }
  if (cause instanceof HostError || cause instanceof StartError) {
    return new RpcError(INTERNAL_ERROR, error);
  }
  if (cause !== undefined) return internalError();
  // A reply without a word: the model may have had a reason.
  const reason = stopReasonOf(lastReply);
  return reason === "end_turn" ? new RpcError(INTERNAL_ERROR, error, { kind: "model" }) : reason;
}
