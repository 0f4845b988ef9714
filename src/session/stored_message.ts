/**
 * Messages in the session format's shape, both ways. Knows no entry and no file.
 *
 * What Weir knows more than that shape has a place for lies under the key `weir` of a message. Other programs ignore it, and
 * without it a message still has a sensible meaning.
 */

import type {
  AssistantMessage,
  ImageBlock,
  JsonObject,
  JsonValue,
  Message,
  StopReason,
  TextBlock,
  ThinkingBlock,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from "../agent/message.ts";
import { asNumber, asObject, asString, present, strings } from "./json_members.ts";
import { decodeCosts, encodeUsage } from "./stored_usage.ts";

/** A message in the format's shape. `decodeMessage` gives back an equal message. */
export function encodeMessage(message: Message): JsonObject {
  const content = message.content.map((block) => present(block));
  switch (message.role) {
    case "user": {
      if (message.foreign !== undefined) return message.foreign;
      const { role, timestamp, display, internal } = message;
      return present({ role, content, timestamp, weir: own({ display, internal }) });
    }
    case "toolResult": {
      const { content: _, recoverable, ...rest } = message;
      return present({ ...rest, content, weir: own({ recoverable }) });
    }
    case "assistant": {
      const { content: _, usage, receipt, requestModel, ...rest } = message;
      return present({
        ...rest,
        content,
        api: FORMAT_APIS.get(message.api) ?? message.api,
        usage: encodeUsage(usage, receipt),
        weir: present({ requestModel, usage, receipt }),
      });
    }
  }
}

/**
 * A message from the format's shape, also as other programs write it. `undefined` for a role that Weir has no message for, and for
 * what is no message. `timestamp` is for messages that have none.
 */
export function decodeMessage(
  value: unknown,
  options: { timestamp: number } = { timestamp: 0 },
): Message | undefined {
  const raw = asObject(value);
  if (raw === undefined) return undefined;
  const timestamp = asNumber(raw.timestamp) ?? options.timestamp;
  switch (raw.role) {
    case "user":
      return decodeUser(raw, timestamp);
    case "assistant":
      return decodeAssistant(raw, timestamp);
    case "toolResult":
      return decodeToolResult(raw, timestamp);
    default:
      return undefined;
  }
}

function decodeUser(raw: JsonObject, timestamp: number): UserMessage | undefined {
  const content = decodeContent(raw.content, decodeShown);
  if (content === undefined) return undefined;
  const { display, internal } = asObject(raw.weir) ?? {};
  return {
    role: "user",
    content,
    timestamp,
    ...(typeof display === "string" && { display }),
    ...(internal === "job_notice" && { internal }),
  };
}

function decodeToolResult(raw: JsonObject, timestamp: number): ToolResultMessage | undefined {
  const content = decodeContent(raw.content, decodeShown);
  if (content === undefined || typeof raw.toolCallId !== "string") return undefined;
  const details = asObject(raw.details);
  const durationMs = asNumber(raw.durationMs);
  const { recoverable } = asObject(raw.weir) ?? {};
  return {
    role: "toolResult",
    toolCallId: raw.toolCallId,
    toolName: asString(raw.toolName) ?? "",
    content,
    isError: raw.isError === true,
    timestamp,
    ...(details && { details }),
    ...(typeof recoverable === "boolean" && { recoverable }),
    ...(durationMs !== undefined && { durationMs }),
  };
}

function decodeAssistant(raw: JsonObject, timestamp: number): AssistantMessage | undefined {
  const content = decodeContent(raw.content, decodeSaid);
  if (content === undefined) return undefined;
  const api = asString(raw.api) ?? "";
  const provider = asString(raw.provider) ?? "";
  const model = asString(raw.model) ?? "";
  const weir = asObject(raw.weir);
  const durationMs = asNumber(raw.durationMs);
  return {
    role: "assistant",
    content,
    api: OWN_APIS.get(api) ?? api,
    provider,
    model,
    requestModel: asString(weir?.requestModel) ?? model,
    ...decodeCosts(raw, { provider, model }),
    stopReason: decodeStopReason(raw.stopReason, content),
    timestamp,
    ...strings(raw, ["errorMessage", "responseId", "rawStopReason", "thinkingLevel"]),
    ...(durationMs !== undefined && { durationMs }),
  };
}

/** The format's names of the interfaces that Weir speaks. */
const FORMAT_APIS = new Map([["chat", "openai-completions"], ["responses", "openai-responses"]]);
const OWN_APIS = new Map([...FORMAT_APIS].map(([name, formatName]) => [formatName, name]));

const STOP_REASONS: readonly string[] = ["stop", "length", "toolUse", "error", "aborted"];

function decodeStopReason(value: unknown, content: AssistantMessage["content"]): StopReason {
  if (typeof value === "string" && STOP_REASONS.includes(value)) return value as StopReason;
  // A reply that was still on its way when it was stored never got an end.
  if (value === "pending") return "aborted";
  return content.some((block) => block.type === "toolCall") ? "toolUse" : "stop";
}

/** The blocks that `decode` knows; a text alone is one block. `undefined` when it is no content at all. */
function decodeContent<T>(
  value: JsonValue | undefined,
  decode: (block: JsonObject) => T | undefined,
): (T | TextBlock)[] | undefined {
  if (typeof value === "string") return [{ type: "text", text: value }];
  if (!Array.isArray(value)) return undefined;
  const blocks: (T | TextBlock)[] = [];
  for (const item of value) {
    const raw = asObject(item);
    if (raw === undefined) continue;
    if (raw.type === "text") {
      if (typeof raw.text === "string") blocks.push({ type: "text", text: raw.text });
    } else {
      const block = decode(raw);
      if (block !== undefined) blocks.push(block);
    }
  }
  return blocks;
}

function decodeShown(raw: JsonObject): ImageBlock | undefined {
  const { type, data, mimeType } = raw;
  if (type !== "image" || typeof data !== "string" || typeof mimeType !== "string") {
    return undefined;
  }
  return { type, data, mimeType, ...strings(raw, ["filename"]) };
}

function decodeSaid(raw: JsonObject): ThinkingBlock | ToolCall | undefined {
  const { type, thinking, id, name } = raw;
  if (type === "thinking" && typeof thinking === "string") return { type, thinking };
  if (type !== "toolCall" || typeof id !== "string" || typeof name !== "string") return undefined;
  return {
    type,
    id,
    name,
    arguments: asObject(raw.arguments) ?? {},
    ...strings(raw, ["rawArguments", "argumentsError"]),
  };
}

/** What goes under the key `weir`; `undefined` when there is nothing to say. */
function own(members: object): JsonObject | undefined {
  const kept = present(members);
  return Object.keys(kept).length === 0 ? undefined : kept;
}
