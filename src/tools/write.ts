/**
 * The `write` tool: a whole file at once. A reader of the file sees the old or the new text, never a part.
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
import { changeInTurn } from "./change_in_turn.ts";
import { findPath } from "./find_path.ts";
import { cannot, runFileTool } from "./tool_failure.ts";

/** Arguments of `write`. */
export type WriteArguments = { path: string; content: string };

const PARAMETERS: JsonObject = {
  type: "object",
  properties: {
    path: {
      type: "string",
      minLength: 1,
      description: "File, relative to the workspace or absolute",
    },
    content: { type: "string", description: "The whole new text of the file" },
  },
  required: ["path", "content"],
  additionalProperties: false,
};

/**
 * Makes or replaces a file with exactly the given text, parent folders included. A replaced file keeps its mode; through a symlink the
 * file that it points to is replaced and the symlink stays.
 */
export const writeTool: Tool<WriteArguments> = {
  name: "write",
  description:
    "Writes a file: makes it, and the folders above it, or replaces all of its text. To change a part of a file use edit.",
  parameters: PARAMETERS,
  parse: (args) => parseArguments(PARAMETERS, args) as ParsedArguments<WriteArguments>,
  run: (args, context) =>
    runFileTool(
      { action: "write", path: args.path, signal: context.signal },
      () => writeFile(args, context),
    ),
};

async function writeFile(args: WriteArguments, context: ToolContext): Promise<ToolOutcome> {
  const { host, signal } = context;
  const options = { action: "write", context, refuseCredentials: true };
  const { path, info } = await findPath(args.path, options);
  if (info?.kind === "folder") throw cannot("write", args.path, "it is a folder");
  if (info !== undefined && info.kind !== "file") {
    throw cannot("write", args.path, "it is not a regular file");
  }
  if (!args.content.isWellFormed()) {
    throw cannot("write", args.path, "the content has half of a character in it, send it whole");
  }
  const bytes = new TextEncoder().encode(args.content);
  if (info === undefined) await host.files.makeFolder(host.paths.dirname(path));
  await changeInTurn(path, () => host.files.replace(path, bytes, { signal }));
  const size = bytes.length === 1 ? "1 byte" : `${bytes.length} bytes`;
  return textOutcome(`Wrote ${size} to ${args.path} (${info ? "replaced" : "created"})`);
}
