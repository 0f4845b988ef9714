/** From the blocks of a prompt to one user message. Knows no session and reads no file. */

import { base64Bytes, isBase64 } from "../../wire/is_base64.ts";
import type { ImageBlock, TextBlock } from "../../agent/message.ts";
import { type Json, readList, readObject, readText } from "./read_params.ts";
import { paramError } from "./rpc.ts";

const IMAGE_TYPES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

/** A prompt as the model gets it. */
export interface Prompt {
  /** What a person would see of it: without the texts of embedded resources. */
  readonly text: string;
  readonly content: readonly (TextBlock | ImageBlock)[];
  /** The text of the first block when it is text. */
  readonly firstText: string | undefined;
  /** Place of the first block that is an image. */
  readonly firstImage: number | undefined;
}

/** Throws the error for the first block that is wrong. */
export function readPrompt(params: Json): Prompt {
  const blocks = readList(params.prompt, "prompt");
  if (blocks.length === 0) throw paramError("prompt", "must have at least one block");
  const builder = new PromptBuilder();
  for (const [i, value] of blocks.entries()) builder.add(readObject(value, `prompt[${i}]`), i);
  const prompt = builder.finish();
  if (prompt.firstImage === undefined && prompt.text.trim() === "") {
    throw paramError("prompt", "must have more than blank text");
  }
  return prompt;
}

class PromptBuilder {
  readonly #content: (TextBlock | ImageBlock)[] = [];
  readonly #resources: string[] = [];
  #shown = "";
  #afterText = false;
  #firstText: string | undefined;
  #firstImage: number | undefined;

  add(block: Json, i: number): void {
    const path = `prompt[${i}]`;
    const wasText = this.#afterText;
    this.#afterText = false;
    switch (block.type) {
      case "text": {
        const text = readText(block, "text", `${path}.text`);
        if (i === 0) this.#firstText = text;
        this.#addText(wasText ? `\n${text}` : text);
        this.#afterText = true;
        break;
      }
      case "resource_link": {
        const name = readText(block, "name", `${path}.name`);
        this.#addText(`[${name}](${readText(block, "uri", `${path}.uri`)})`);
        break;
      }
      case "resource":
        this.#addResource(readObject(block.resource, `${path}.resource`), i);
        break;
      case "image": {
        const mimeType = readText(block, "mimeType", `${path}.mimeType`);
        if (!IMAGE_TYPES.has(mimeType)) {
          throw paramError(`${path}.mimeType`, `must be one of ${[...IMAGE_TYPES].join(", ")}`);
        }
        this.#addImage(mimeType, readImage(block, "data", `${path}.data`), i);
        break;
      }
      default:
        throw paramError(`${path}.type`, "must be text, image, resource_link or resource");
    }
  }

  finish(): Prompt {
    for (const resource of this.#resources) {
      const last = this.#content.at(-1);
      if (last?.type === "text") last.text += `\n\n${resource}`;
      else this.#content.push({ type: "text", text: resource });
    }
    return {
      text: this.#shown,
      content: this.#content,
      firstText: this.#firstText,
      firstImage: this.#firstImage,
    };
  }

  #addText(text: string): void {
    this.#shown += text;
    const last = this.#content.at(-1);
    if (last?.type === "text") last.text += text;
    else this.#content.push({ type: "text", text });
  }

  #addImage(mimeType: string, data: string, i: number): void {
    this.#firstImage ??= i;
    this.#content.push({ type: "image", data, mimeType });
  }

  #addResource(resource: Json, i: number): void {
    const path = `prompt[${i}].resource`;
    const uri = readText(resource, "uri", `${path}.uri`);
    const link = `[${lastPart(uri)}](${uri})`;
    if (typeof resource.text === "string") {
      this.#addText(link);
      const name = uri.replaceAll('"', "%22");
      this.#resources.push(`<resource uri="${name}">\n${resource.text}\n</resource>`);
      return;
    }
    if (typeof resource.blob !== "string") {
      throw paramError(`${path}.text`, "must be a string, or blob must be one");
    }
    const { mimeType } = resource;
    if (typeof mimeType !== "string" || !IMAGE_TYPES.has(mimeType)) return this.#addText(link);
    this.#addImage(mimeType, readImage(resource, "blob", `${path}.blob`), i);
  }
}

function lastPart(uri: string): string {
  const path = uri.replace(/[?#].*$/s, "").replace(/\/+$/, "");
  const last = path.slice(path.lastIndexOf("/") + 1);
  if (last === "") return uri;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

function readImage(block: Json, key: string, path: string): string {
  const data = readText(block, key, path);
  if (!isBase64(data)) throw paramError(path, "must be base64");
  if (base64Bytes(data) > MAX_IMAGE_BYTES) {
    throw paramError(path, "must be an image of at most 20 MiB");
  }
  return data;
}
