/** How a tool call looks to the client, live and in replay. Knows no event and no request. */

import { visibleText } from "../../agent/visible_text.ts";
import type { ImageBlock, JsonObject, TextBlock, ToolCall } from "../../agent/message.ts";
import type { PlannedChange } from "../../session/plan_change.ts";
import type { ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";

/** What is shown of a call besides its state. */
export interface CallView {
  readonly toolCallId: string;
  readonly title: string;
  readonly name: string;
  readonly kind: ToolKind;
  readonly rawInput: unknown;
  readonly locations: ToolCallLocation[];
  /** The proposed diff; `[]` for other calls. */
  readonly content: ToolCallContent[];
}

/** Where a session works, and how paths are told. */
export interface ViewPlace {
  /** The absolute path that the client knows a file by. */
  clientPath(path: string): string;
  readonly serverNames: readonly string[];
}

const MAX_TEXT = 4096;
const MAX_DEPTH = 100;
const MAX_RAW_INPUT = 256 * 1024;
const MAX_DIFF_BYTES = 512 * 1024;
const MAX_TITLE = 100;

/** The call as it is told before it runs. */
export function viewCall(
  call: ToolCall,
  { id, place, change, asker }: {
    id: string;
    place: ViewPlace;
    change?: PlannedChange | undefined;
    /** The subagent that makes the call. */
    asker?: string | undefined;
  },
): CallView {
  const { kind, title } = describe(call, place);
  return {
    toolCallId: id,
    title: asker === undefined ? title : `${asker}: ${title}`,
    name: call.name,
    kind,
    rawInput: viewInput(call),
    locations: locationsOf(call, { place, change }),
    content: change?.ok ? viewChange(change, place) : [],
  };
}

/** What the model gets, as the client sees it. */
export function viewResult(content: readonly (TextBlock | ImageBlock)[]): ToolCallContent[] {
  return content.map((block): ToolCallContent =>
    block.type === "text" ? viewText(block.text) : {
      type: "content",
      content: { type: "image", data: block.data, mimeType: block.mimeType },
    }
  );
}

export function viewText(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

/** The whole change, or only its lines when it is large. */
export function viewChange(
  change: PlannedChange & { ok: true },
  place: ViewPlace,
): ToolCallContent[] {
  const { path, before, after, unified } = change;
  const diff: ToolCallContent = {
    type: "diff",
    path: place.clientPath(path),
    oldText: before ?? null,
    newText: after,
  };
  if (isSmall(before ?? "", after)) return [diff];
  return [viewText(unified === undefined ? "The change is too large to show" : unified)];
}

function isSmall(before: string, after: string): boolean {
  if (before.length + after.length > MAX_DIFF_BYTES) return false;
  const bytes = new TextEncoder().encode(before + after).length;
  // Escapes may make a text several times as long on the wire, where no record may exceed 1 MiB.
  return bytes <= MAX_DIFF_BYTES && JSON.stringify([before, after]).length <= MAX_DIFF_BYTES * 1.5;
}

function describe(call: ToolCall, place: ViewPlace): { kind: ToolKind; title: string } {
  const { name, arguments: args } = call;
  const text = (key: string) => typeof args[key] === "string" ? cut(String(args[key])) : "";
  switch (name) {
    case "read":
      return { kind: "read", title: `Read ${text("path")}` };
    case "write":
      return { kind: "edit", title: `Write ${text("path")}` };
    case "edit":
      return { kind: "edit", title: `Edit ${text("path")}` };
    case "bash":
      return { kind: "execute", title: firstLine(text("command")) || "Run a command" };
    case "grep":
      return { kind: "search", title: `Search ${text("pattern")}` };
    case "find":
      return { kind: "search", title: `Find ${text("pattern")}` };
    case "ls":
      return { kind: "read", title: `List ${text("path") || "."}` };
    case "task":
      return { kind: "think", title: firstLine(text("description")) || "Task" };
    case "todo":
      return { kind: "think", title: "Update plan" };
    case "question":
      return { kind: "other", title: "Question" };
    case "list_jobs":
      return { kind: "other", title: "List jobs" };
    case "stop_job":
      return { kind: "other", title: `Stop ${text("job_id")}` };
    default:
      return { kind: "other", title: serverTitle(name, place) ?? name };
  }
}

function serverTitle(name: string, { serverNames }: ViewPlace): string | undefined {
  for (const server of serverNames) {
    const prefix = `${server.replace(/[^A-Za-z0-9_-]/gu, "_")}_`;
    if (name.startsWith(prefix)) return `${server}: ${name.slice(prefix.length)}`;
  }
  return undefined;
}

function locationsOf(
  { name, arguments: args }: ToolCall,
  { place, change }: { place: ViewPlace; change: PlannedChange | undefined },
): ToolCallLocation[] {
  if (!["read", "write", "edit", "grep", "find", "ls"].includes(name)) return [];
  if (typeof args.path !== "string") return [];
  const path = place.clientPath(args.path);
  const line = name === "read"
    ? args.offset
    : name === "edit" && change?.ok
    ? change.firstLine
    : undefined;
  return [typeof line === "number" && line >= 1 ? { path, line } : { path }];
}

function viewInput(call: ToolCall): unknown {
  if (call.rawArguments !== undefined) return cutText(call.rawArguments);
  const input = cutStrings(call.arguments);
  const text = JSON.stringify(input);
  return text.length <= MAX_RAW_INPUT ? input : cutText(text);
}

/** What is nested so deep that nobody looks at it, and the stack would not hold, becomes `…`. */
function cutStrings(value: JsonObject[string], depth = 0): unknown {
  if (typeof value === "string") return cutText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return "…";
  if (Array.isArray(value)) return value.map((part) => cutStrings(part, depth + 1));
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, part]) => [key, cutStrings(part, depth + 1)]));
}

function cutText(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  const end = isHighSurrogate(text.charCodeAt(MAX_TEXT - 1)) ? MAX_TEXT - 1 : MAX_TEXT;
  return `${text.slice(0, end)}… [${text.length - end} more]`;
}

export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function firstLine(text: string): string {
  const line = text.trim().split("\n")[0]!.trim();
  return cut(line);
}

/** At most as long as a title may be, never cut inside a character; nothing in it that a person could not see. */
function cut(given: string): string {
  const text = visibleText(given);
  return text.length <= MAX_TITLE ? text : [...text].slice(0, MAX_TITLE).join("");
}
