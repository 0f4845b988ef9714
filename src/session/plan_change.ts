/** What a `write` or `edit` call would change, found out before it runs. Changes nothing. */

import type { JsonObject } from "../agent/message.ts";
import type { ToolContext } from "../agent/tool.ts";
import { errorText } from "../errors.ts";
import { type EditArguments, editTool, planEdit } from "../tools/edit.ts";
import { findPath } from "../tools/find_path.ts";
import type { TextChange } from "../tools/plan_changes.ts";
import { sniffContent } from "../tools/sniff_content.ts";
import { unifiedDiff } from "../tools/unified_diff.ts";
import { likeBase, withClientFiles } from "./client_files.ts";
import type { ClientHelp } from "./client_help.ts";

/** A file before and after, or why the call cannot be carried out. */
export type PlannedChange =
  | {
    readonly ok: true;
    /** Without symlinks. */
    readonly path: string;
    /** `undefined`: the file is new, or is no text. */
    readonly before: string | undefined;
    readonly after: string;
    /** In the new text, from 1. */
    readonly firstLine: number | undefined;
    /** The changed lines, for a change that is too large to be shown whole. */
    readonly unified: string | undefined;
  }
  | { readonly ok: false; readonly problem: string };

type PlanContext = Pick<ToolContext, "host" | "workspace" | "isCredentialFile" | "signal">;

/** Files above this are not shown as they were. */
const MAX_BASE_BYTES = 1024 * 1024;

/** Plans a call of `write` or `edit` with checked arguments; `undefined` for other tools. Throws only `signal.reason`. */
export async function planChange(
  call: { name: string; args: JsonObject },
  context: PlanContext & { client: ClientHelp | undefined },
): Promise<PlannedChange | undefined> {
  const { client, signal } = context;
  const host = withClientFiles(context.host, { client, signal });
  const here = { ...context, host };
  try {
    if (call.name === "write") return await planWrite(call.args, { ...here, client });
    if (call.name !== "edit") return undefined;
    const parsed = editTool.parse(call.args);
    if (!parsed.ok) return undefined;
    const { path, before, after, changes, hasBom } = await planEdit(
      parsed.value as EditArguments,
      here,
    );
    const mark = hasBom ? "\uFEFF" : "";
    const firstLine = before.slice(0, changes[0]?.start ?? 0).split("\n").length;
    const unified = await describeLarge(before, changes, after);
    return { ok: true, path, before: mark + before, after: mark + after, firstLine, unified };
  } catch (error) {
    signal.throwIfAborted();
    return { ok: false, problem: errorText(error) };
  }
}

async function planWrite(
  args: JsonObject,
  context: PlanContext & { client: ClientHelp | undefined },
): Promise<PlannedChange | undefined> {
  const { path: given, content } = args;
  if (typeof given !== "string" || typeof content !== "string") return undefined;
  const { path } = await findPath(given, { action: "write", context, refuseCredentials: true });
  const before = await readBaseText(given, context);
  const after = context.client?.writeText === undefined ? content : likeBase(content, before ?? "");
  const changes = [{ start: 0, end: before?.length ?? 0, text: after }];
  const unified = await describeLarge(before ?? "", changes, after);
  return { ok: true, path, before, after, firstLine: undefined, unified };
}

/** Texts above this, together, may be too large for a client. */
const LARGE_LENGTH = 64 * 1024;
const MAX_UNIFIED_LENGTH = 50 * 1024;

async function describeLarge(
  before: string,
  changes: readonly TextChange[],
  after: string,
): Promise<string | undefined> {
  if (before.length + after.length < LARGE_LENGTH) return undefined;
  const { diff } = await unifiedDiff(before, changes, {
    path: "file",
    maxLength: MAX_UNIFIED_LENGTH,
  });
  return diff;
}

/** The text of a file that may be replaced; `undefined` when there is none, or it is too large or no text. */
export async function readBaseText(
  given: string,
  context: PlanContext,
): Promise<string | undefined> {
  const { host, signal } = context;
  try {
    const { path, info } = await findPath(given, {
      action: "write",
      context,
      refuseCredentials: true,
    });
    if (info?.kind !== "file") return undefined;
    const bytes = await host.files.read(path, { signal, limit: MAX_BASE_BYTES + 1, isReal: true });
    if (bytes.length > MAX_BASE_BYTES || sniffContent(bytes, { isWhole: true }) !== "text") {
      return undefined;
    }
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
