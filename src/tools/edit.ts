/**
 * The `edit` tool: exact replacements in one text file, all or nothing. The finding of places is in `plan_changes.ts`.
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
import { applyChanges, type Edit, planChanges, type TextChange } from "./plan_changes.ts";
import { SNIFF_BYTES, sniffContent } from "./sniff_content.ts";
import { cannot, runFileTool } from "./tool_failure.ts";
import { unifiedDiff } from "./unified_diff.ts";

/** Arguments of `edit`. */
export type EditArguments = { path: string; edits: Edit[] };

/** What an edit would do; texts are without a byte order mark. */
export interface EditPlan {
  /** Without symlinks. */
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly changes: readonly TextChange[];
  readonly hasBom: boolean;
  /** Of the file as it was read. */
  readonly modifiedMs: number;
  readonly size: number;
}

const MAX_FILE_BYTES = 50 * 1000 * 1000;
const MAX_DIFF_LENGTH = 50 * 1024;

const EDIT_PROPERTIES: JsonObject = {
  oldText: { type: "string", description: "Text to replace, exactly as it is in the file" },
  newText: { type: "string", description: "Text to put in its place" },
  all: { type: "boolean", description: "Replace every place where oldText is found" },
};

const PATH: JsonObject = {
  type: "string",
  minLength: 1,
  description: "File, relative to the workspace or absolute",
};

const EDIT: JsonObject = {
  type: "object",
  properties: EDIT_PROPERTIES,
  required: ["oldText", "newText"],
  additionalProperties: false,
};

const PARAMETERS: JsonObject = {
  type: "object",
  properties: { path: PATH, edits: { type: "array", items: EDIT } },
  required: ["path", "edits"],
  additionalProperties: false,
};

/** The short form that is also taken: one edit beside the path. */
const BARE_PARAMETERS: JsonObject = {
  ...EDIT,
  properties: { path: PATH, ...EDIT_PROPERTIES },
  required: ["path", "oldText", "newText"],
};

/**
 * Changes a UTF-8 file of at most 50 MB. Byte order mark, line ends and mode stay; a file that changed meanwhile is left alone. The result
 * has a unified diff of at most 50 KB, also in `details.diff`, with `details.firstChangedLine` (in the new text, from 1).
 */
export const editTool: Tool<EditArguments> = {
  name: "edit",
  description:
    "Replaces parts of a text file. Each oldText must be found exactly once in the file as it is now (or set all), so give enough " +
    "lines around it. All edits are made, or none; they must not overlap. Line ends are kept: write LF. Returns a diff.",
  parameters: PARAMETERS,
  parse: parseEdit,
  run: (args, context) =>
    runFileTool(
      { action: "edit", path: args.path, signal: context.signal },
      () => editFile(args, context),
    ),
};

/**
 * Finds out what a call would do and changes nothing. Throws `ToolFailure` (or `HostError`) when the edit cannot be made, with the
 * text that the call would give.
 */
export async function planEdit(
  args: EditArguments,
  context: Pick<ToolContext, "host" | "workspace" | "isCredentialFile" | "signal">,
): Promise<EditPlan> {
  const { host, signal } = context;
  const fail = (state: string) => cannot("edit", args.path, state);
  const options = { action: "edit", context, refuseCredentials: true };
  const { path, info } = await findPath(args.path, options);
  if (info === undefined) throw fail("it does not exist, use write to make it");
  if (info.kind === "folder") throw fail("it is a folder");
  if (info.kind !== "file") throw fail("it is not a regular file");
  const bytes = await host.files.read(path, {
    signal,
    limit: MAX_FILE_BYTES + 1,
    isReal: true,
  });
  if (bytes.length > MAX_FILE_BYTES) throw fail("it is larger than 50 MB");
  // UTF-16 without a mark looks like this: what is put in would be read wrong there.
  const isWhole = bytes.length <= SNIFF_BYTES;
  if (sniffContent(bytes.subarray(0, SNIFF_BYTES), { isWhole }) === "binary") {
    throw fail("it is not UTF-8 text, an edit would damage it");
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw fail("it is not UTF-8 text, an edit would damage it");
  }
  const hasBom = text.startsWith("\uFEFF");
  const before = hasBom ? text.slice(1) : text;
  const plan = planChanges(before, args.edits);
  if (!plan.ok) throw fail(plan.problem);
  const { changes } = plan;
  const length = changes.reduce(
    (sum, { start, end, text }) => sum + text.length - (end - start),
    before.length,
  );
  if (length > MAX_FILE_BYTES) throw fail("the result would be larger than 50 MB");
  const after = applyChanges(before, changes);
  return { path, before, after, changes, hasBom, modifiedMs: info.modifiedMs, size: info.size };
}

function parseEdit(args: JsonObject): ParsedArguments<EditArguments> {
  if (Object.hasOwn(args, "edits") && args.edits !== null) {
    const parsed = parseArguments(PARAMETERS, args) as ParsedArguments<EditArguments>;
    if (!parsed.ok || parsed.value.edits.length > 0) return parsed;
    return { ok: false, problem: "edits: expected at least one edit" };
  }
  if (!Object.hasOwn(args, "oldText") && !Object.hasOwn(args, "newText")) {
    return parseArguments(PARAMETERS, args) as ParsedArguments<EditArguments>;
  }
  const { edits: _, ...bare } = args;
  const parsed = parseArguments(BARE_PARAMETERS, bare) as ParsedArguments<Edit & { path: string }>;
  if (!parsed.ok) return parsed;
  const { path, ...edit } = parsed.value;
  return { ok: true, value: { path, edits: [edit] } };
}

async function editFile(args: EditArguments, context: ToolContext): Promise<ToolOutcome> {
  const options = { action: "edit", context, refuseCredentials: true };
  const { path } = await findPath(args.path, options);
  return await changeInTurn(path, () => editInTurn(args, context));
}

async function editInTurn(args: EditArguments, context: ToolContext): Promise<ToolOutcome> {
  const { files } = context.host;
  const { signal } = context;
  const { path, before, after, changes, hasBom, ...read } = await planEdit(args, context);
  const limits = { path: args.path, maxLength: MAX_DIFF_LENGTH };
  const { diff, firstChangedLine } = await unifiedDiff(before, changes, limits);
  const bytes = new TextEncoder().encode(hasBom ? "\uFEFF" + after : after);
  const now = await files.stat(path);
  if (now?.modifiedMs !== read.modifiedMs || now.size !== read.size) {
    throw cannot("edit", args.path, "it was changed at the same time, read it again");
  }
  await files.replace(path, bytes, { signal });
  const count = changes.length === 1 ? "1 replacement" : `${changes.length} replacements`;
  return textOutcome(`Made ${count} in ${args.path}\n\n${diff}`, {
    details: { diff, firstChangedLine },
  });
}
