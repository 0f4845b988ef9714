/** Messages and models in the shapes of this dialect, which are those of the session format. */

import type {
  AssistantMessage,
  JsonObject,
  Message,
  ToolResultMessage,
  Usage,
  UserMessage,
} from "../../agent/message.ts";
import type { Model } from "../../agent/model.ts";
import type { ConversationContext, StoredMessage } from "../../session/command.ts";
import { encodeUsage } from "../../session/stored_usage.ts";

type Json = Record<string, unknown>;

/** The names of interfaces to endpoints on this wire. */
const API_NAMES: Readonly<Record<string, string>> = {
  chat: "openai-completions",
  responses: "openai-responses",
  demo: "weir-demo",
};

export function apiName(api: string): string {
  return Object.hasOwn(API_NAMES, api) ? API_NAMES[api]! : api;
}

/** A message as clients get it. */
export function encodeMessage(message: Message): Json {
  switch (message.role) {
    case "user":
      return encodeUser(message);
    case "assistant":
      return encodeAssistant(message);
    case "toolResult":
      return encodeToolResult(message);
  }
}

/** A message of a file as it stands there, without what is only Weir's; another one as it would. */
export function encodeStored({ message, raw }: StoredMessage): Json {
  const stored = raw?.message;
  if (typeof stored !== "object" || stored === null || Array.isArray(stored)) {
    return encodeMessage(message);
  }
  const { weir: _, ...shown } = stored;
  if (typeof shown.content === "string") shown.content = [{ type: "text", text: shown.content }];
  return shown;
}

/** The conversation as the model is sent it, the last summary first. */
export function encodeContext({ summary, messages }: ConversationContext): Json[] {
  const shown = messages.map(encodeStored);
  if (summary === undefined) return shown;
  const { text, tokensBefore, timestamp } = summary;
  return [{ role: "compactionSummary", summary: text, tokensBefore, timestamp }, ...shown];
}

function encodeUser({ foreign, content, timestamp }: UserMessage): Json {
  if (foreign !== undefined) return foreign;
  return {
    role: "user",
    content: content.map((block) =>
      block.type === "text" ? block : { type: "image", data: block.data, mimeType: block.mimeType }
    ),
    timestamp,
  };
}

function encodeAssistant(message: AssistantMessage): Json {
  const { responseId, rawStopReason, errorMessage, durationMs, thinkingLevel } = message;
  return {
    role: "assistant",
    content: message.content.map(encodeBlock),
    api: apiName(message.api),
    provider: message.provider,
    model: message.model,
    usage: encodeUsage(message.usage, message.receipt),
    stopReason: message.stopReason,
    timestamp: message.timestamp,
    ...defined({ responseId, rawStopReason, errorMessage, durationMs, thinkingLevel }),
  };
}

/** A block of a reply. */
export function encodeBlock(block: AssistantMessage["content"][number]): Json {
  if (block.type !== "toolCall") return { ...block };
  const { type, id, name, arguments: args, argumentsError } = block;
  return { type, id, name, arguments: args, ...defined({ argumentsError }) };
}

function encodeToolResult(message: ToolResultMessage): Json {
  const { role, toolCallId, toolName, isError, timestamp, durationMs } = message;
  const { content, details } = encodeResult(message);
  return {
    role,
    toolCallId,
    toolName,
    content,
    ...defined({ details }),
    isError,
    timestamp,
    ...defined({ durationMs }),
  };
}

/** Content and details of a result. */
export function encodeResult(
  message: ToolResultMessage,
): { content: unknown; details?: JsonObject } {
  const { content, details, toolName } = message;
  const blocks = content.map((block) =>
    block.type === "text" ? block : { type: "image", data: block.data, mimeType: block.mimeType }
  );
  if (details === undefined) return { content: blocks };
  if (toolName !== "edit" || details.diff === undefined) return { content: blocks, details };
  const { diff, firstChangedLine } = details;
  return { content: blocks, details: { diff, patch: diff, ...defined({ firstChangedLine }) } };
}

/** The usage of a reply that has not ended. */
export const NO_USAGE_JSON = JSON.stringify(encodeUsage(undefined, undefined));

export function encodeUsageOf(usage: Usage | undefined): Json | undefined {
  return usage && encodeUsage(usage, undefined);
}

const DEFAULT_WINDOW = 128_000;
const DEFAULT_MAX_TOKENS = 16_384;

/** A model as clients see it; one without a name is a stub. */
export function encodeModel(model: Model): Json {
  const { id, api, provider, info, baseUrl } = model;
  if (id === "") return NO_MODEL;
  const { price, contextWindow, maxOutputTokens, reasoning, input } = info;
  return {
    id,
    name: id,
    api: apiName(api),
    provider,
    baseUrl: baseUrl ?? "",
    reasoning: reasoning ?? false,
    input: ["text", ...(input.includes("image") ? ["image"] : [])],
    cost: {
      input: price?.input ?? 0,
      output: price?.output ?? 0,
      cacheRead: price?.cacheRead ?? 0,
      cacheWrite: price?.cacheWrite ?? 0,
    },
    contextWindow: contextWindow ?? DEFAULT_WINDOW,
    maxTokens: maxOutputTokens ?? DEFAULT_MAX_TOKENS,
  };
}

/** Tokens of a model's window. */
export function windowOf(window: number | undefined): number {
  return window ?? DEFAULT_WINDOW;
}

const NO_MODEL: Json = {
  id: "unknown",
  name: "unknown",
  api: "unknown",
  provider: "unknown",
  baseUrl: "",
  reasoning: false,
  input: [],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 0,
  maxTokens: 0,
};

/** The members that are not `undefined`. */
export function defined<T extends object>(members: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as Partial<T>;
}
