/**
 * What both request formats say in words: images that a model cannot take, results without text, names that an endpoint would refuse.
 */

import {
  type AssistantMessage,
  type ImageBlock,
  type Message,
  textOf,
  type ToolCall,
} from "../agent/message.ts";
import type { ToolResultMessage } from "../agent/message.ts";

/** The text of a message in well-formed Unicode. */
export function plainTextOf(message: Message): string {
  return textOf(message).toWellFormed();
}

/** Stands for an image that the model cannot see. */
export function imageNote(image: ImageBlock): string {
  const name = image.filename ? ` ${image.filename}` : "";
  return `[image${name} (${image.mimeType}) left out: this model takes no images]`;
}

/** An image as a data URL. */
export function dataUrl(image: ImageBlock): string {
  return `data:${image.mimeType};base64,${image.data}`;
}

/** The images of a message. */
export function imagesOf(message: Message): ImageBlock[] {
  const images: ImageBlock[] = [];
  for (const block of message.content) if (block.type === "image") images.push(block);
  return images;
}

/** The text of a result; images are announced for the message that follows, or named when the model takes none. */
export function resultText(message: ToolResultMessage, takesImages: boolean): string {
  const images = imagesOf(message);
  const notes = takesImages
    ? images.map((image) => `[image (${image.mimeType}) of this result: see the next user message]`)
    : images.map(imageNote);
  return [plainTextOf(message), ...notes].filter((text) => text !== "").join("\n") || "(no output)";
}

/** Introduces the images of results, which no result can carry itself. */
export function resultImagesText(results: readonly ToolResultMessage[]): string {
  const calls = results.map((result) => `${result.toolName} (${result.toolCallId})`).join(", ");
  return `Images from the results of ${calls}:`;
}

/** The text of a reply, never `""` when it has no calls. */
export function replyText(message: AssistantMessage): string {
  const text = plainTextOf(message);
  const hasCalls = message.content.some((block) => block.type === "toolCall");
  return text === "" && !hasCalls ? "(no answer)" : text;
}

/** A call as a function call; a name that no tool can have is made one that endpoints accept. */
export function functionCall(call: ToolCall): { name: string; arguments: string } {
  return {
    name: call.name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unknown",
    arguments: JSON.stringify(call.arguments),
  };
}
