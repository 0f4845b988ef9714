/**
 * The tool `find`: files and folders by name. Knows how results read; refuses to know how a folder is walked.
 */

import type { JsonObject } from "../agent/message.ts";
import {
  errorOutcome,
  type ParsedArguments,
  textOutcome,
  type Tool,
  type ToolContext,
  type ToolOutcome,
} from "../agent/tool.ts";
import { errorText } from "../errors.ts";
import { parseArguments } from "./arguments.ts";
import { globMatcher } from "./glob.ts";
import { SearchResult, shownPath } from "./search_result.ts";
import { openSearchRoot } from "./search_root.ts";
import { walk } from "./walk.ts";

/** The arguments of `find`. */
export interface FindArguments {
  readonly pattern: string;
  readonly path?: string;
  readonly limit?: number;
}

const DEFAULT_LIMIT = 1000;

const PARAMETERS: JsonObject = {
  type: "object",
  properties: {
    pattern: {
      type: "string",
      minLength: 1,
      description:
        "Glob for the name, or with a slash for the path below the folder: *.ts, src/**/*.{js,ts}",
    },
    path: { type: "string", description: "Folder to look in; default: the workspace" },
    limit: { type: "integer", minimum: 1, description: "Results at most; default 1000" },
  },
  required: ["pattern"],
  additionalProperties: false,
};

/** The tool `find`. */
export const findTool: Tool<FindArguments> = {
  name: "find",
  description:
    "Finds files and folders by name, sorted by path; folders end with a slash. Hidden " +
    "names are included; what .gitignore names and .git are not. Symlinks are not followed.",
  parameters: PARAMETERS,
  group: "read",

  parse(args: JsonObject): ParsedArguments<FindArguments> {
    const parsed = parseArguments(PARAMETERS, args);
    return parsed.ok ? { ok: true, value: parsed.value as unknown as FindArguments } : parsed;
  },

  async run(args: FindArguments, context: ToolContext): Promise<ToolOutcome> {
    context.signal.throwIfAborted();
    let matches: (path: string) => boolean;
    try {
      matches = globMatcher(args.pattern.replace(/\/+$/, "") || args.pattern);
    } catch {
      return errorOutcome(`pattern: ${args.pattern} is not a valid glob`);
    }
    try {
      return await find(args, { context, matches });
    } catch (error) {
      context.signal.throwIfAborted();
      return errorOutcome(`Cannot search: ${errorText(error)}`);
    }
  },
};

async function find(
  args: FindArguments,
  { context, matches }: { context: ToolContext; matches: (path: string) => boolean },
): Promise<ToolOutcome> {
  const { limit = DEFAULT_LIMIT } = args;
  const onlyFolders = args.pattern.endsWith("/");
  const root = await openSearchRoot(args.path, context);
  if ("problem" in root) return errorOutcome(root.problem);
  if (root.kind === "file") return errorOutcome(`path: ${args.path} is not a folder`);
  const result = new SearchResult();
  let count = 0;
  for await (const entry of walk(root.path, context)) {
    const isFolder = entry.kind === "folder";
    if ((onlyFolders && !isFolder) || !matches(entry.path)) continue;
    if (++count > limit) {
      const results = limit === 1 ? "1 result" : `${limit} results`;
      result.cut(`There are more than ${results}; raise limit or narrow the search`);
    }
    result.add(shownPath(root.name(entry.path)) + (isFolder ? "/" : ""));
    if (result.isFull) break;
  }
  return textOutcome(result.text());
}
