/**
 * What a file holds, told from its first bytes, and the form in which a model gets an image. Never looks at a file's name.
 */

/** Kinds of image that models take. */
export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** Bytes that decide whether a file is text. */
export const SNIFF_BYTES = 8192;

/** An image larger than this is not given to a model. */
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024;

const BASE64_STEP = 3 * 8192;

/**
 * The kind of a file that begins with `bytes`. Text is valid UTF-8 without a NUL byte; unless `isWhole`, the bytes may end in the
 * middle of a character.
 */
export function sniffContent(
  bytes: Uint8Array,
  options: { isWhole: boolean },
): "text" | "binary" | ImageType {
  const image = imageTypeOf(bytes);
  if (image !== undefined) return image;
  if (bytes.includes(0)) return "binary";
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !options.isWhole });
    return "text";
  } catch {
    return "binary";
  }
}

/** Base64 of any number of bytes, in linear time. */
export function encodeBase64(bytes: Uint8Array): string {
  let text = "";
  for (let start = 0; start < bytes.length; start += BASE64_STEP) {
    text += btoa(String.fromCharCode(...bytes.subarray(start, start + BASE64_STEP)));
  }
  return text;
}

function imageTypeOf(bytes: Uint8Array): ImageType | undefined {
  if (hasBytes(bytes, 0, "\x89PNG\r\n\x1a\n")) return "image/png";
  if (hasBytes(bytes, 0, "\xff\xd8\xff")) return "image/jpeg";
  if (hasBytes(bytes, 0, "GIF87a") || hasBytes(bytes, 0, "GIF89a")) return "image/gif";
  if (hasBytes(bytes, 0, "RIFF") && hasBytes(bytes, 8, "WEBP")) return "image/webp";
  return undefined;
}

function hasBytes(bytes: Uint8Array, start: number, latin1: string): boolean {
  if (bytes.length < start + latin1.length) return false;
  for (let index = 0; index < latin1.length; index++) {
    if (bytes[start + index] !== latin1.charCodeAt(index)) return false;
  }
  return true;
}
