/** Stored messages in the two shapes of this dialect: LangChain's message dicts, and native records. */

import {
  type AssistantMessage,
  type ImageBlock,
  isPartial,
  textOf,
  type ThinkingBlock,
  type ToolCall,
  toolCallsOf,
  type Usage,
} from "../../agent/message.ts";
import type { StoredMessage } from "../../session/command.ts";

type Json = Record<string, unknown>;

/** `{input_tokens, output_tokens, cache_read_tokens[, cache_write_tokens]}`; zeros where nothing was reported. */
export function encodeUsage(usage: Usage | undefined): Json {
  return {
    input_tokens: usage?.inputTokens ?? 0,
    output_tokens: usage?.outputTokens ?? 0,
    cache_read_tokens: usage?.cacheReadTokens ?? 0,
    ...(usage?.cacheWriteTokens === undefined
      ? {}
      : { cache_write_tokens: usage.cacheWriteTokens }),
  };
}

/** `{id, name, args}`, with `raw_args` and `argument_error` when the arguments were not a JSON object. */
export function encodeToolCall(call: ToolCall): Json {
  return {
    id: call.id,
    name: call.name,
    args: call.arguments,
    ...(call.argumentsError === undefined
      ? {}
      : { raw_args: call.rawArguments ?? "", argument_error: call.argumentsError }),
  };
}

/** The text of a result or message; images that no text names are named. */
export function encodeContentText(message: StoredMessage["message"]): string {
  const text = textOf(message);
  const unnamed = imagesOf(message).filter((image) => !text.includes(image.filename ?? "image"));
  const names = unnamed.map((image) => `[image: ${image.filename ?? image.mimeType}]`);
  return [text, ...names].filter((part) => part !== "").join("\n");
}

/** `{"type", "data"}` with every key of the shape. */
export function encodeLangchainMessage(stored: StoredMessage): Json {
  const { id, message } = stored;
  const type = message.role === "user" ? "human" : message.role === "assistant" ? "ai" : "tool";
  const data: Json = {
    content: langchainContent(message),
    additional_kwargs: langchainExtras(message),
    response_metadata: {},
    type,
    name: message.role === "toolResult" ? message.toolName : null,
    id,
  };
  if (message.role === "assistant") {
    data.tool_calls = toolCallsOf(message).map((call) => ({
      name: call.name,
      args: call.arguments,
      id: call.id,
      type: "tool_call",
    }));
    data.invalid_tool_calls = [];
    data.usage_metadata = langchainUsage(message.usage);
  } else if (message.role === "toolResult") {
    data.tool_call_id = message.toolCallId;
    data.artifact = null;
    data.status = message.isError ? "error" : "success";
  }
  return { type, data };
}

function langchainContent(message: StoredMessage["message"]): string | Json[] {
  const images = imagesOf(message);
  const text = textOf(message);
  if (images.length === 0) return text;
  return [
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...images.map((image) => ({
      type: "image",
      base64: image.data,
      mime_type: image.mimeType,
      filename: image.filename ?? "",
    })),
  ];
}

function langchainExtras(message: StoredMessage["message"]): Json {
  if (message.role === "assistant") {
    const thinking = thinkingOf(message);
    return thinking === "" ? {} : { reasoning_content: thinking };
  }
  if (message.role !== "user") return {};
  if (message.internal !== undefined) return { circle_internal: message.internal };
  return message.display === undefined ? {} : { circle_shown: message.display };
}

function langchainUsage(usage: Usage | undefined): Json | null {
  if (usage === undefined) return null;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    input_token_details: {
      cache_read: cacheReadTokens ?? 0,
      ...(cacheWriteTokens === undefined ? {} : { cache_creation: cacheWriteTokens }),
    },
  };
}

/** A native record: keys that have nothing to say are absent. */
export function encodeNativeMessage(stored: StoredMessage): Json {
  const { id, message } = stored;
  const role = message.role === "toolResult" ? "tool" : message.role;
  const record: Json = { id, role, content: textOf(message) };
  const images = imagesOf(message);
  if (message.role === "user" && message.display !== undefined) record.display = message.display;
  if (images.length > 0) record.attachments = images.map(encodeAttachment);
  if (message.role === "user") {
    if (message.internal !== undefined) record.internal = message.internal;
  } else if (message.role === "assistant") addReplyKeys(record, message);
  else {
    record.tool_call_id = message.toolCallId;
    record.name = message.toolName;
    record.status = message.isError ? "error" : "success";
    if (message.recoverable) record.recoverable = true;
  }
  return record;
}

function addReplyKeys(record: Json, message: AssistantMessage): void {
  const thinking = thinkingOf(message);
  if (thinking !== "") record.thinking = thinking;
  const calls = toolCallsOf(message);
  if (calls.length > 0) record.tool_calls = calls.map(encodeToolCall);
  record.model = message.model;
  record.request_model = message.requestModel;
  if (message.usage !== undefined) record.usage = encodeUsage(message.usage);
  if (message.receipt !== undefined) record.cost = message.receipt;
  if (isPartial(message) || message.stopReason === "length") record.truncated = true;
}

function encodeAttachment(image: ImageBlock): Json {
  return {
    kind: "image",
    mime_type: image.mimeType,
    filename: image.filename ?? "",
    data: image.data,
    sha256: image.sha256 ?? "",
  };
}

function imagesOf(message: StoredMessage["message"]): ImageBlock[] {
  const images: ImageBlock[] = [];
  for (const block of message.content) if (block.type === "image") images.push(block);
  return images;
}

function thinkingOf(message: AssistantMessage): string {
  return message.content
    .filter((block): block is ThinkingBlock => block.type === "thinking")
    .map((block) => block.thinking)
    .join("");
}
