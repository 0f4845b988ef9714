/**
 * Makes a conversation fit for a model: every call has its result and every result its call. Knows no file and no tool.
 */

import {
  type AssistantMessage,
  isPartial,
  type Message,
  textOf,
  type ToolCall,
  toolCallsOf,
  type ToolResultMessage,
} from "./message.ts";

/**
 * The messages for a model request: partial replies are left out (with `keepPartial` those without text), results stand right behind their reply in the order of its calls, a
 * call without a result gets an error result with `missingText`, results without a call and second results are left out. Returns the
 * same array when all that is so already. Never changes a message.
 */
export function pairCalls(
  messages: readonly Message[],
  options: { missingText: string; keepPartial?: boolean | undefined },
): readonly Message[] {
  if (isPaired(messages)) return messages;
  const { results } = matchResults(messages);
  const paired: Message[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") continue;
    if (message.role === "user") {
      paired.push(message);
    } else if (isPartial(message)) {
      // To the model it is what it said, no more and no less.
      const isKept = options.keepPartial === true && textOf(message) !== "";
      if (isKept) paired.push({ ...message, stopReason: "stop" });
    } else {
      paired.push(message);
      for (const call of toolCallsOf(message)) {
        paired.push(results.get(call) ?? missingResult(call, message, options.missingText));
      }
    }
  }
  return paired;
}

/** The calls of whole replies that have no result, in order. */
export function missingResults(messages: readonly Message[]): ToolCall[] {
  const { calls, results } = matchResults(messages);
  return calls.filter((call) => !results.has(call));
}

/** Whether nothing needs to be changed; makes nothing. */
function isPaired(messages: readonly Message[]): boolean {
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index]!;
    if (message.role === "toolResult") return false;
    if (message.role === "user") continue;
    if (isPartial(message)) return false;
    for (const block of message.content) {
      if (block.type !== "toolCall") continue;
      const next = messages[++index];
      if (next?.role !== "toolResult" || next.toolCallId !== block.id) return false;
    }
  }
  return true;
}

interface Matches {
  /** Of whole replies, in order. */
  readonly calls: ToolCall[];
  readonly results: Map<ToolCall, ToolResultMessage>;
}

/** Some endpoints use an id again in a later reply: a result belongs to the last reply before it that has its id. */
function matchResults(messages: readonly Message[]): Matches {
  const calls: ToolCall[] = [];
  const results = new Map<ToolCall, ToolResultMessage>();
  const waiting = new Map<string, ToolCall[]>();
  for (const message of messages) {
    if (message.role === "assistant") {
      const own = waitingCalls(message);
      for (const [id, same] of own) waiting.set(id, same);
      if (!isPartial(message)) calls.push(...toolCallsOf(message));
    } else if (message.role === "toolResult") {
      const call = waiting.get(message.toolCallId)?.shift();
      if (call !== undefined) results.set(call, message);
    }
  }
  return { calls, results };
}

function waitingCalls(message: AssistantMessage): Map<string, ToolCall[]> {
  const waiting = new Map<string, ToolCall[]>();
  for (const call of toolCallsOf(message)) {
    const same = waiting.get(call.id);
    if (same === undefined) waiting.set(call.id, [call]);
    else same.push(call);
  }
  return waiting;
}

function missingResult(
  call: ToolCall,
  reply: AssistantMessage,
  text: string,
): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: [{ type: "text", text }],
    isError: true,
    timestamp: reply.timestamp,
  };
}
