/**
 * What the `@path` words of a message bring with them: texts behind the message, and images. Reads files and writes none; which words
 * count and how much of a file comes along is said by a `MentionStyle`, so that this file knows no dialect.
 */

import type { ImageBlock } from "../agent/message.ts";
import { HostError } from "../errors.ts";
import type { FileInfo, Host } from "../host.ts";
import { listedName } from "../tools/ls.ts";
import {
  encodeBase64,
  type ImageType,
  MAX_IMAGE_BYTES,
  sniffContent,
} from "../tools/sniff_content.ts";
import { listUnignored } from "../tools/walk.ts";

/** Which words are mentions, and what they bring. */
export interface MentionStyle {
  /** Finds mentions; with the flag `g`, the path in its first group. */
  readonly pattern: RegExp;
  /** A path that does not exist is tried without the full stops at its end. */
  readonly dropsFullStops: boolean;
  /** Bytes of a text file that are taken. */
  readonly maxTextBytes: number;
  /** A longer text file is `cut` at a character's boundary, or `left` where it is, a plain word. */
  readonly longText: "cut" | "left";
  /** Names of a folder that are listed; 0: a folder stays a plain word. */
  readonly maxFolderNames: number;
  /** Images of one message. */
  readonly maxImages: number;
}

/** Every word that begins with `@`; text files of at most 64 KiB, whole; no folders. */
export const WHOLE_FILE_MENTIONS: MentionStyle = {
  pattern: /(?<!\S)@(\S+)/g,
  dropsFullStops: false,
  maxTextBytes: 64 * 1024,
  longText: "left",
  maxFolderNames: 0,
  maxImages: 16,
};

/** `@` and plain path characters, the sentence's full stop left out; the first 100,000 bytes of a text file; folders are listed. */
export const CUT_FILE_MENTIONS: MentionStyle = {
  pattern: /(?<!\S)@([A-Za-z0-9_./+-]+)/g,
  dropsFullStops: true,
  maxTextBytes: 100_000,
  longText: "cut",
  maxFolderNames: 200,
  maxImages: Infinity,
};

/** No word is a mention; what is attached otherwise may be long. */
export const NO_MENTIONS: MentionStyle = {
  pattern: /(?!)/g,
  dropsFullStops: false,
  maxTextBytes: 10 * 1024 * 1024,
  longText: "cut",
  maxFolderNames: 0,
  maxImages: Infinity,
};

/** Where mentions are looked up. */
export interface MentionOptions {
  readonly style: MentionStyle;
  readonly host: Host;
  /** Real absolute path of the folder that paths are relative to, and that they must not leave. */
  readonly workspace: string;
  /** Whether a path, as given or resolved, names a file with secrets. */
  isCredentialFile(path: string): boolean;
  readonly signal: AbortSignal;
}

/** What one path brings, or why it brings nothing. `path` is relative to the workspace. */
export type Attachment =
  | { readonly kind: "text"; readonly path: string; readonly text: string }
  | { readonly kind: "folder"; readonly path: string; readonly text: string }
  | { readonly kind: "image"; readonly path: string; readonly image: ImageBlock }
  | { readonly kind: "missing" | "outside" | "credential" | "unsuitable" | "too_large" };

/** A longer path exists nowhere. */
const MAX_PATH_LENGTH = 4096;

/**
 * The message with the texts that its mentions name behind it, each path once, in the order of first mention, and their images. What
 * cannot be attached stays a plain word. A message without `@` costs no look at any file. Throws only `signal.reason`.
 */
export async function expandMentions(
  text: string,
  options: MentionOptions,
): Promise<{ text: string; images: ImageBlock[] }> {
  const images: ImageBlock[] = [];
  if (!text.includes("@")) return { text, images };
  const { style } = options;
  const words = new Set<string>();
  for (const match of text.matchAll(style.pattern)) words.add(match[1]!);
  const seen = new Set<string>();
  let expanded = text;
  for (const word of words) {
    let attachment = await attachFile(word, options);
    if (attachment.kind === "missing" && style.dropsFullStops) {
      const shorter = word.replace(/\.+$/, "");
      if (shorter !== word && shorter !== "") attachment = await attachFile(shorter, options);
    }
    if (!("path" in attachment) || seen.has(attachment.path)) continue;
    const { kind, path } = attachment;
    if (kind === "image") {
      if (images.length === style.maxImages) continue;
      images.push(attachment.image);
    } else {
      const tag = kind === "text" ? "file" : "folder";
      expanded += `\n\n${encodeTextBlock(tag, attachment)}`;
    }
    seen.add(path);
  }
  return { text: expanded, images };
}

