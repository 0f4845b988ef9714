/**
 * The `read` tool: a text file page by page, or an image. Opens a file once, reads it in chunks and writes nothing.
 */

import type { JsonObject } from "../agent/message.ts";
import {
  type ParsedArguments,
  textOutcome,
  type Tool,
  type ToolContext,
  type ToolOutcome,
} from "../agent/tool.ts";
import { parseArguments } from "./arguments.ts";
import { ByteReader } from "./byte_reader.ts";
import { findPath } from "./find_path.ts";
import { LinePage } from "./line_page.ts";
import {
  encodeBase64,
  type ImageType,
  MAX_IMAGE_BYTES,
  SNIFF_BYTES,
  sniffContent,
} from "./sniff_content.ts";
import { cannot, runFileTool } from "./tool_failure.ts";

/** Arguments of `read`. */
export type ReadArguments = { path: string; offset?: number; limit?: number };

const DEFAULT_LINES = 2000;
const MAX_PAGE_BYTES = 50 * 1024;
const MAX_LINE_LENGTH = 2000;
/** Behind a full page lines are only counted, for the notice, and only so far. */
const MAX_COUNTED_BYTES = 256 * 1024 * 1024;

const PARAMETERS: JsonObject = {
  type: "object",
  properties: {
    path: {
      type: "string",
      minLength: 1,
      description: "File, relative to the workspace or absolute",
    },
    offset: { type: "integer", minimum: 1, description: "First line, counted from 1" },
    limit: {
      type: "integer",
      minimum: 1,
      description: `Number of lines (default ${DEFAULT_LINES})`,
    },
  },
  required: ["path"],
  additionalProperties: false,
};

/**
 * Gives the exact text of a file without a byte order mark, at most 50 KB of it, with a last line in brackets when more follows; a png,
 * jpeg, gif or webp of at most 20 MiB as an image. A file is text when its first 8 KB are UTF-8 without NUL; later bytes that are not
 * UTF-8 show as U+FFFD.
 */
export const readTool: Tool<ReadArguments> = {
  name: "read",
  description:
    `Reads a file and returns its text exactly as it is. One call gives at most ${DEFAULT_LINES} lines or 50 KB; a last line in ` +
    "brackets then says which offset goes on. Very long lines are cut. PNG, JPEG, GIF and WebP files are shown as images. For " +
    "folders use ls.",
  parameters: PARAMETERS,
  group: "read",
  parse: (args) => parseArguments(PARAMETERS, args) as ParsedArguments<ReadArguments>,
  run: (args, context) =>
    runFileTool(
      { action: "read", path: args.path, signal: context.signal },
      () => readFile(args, context),
    ),
};

async function readFile(args: ReadArguments, context: ToolContext): Promise<ToolOutcome> {
  const { host, signal } = context;
  const options = { action: "read", context, refuseCredentials: true };
  const { path, info } = await findPath(args.path, options);
  if (info === undefined) {
    throw cannot("read", args.path, "it does not exist, check the path with ls or find");
  }
  if (info.kind === "folder") throw cannot("read", args.path, "it is a folder, use ls");
  if (info.kind !== "file") throw cannot("read", args.path, "it is not a regular file");
  await using reader = new ByteReader(await host.files.openRead(path, { isReal: true }), {
    signal,
  });
  const head = await reader.peek(SNIFF_BYTES);
  const kind = sniffContent(head.subarray(0, SNIFF_BYTES), {
    isWhole: head.length < SNIFF_BYTES,
  });
  if (kind === "binary") throw cannot("read", args.path, "it is a binary file, not text");
  // Awaited here, because the reader is closed when this function ends.
  if (kind === "text") return await readText(args, reader);
  return await readImage(args.path, kind, context, reader);
}

async function readText(args: ReadArguments, reader: ByteReader): Promise<ToolOutcome> {
  const { path, offset = 1, limit = DEFAULT_LINES } = args;
  const page = new LinePage({
    offset,
    maxLines: limit,
    maxBytes: MAX_PAGE_BYTES,
    maxLineLength: MAX_LINE_LENGTH,
  });
  let chunk = withoutBom(await reader.next());
  let counted = 0;
  while (chunk !== undefined && counted < MAX_COUNTED_BYTES) {
    page.write(chunk);
    if (page.isFull) counted += chunk.length;
    chunk = await reader.next();
  }
  const isWhole = chunk === undefined;
  if (isWhole) page.end();
  const total = page.totalLines;
  if (page.lineCount === 0) {
    if (total === 0 && offset === 1) return textOutcome("[the file is empty]");
    const lines = total === 1 ? "1 line" : `${total} lines`;
    throw cannot("read", path, `offset ${offset} is behind the end, the file has ${lines}`);
  }
  const last = offset + page.lineCount - 1;
  if (isWhole && last === total) return textOutcome(page.text);
  const of = isWhole ? total : `more than ${total}`;
  const notice = `[lines ${offset}-${last} of ${of}; use offset=${last + 1} to go on]`;
  return textOutcome(page.text + notice);
}

async function readImage(
  path: string,
  mimeType: ImageType,
  { host }: ToolContext,
  reader: ByteReader,
): Promise<ToolOutcome> {
  const bytes = await reader.rest(MAX_IMAGE_BYTES);
  if (bytes === undefined) throw cannot("read", path, "the image is larger than 20 MiB");
  const filename = host.paths.basename(path);
  return {
    content: [
      { type: "text", text: `Image ${path} (${mimeType}, ${bytes.length} bytes)` },
      { type: "image", data: encodeBase64(bytes), mimeType, filename },
    ],
    isError: false,
  };
}

function withoutBom(bytes: Uint8Array | undefined): Uint8Array | undefined {
  const hasBom = bytes?.[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return hasBom ? bytes.subarray(3) : bytes;
}
