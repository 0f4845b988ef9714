/** A stored conversation as updates, in its final state. Knows no event and no request. */

import {
  type AssistantMessage,
  isPartial,
  type ToolCall,
  toolCallsOf,
  type ToolResultMessage,
} from "../../agent/message.ts";
import type { StoredMessage } from "../../session/command.ts";
import { splitText } from "./text_chunks.ts";
import { viewCall, type ViewPlace, viewResult, viewText } from "./tool_view.ts";
import type { PlanEntry, SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";

/** The beginning of the result of a call that never got one. */
const LOST = "Interrupted before a tool result was saved";

/** The updates of all messages, in order; made one by one, so that a long conversation is never held twice. */
export function* replayMessages(
  messages: readonly StoredMessage[],
  place: ViewPlace,
): Generator<SessionUpdate> {
  for (const [i, { id, message }] of messages.entries()) {
    if (message.role === "user") {
      if (message.internal !== undefined) continue;
      for (const block of message.content) {
        if (block.type === "text") yield* chunks("user_message_chunk", id, block.text);
        else {
          const { data, mimeType } = block;
          yield {
            sessionUpdate: "user_message_chunk",
            messageId: id,
            content: { type: "image", data, mimeType },
          };
        }
      }
    } else if (message.role === "assistant") {
      yield* replayReply(id, message, { results: resultsAfter(messages, i), place });
    }
  }
}

/** Ids of a reply's parts, the same live and in replay. */
export function thoughtId(replyId: string): string {
  return `${replyId}-thought`;
}

export function toolCallId(replyId: string, index: number): string {
  return `${replyId}-${index + 1}`;
}

/** The plan of a `todo` call. */
export function planEntries(items: readonly unknown[]): PlanEntry[] {
  return items.flatMap((item): PlanEntry[] => {
    const { text, status } = (item ?? {}) as Record<string, unknown>;
    if (typeof text !== "string") return [];
    const known = (["pending", "in_progress", "completed"] as const).find((name) =>
      name === status
    );
    return [{ content: text, priority: "medium", status: known ?? "pending" }];
  });
}

/** The whole result of a call: blocks, and what scripts read. */
export function viewEnd(
  call: ToolCall,
  message: ToolResultMessage,
  diff: ToolCallContent[],
): { content: ToolCallContent[]; rawOutput?: object } {
  const changes = call.name === "write" || call.name === "edit";
  const content = call.name === "todo" && !message.isError
    ? []
    : changes && !message.isError && diff.length > 0
    ? diff
    : viewResult(message.content);
  if (call.name !== "bash") return { content };
  const exitCode = message.details?.exitCode;
  return { content, rawOutput: { exitCode: typeof exitCode === "number" ? exitCode : null } };
}

function* replayReply(
  id: string,
  message: AssistantMessage,
  { results, place }: { results: ReadonlyMap<string, ToolResultMessage[]>; place: ViewPlace },
): Generator<SessionUpdate> {
  for (const block of message.content) {
    if (block.type === "thinking") {
      yield* chunks("agent_thought_chunk", thoughtId(id), block.thinking);
    } else if (block.type === "text") yield* chunks("agent_message_chunk", id, block.text);
  }
  // Calls of a reply that broke off were never told and never run.
  if (isPartial(message)) return;
  for (const [index, call] of toolCallsOf(message).entries()) {
    yield* replayCall(call, {
      id: toolCallId(id, index),
      place,
      result: results.get(call.id)?.shift(),
    });
  }
}

function* replayCall(
  call: ToolCall,
  { id, place, result }: {
    id: string;
    place: ViewPlace;
    result: ToolResultMessage | undefined;
  },
): Generator<SessionUpdate> {
  const view = viewCall(call, { id, place });
  const isLost = result === undefined || startsWith(result, LOST);
  const items = result?.details?.items;
  if (call.name === "todo" && !isLost && !result.isError && Array.isArray(items)) {
    yield { sessionUpdate: "plan", entries: planEntries(items) };
  }
  yield {
    sessionUpdate: "tool_call",
    ...view,
    status: isLost || result.isError ? "failed" : "completed",
    ...(isLost
      ? { content: [viewText("Interrupted")] }
      : viewEnd(call, result, newFile(call, result, place))),
  };
}

/** What a file was before is not stored; of a new one it is known. */
function newFile(call: ToolCall, result: ToolResultMessage, place: ViewPlace): ToolCallContent[] {
  const { path, content } = call.arguments;
  if (call.name !== "write" || typeof path !== "string" || typeof content !== "string") return [];
  const isNew = result.content.some((block) =>
    block.type === "text" && block.text.endsWith("(created)")
  );
  if (!isNew || content.length > 256 * 1024) return [];
  return [{ type: "diff", path: place.clientPath(path), oldText: null, newText: content }];
}

function startsWith({ content }: ToolResultMessage, text: string): boolean {
  const [first] = content;
  return first?.type === "text" && first.text.startsWith(text);
}

function resultsAfter(
  messages: readonly StoredMessage[],
  index: number,
): ReadonlyMap<string, ToolResultMessage[]> {
  const results = new Map<string, ToolResultMessage[]>();
  for (let i = index + 1; i < messages.length; i++) {
    const { message } = messages[i]!;
    if (message.role === "assistant") break;
    if (message.role !== "toolResult") continue;
    const list = results.get(message.toolCallId) ?? [];
    list.push(message);
    results.set(message.toolCallId, list);
  }
  return results;
}

function* chunks(
  sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk",
  messageId: string,
  text: string,
): Generator<SessionUpdate> {
  for (const piece of splitText(text)) {
    yield { sessionUpdate, messageId, content: { type: "text", text: piece } };
  }
}
