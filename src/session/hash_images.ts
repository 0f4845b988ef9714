/** Fills in the checksums of images, which are only wanted when messages are listed. */

import type { ImageBlock } from "../agent/message.ts";
import type { StoredMessage } from "./command.ts";

/** The images that have no checksum yet. */
export function imagesWithoutHash(messages: readonly StoredMessage[]): ImageBlock[] {
  const images: ImageBlock[] = [];
  for (const { message } of messages) {
    for (const block of message.content) {
      if (block.type === "image" && block.sha256 === undefined) images.push(block);
    }
  }
  return images;
}

/** Computes SHA-256 of the decoded bytes of each image. */
export async function hashImages(images: readonly ImageBlock[]): Promise<void> {
  for (const image of images) {
    const bytes = Uint8Array.from(atob(image.data), (character) => character.charCodeAt(0));
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    image.sha256 = [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }
}
