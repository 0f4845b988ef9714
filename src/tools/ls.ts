/**
 * The `ls` tool: the names in one folder. Never opens a file.
 */

import type { JsonObject } from "../agent/message.ts";
import {
  type ParsedArguments,
  textOutcome,
  type Tool,
  type ToolContext,
  type ToolOutcome,
} from "../agent/tool.ts";
import type { FolderEntry } from "../host.ts";
import { parseArguments } from "./arguments.ts";
import { findPath } from "./find_path.ts";
import { cannot, runFileTool } from "./tool_failure.ts";

/** Arguments of `ls`. */
export type LsArguments = { path?: string; limit?: number };

const DEFAULT_NAMES = 500;
const MAX_TEXT_LENGTH = 50 * 1024;

const PARAMETERS: JsonObject = {
  type: "object",
  properties: {
    path: {
      type: "string",
      minLength: 1,
      description: "Folder, relative to the workspace or absolute (default: the workspace)",
    },
    limit: {
      type: "integer",
      minimum: 1,
      description: `Number of names (default ${DEFAULT_NAMES})`,
    },
  },
  additionalProperties: false,
};

/**
 * Lists a folder, one name a line, sorted by UTF-16 units; folders end in `/` and symlinks in `@`. Control characters in a name are
 * shown as `\xNN`. At most `limit` names and 50 KB, with a notice when there are more.
 */
export const lsTool: Tool<LsArguments> = {
  name: "ls",
  description:
    "Lists the names in a folder, hidden ones too, sorted. Folders end in /, symbolic links in @. To look for files below a folder " +
    "use find.",
  parameters: PARAMETERS,
  group: "read",
  parse: (args) => parseArguments(PARAMETERS, args) as ParsedArguments<LsArguments>,
  run: (args, context) =>
    runFileTool(
      { action: "list", path: args.path ?? ".", signal: context.signal },
      () => listFolder(args, context),
    ),
};

/** A name as one line of a listing: control characters are escaped, a folder ends in `/`. */
export function listedName(entry: FolderEntry): string {
  // deno-lint-ignore no-control-regex -- these are what must not reach the listing
  const name = entry.name.replace(/[\x00-\x1f\x7f]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
  return entry.kind === "folder" ? `${name}/` : name;
}

async function listFolder(args: LsArguments, context: ToolContext): Promise<ToolOutcome> {
  const { path: given = ".", limit = DEFAULT_NAMES } = args;
  const options = { action: "list", context, refuseCredentials: false };
  const { path, info } = await findPath(given, options);
  if (info === undefined) throw cannot("list", given, "it does not exist");
  if (info.kind !== "folder") throw cannot("list", given, "it is not a folder, use read");
  const entries: FolderEntry[] = [];
  for await (const entry of context.host.files.readFolder(path)) {
    context.signal.throwIfAborted();
    entries.push(entry);
  }
  if (entries.length === 0) return textOutcome("[the folder is empty]");
  entries.sort((a, b) => a.name < b.name ? -1 : 1);
  let text = "";
  let shown = 0;
  for (const entry of entries) {
    const line = `${listedName(entry)}${entry.kind === "symlink" ? "@" : ""}\n`;
    if (shown === limit || text.length + line.length > MAX_TEXT_LENGTH) break;
    text += line;
    shown++;
  }
  if (shown < entries.length) text += `[${shown} of ${entries.length} names; use limit for more]\n`;
  return textOutcome(text);
}
