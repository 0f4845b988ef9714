/**
 * A request in the words of the Responses API. Knows no HTTP and no client.
 */

import {
  type ImageBlock,
  isPartial,
  type JsonObject,
  type Message,
  toolCallsOf,
  type ToolResultMessage,
} from "../agent/message.ts";
import type { ModelRequest } from "../agent/model.ts";
import {
  dataUrl,
  functionCall,
  imageNote,
  imagesOf,
  replyText,
  resultImagesText,
  resultText,
} from "./message_content.ts";
import { isOpenaiHost, reasoningEffort, type RequestTarget } from "./request_options.ts";

/** The body of a streaming request that the endpoint does not store. Thinking is not sent back, partial replies are left out. */
export function responsesRequest(request: ModelRequest, target: RequestTarget): JsonObject {
  const { info } = target;
  const effort = reasoningEffort(request.thinkingLevel, info);
  return {
    model: target.id,
    input: inputItems(request.messages, info.input.includes("image")),
    stream: true,
    store: false,
    ...(request.systemPrompt !== "" && { instructions: request.systemPrompt.toWellFormed() }),
    ...(request.tools.length > 0 && {
      // Strict schemas must not have optional properties; most tools do.
      tools: request.tools.map(({ name, description, parameters }) => ({
        type: "function",
        name,
        description,
        parameters,
        strict: false,
      })),
    }),
    ...(info.maxOutputTokens !== undefined && { max_output_tokens: info.maxOutputTokens }),
    ...(effort !== undefined && { reasoning: { effort, summary: "auto" } }),
    ...(isOpenaiHost(target.baseUrl) && { prompt_cache_key: request.sessionId.slice(0, 64) }),
  };
}

function inputItems(messages: readonly Message[], takesImages: boolean): JsonObject[] {
  const items: JsonObject[] = [];
  let withImages: ToolResultMessage[] = [];
  const sendImages = () => {
    if (withImages.length === 0) return;
    const images = withImages.flatMap(imagesOf).map(imagePart);
    items.push({ role: "user", content: [textPart(resultImagesText(withImages)), ...images] });
    withImages = [];
  };
  for (const message of messages) {
    // Many endpoints take only text as a result: images follow those of the step.
    if (message.role !== "toolResult") sendImages();
    else if (takesImages && imagesOf(message).length > 0) withImages.push(message);
    items.push(...itemsOf(message, takesImages));
  }
  sendImages();
  return items;
}

function itemsOf(message: Message, takesImages: boolean): JsonObject[] {
  if (message.role === "user") {
    const content = message.content.map((block) => {
      if (block.type === "text") return textPart(block.text.toWellFormed());
      return takesImages ? imagePart(block) : textPart(imageNote(block));
    });
    return [{ role: "user", content }];
  }
  if (message.role === "toolResult") {
    const output = resultText(message, takesImages);
    return [{ type: "function_call_output", call_id: message.toolCallId, output }];
  }
  if (isPartial(message)) return [];
  const text = replyText(message);
  const calls = toolCallsOf(message).map((call) => ({
    type: "function_call",
    call_id: call.id,
    ...functionCall(call),
  }));
  return [...(text === "" ? [] : [{ role: "assistant", content: text }]), ...calls];
}

function textPart(text: string): JsonObject {
  return { type: "input_text", text };
}

function imagePart(image: ImageBlock): JsonObject {
  return { type: "input_image", image_url: dataUrl(image), detail: "auto" };
}
