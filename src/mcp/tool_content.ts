/** From what an MCP server answers to a call to what the model reads. Knows no connection. */

import type { ImageBlock, JsonObject, TextBlock } from "../agent/message.ts";
import type { ToolOutcome } from "../agent/tool.ts";

/** An answer to `tools/call`, as the protocol has it; the SDK has checked it. */
export interface CallAnswer {
  readonly content: readonly AnswerBlock[];
  readonly structuredContent?: JsonObject;
  readonly isError?: boolean;
}

export type AnswerBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string }
  | {
    readonly type: "resource_link";
    readonly uri: string;
    readonly name: string;
    readonly title?: string;
    readonly description?: string;
  }
  | { readonly type: "resource"; readonly resource: AnswerResource };

/** A file or the like; `blob` is base64. */
type AnswerResource =
  & { readonly uri: string; readonly mimeType?: string }
  & ({ readonly text: string } | { readonly blob: string });

/** Images that models can look at. */
const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/**
 * The answer as blocks of text and images, in order. Resources are text; what a model cannot read is a line that says what it was.
 * Structured content stands in only where there is no text. There is always at least one block.
 */
export function toOutcome(answer: CallAnswer): ToolOutcome {
  const content = answer.content.map(toBlock);
  const hasText = content.some((block) => block.type === "text");
  if (!hasText && answer.structuredContent !== undefined) {
    content.push({ type: "text", text: JSON.stringify(answer.structuredContent) });
  }
  if (content.length === 0) content.push({ type: "text", text: "(no output)" });
  return { content, isError: answer.isError === true };
}

function toBlock(block: AnswerBlock): TextBlock | ImageBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return toImage(block);
    case "audio":
      return unreadable(`audio, ${block.mimeType}`);
    case "resource_link": {
      const lines = [`Resource: ${block.uri}`, block.title ?? block.name, block.description];
      return { type: "text", text: lines.filter((line) => line).join("\n") };
    }
    case "resource":
      return toResource(block.resource);
  }
}

function toResource(resource: AnswerResource): TextBlock | ImageBlock {
  if ("text" in resource) {
    return { type: "text", text: `Resource: ${resource.uri}\n${resource.text}` };
  }
  const mimeType = resource.mimeType ?? "unknown type";
  return IMAGE_TYPES.has(mimeType)
    ? toImage({ data: resource.blob, mimeType })
    : unreadable(`resource ${resource.uri}, ${mimeType}`);
}

function toImage({ data, mimeType }: { data: string; mimeType: string }): TextBlock | ImageBlock {
  return IMAGE_TYPES.has(mimeType)
    ? { type: "image", data, mimeType }
    : unreadable(`image, ${mimeType}`);
}

function unreadable(what: string): TextBlock {
  return { type: "text", text: `[${what}: cannot be shown]` };
}