/** How a text that comes with a message is put into it. */
export function encodeTextBlock(
  tag: "file" | "folder",
  { path, text }: { readonly path: string; readonly text: string },
): string {
  return `<${tag} path="${path.replaceAll('"', "&quot;")}">\n${text}\n</${tag}>`;
}

/**
 * Reads what one path brings under the style's limits. `missing` also stands for what cannot be read, `unsuitable` for what is neither
 * text nor image. Throws only `signal.reason`.
 */
export async function attachFile(given: string, options: MentionOptions): Promise<Attachment> {
  options.signal.throwIfAborted();
  try {
    return await attach(given, options);
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof HostError) return { kind: "missing" };
    throw error;
  }
}

async function attach(given: string, options: MentionOptions): Promise<Attachment> {
  const { host, workspace, style, signal } = options;
  const { files, paths } = host;
  if (given.length > MAX_PATH_LENGTH || given.includes("\0")) return { kind: "missing" };
  const absolute = paths.resolve(workspace, given);
  const real = await files.realPath(absolute);
  const path = pathInside(absolute, options) ?? pathInside(real, options);
  if (path === undefined || pathInside(real, options) === undefined) return { kind: "outside" };
  if ([given, absolute, real].some((name) => options.isCredentialFile(name))) {
    return { kind: "credential" };
  }
  const info = await files.stat(real);
  if (info === undefined) return { kind: "missing" };
  if (info.kind === "folder") {
    if (style.maxFolderNames === 0) return { kind: "unsuitable" };
    return { kind: "folder", path, text: await listing(real, options) };
  }
  if (info.kind !== "file") return { kind: "unsuitable" };
  const limit = style.maxTextBytes;
  const bytes = await files.read(real, { signal, limit: limit + 1, isReal: true });
  const isWhole = bytes.length <= limit;
  const kind = sniffContent(bytes, { isWhole });
  if (kind === "binary") return { kind: "unsuitable" };
  if (kind !== "text") return await attachImage(kind, { path, real, info }, options);
  if (!isWhole && style.longText === "left") return { kind: "too_large" };
  return { kind: "text", path, text: decodeStart(bytes.subarray(0, limit)) };
}

async function attachImage(
  mimeType: ImageType,
  { path, real, info }: { path: string; real: string; info: FileInfo },
  { host, signal }: MentionOptions,
): Promise<Attachment> {
  if (info.size > MAX_IMAGE_BYTES) return { kind: "too_large" };
  const bytes = await host.files.read(real, {
    signal,
    limit: MAX_IMAGE_BYTES + 1,
    isReal: true,
  });
  if (bytes.length > MAX_IMAGE_BYTES) return { kind: "too_large" };
  const filename = host.paths.basename(path);
  return {
    kind: "image",
    path,
    image: { type: "image", data: encodeBase64(bytes), mimeType, filename },
  };
}

/** Names as `ls` shows them, without what Git and package managers keep for themselves or `.gitignore` files exclude. */
async function listing(folder: string, options: MentionOptions): Promise<string> {
  const entries = await listUnignored(folder, options);
  return entries.filter(({ name }) => name !== "node_modules" && name !== ".git")
    .sort((a, b) => a.name < b.name ? -1 : 1)
    .slice(0, options.style.maxFolderNames)
    .map(listedName)
    .join("\n");
}

/** The path relative to the workspace (`.` for itself), or `undefined` when it lies outside. */
function pathInside(path: string, { host, workspace }: MentionOptions): string | undefined {
  const { relative, isAbsolute, separator } = host.paths;
  const inside = relative(workspace, path);
  if (inside === "") return ".";
  if (inside === ".." || inside.startsWith(`..${separator}`) || isAbsolute(inside)) {
    return undefined;
  }
  return inside;
}

/** The text without a byte order mark and without a character that the end cuts through. */
function decodeStart(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true });
}
