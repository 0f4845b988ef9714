/**
 * A request in the words of Chat Completions. Knows no HTTP and no client.
 */

import {
  type ImageBlock,
  isPartial,
  type JsonObject,
  type JsonValue,
  type Message,
  toolCallsOf,
  type ToolResultMessage,
  type UserMessage,
} from "../agent/message.ts";
import type { ModelRequest } from "../agent/model.ts";
import {
  dataUrl,
  functionCall,
  imageNote,
  imagesOf,
  plainTextOf,
  replyText,
  resultImagesText,
  resultText,
} from "./message_content.ts";
import { isOpenaiHost, reasoningEffort, type RequestTarget } from "./request_options.ts";

/** The body of a streaming request. Thinking is not sent back, partial replies are left out. */
export function chatRequest(request: ModelRequest, target: RequestTarget): JsonObject {
  const { info } = target;
  const isOpenai = isOpenaiHost(target.baseUrl);
  const effort = reasoningEffort(request.thinkingLevel, info);
  return {
    model: target.id,
    messages: chatMessages(request, info.input.includes("image")),
    stream: true,
    stream_options: { include_usage: true },
    ...(request.tools.length > 0 && {
      tools: request.tools.map(({ name, description, parameters }) => ({
        type: "function",
        function: { name, description, parameters },
      })),
    }),
    ...(info.maxOutputTokens !== undefined && {
      [isOpenai ? "max_completion_tokens" : "max_tokens"]: info.maxOutputTokens,
    }),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(isOpenai && { prompt_cache_key: request.sessionId.slice(0, 64) }),
  };
}

function chatMessages(request: ModelRequest, takesImages: boolean): JsonObject[] {
  const sent: JsonObject[] = [];
  if (request.systemPrompt !== "") {
    sent.push({ role: "system", content: request.systemPrompt.toWellFormed() });
  }
  let withImages: ToolResultMessage[] = [];
  const sendImages = () => {
    if (withImages.length === 0) return;
    const images = withImages.flatMap(imagesOf).map(imagePart);
    sent.push({ role: "user", content: [textPart(resultImagesText(withImages)), ...images] });
    withImages = [];
  };
  for (const message of request.messages) {
    // A tool message cannot carry images, and nothing may stand between the tool messages of a step.
    if (message.role !== "toolResult") sendImages();
    else if (takesImages && imagesOf(message).length > 0) withImages.push(message);
    const converted = chatMessage(message, takesImages);
    if (converted !== undefined) sent.push(converted);
  }
  sendImages();
  return sent;
}

function chatMessage(message: Message, takesImages: boolean): JsonObject | undefined {
  if (message.role === "user") {
    return { role: "user", content: userContent(message, takesImages) };
  }
  if (message.role === "toolResult") {
    const content = resultText(message, takesImages);
    return { role: "tool", tool_call_id: message.toolCallId, content };
  }
  if (isPartial(message)) return undefined;
  const calls = toolCallsOf(message).map((call) => ({
    id: call.id,
    type: "function",
    function: functionCall(call),
  }));
  return {
    role: "assistant",
    content: replyText(message) || null,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function userContent(message: UserMessage, takesImages: boolean): JsonValue {
  if (!message.content.some((block) => block.type === "image")) return plainTextOf(message);
  return message.content.map((block) => {
    if (block.type === "text") return textPart(block.text.toWellFormed());
    return takesImages ? imagePart(block) : textPart(imageNote(block));
  });
}

function textPart(text: string): JsonObject {
  return { type: "text", text };
}

function imagePart(image: ImageBlock): JsonObject {
  return { type: "image_url", image_url: { url: dataUrl(image) } };
}
