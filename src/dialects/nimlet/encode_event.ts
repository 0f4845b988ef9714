/** The parts of event records that are made from messages, and the warnings. Knows no run and no step. */

import type { AssistantMessage, Message, Usage } from "../../agent/message.ts";
import { toolCallsOf } from "../../agent/message.ts";
import type { SessionEvent } from "../../session/event.ts";

type Json = Record<string, unknown>;

/** The text of a message as clients see it: each image is a line `[image]` behind the text. */
export function shownContent(message: Message): string {
  let text = "";
  let images = 0;
  for (const block of message.content) {
    if (block.type === "text") text += block.text;
    else if (block.type === "image") images++;
  }
  for (; images > 0; images--) {
    text += `${text === "" || text.endsWith("\n") ? "" : "\n"}[image]`;
  }
  return text;
}

/** Whether a reply is one that the model may end with. */
export function isFinal(message: AssistantMessage): boolean {
  return toolCallsOf(message).length === 0 && message.stopReason !== "length";
}

/** All five counts; `undefined` when the endpoint reported none. */
export function encodeUsage(usage: Usage | undefined): Json | undefined {
  if (usage === undefined) return undefined;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_read_tokens: cacheReadTokens ?? 0,
    cache_write_tokens: cacheWriteTokens ?? 0,
    cache_reported: cacheReadTokens !== undefined || cacheWriteTokens !== undefined,
  };
}

/** The `diagnostic` that an event stands for, if it stands for one. */
export function encodeDiagnostic(event: SessionEvent): Json | undefined {
  switch (event.type) {
    case "diagnostic":
      return diagnostic(event.level, event.text);
    case "reply_broken":
      return event.again ? diagnostic("warning", "Model stream broke off; retrying…") : undefined;
    case "compaction":
      if (event.trigger === "auto") {
        return event.phase === "done" ? diagnostic("warning", "Auto-compacted context") : undefined;
      }
      return event.phase === "start"
        ? diagnostic("warning", "Context overflow — compacting and retrying…")
        : undefined;
    default:
      return undefined;
  }
}

function diagnostic(level: "warning" | "error", message: string): Json {
  return { version: 1, type: "diagnostic", level, message };
}
