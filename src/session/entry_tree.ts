/** The stored entries of a session as clients want to see them: a tree, the places to fork at, counts. Knows no file and no wire. */

import type { JsonObject } from "../agent/message.ts";
import type { EntryNode, FileStats } from "./command.ts";
import type { StoredEntry } from "./entry.ts";
import { asNumber, asObject } from "./json_members.ts";
import type { Settings } from "./settings.ts";
import type { Transcript } from "./transcript.ts";

/** The entries with their followers, in file order; linear, whatever the depth. */
export function buildTree(entries: readonly StoredEntry[]): EntryNode[] {
  const nodes = new Map<string, EntryNode>();
  const roots: EntryNode[] = [];
  for (const { id, parentId, raw } of entries) {
    const node: EntryNode = { entry: raw, children: [] };
    nodes.set(id, node);
    const parent = parentId === null ? undefined : nodes.get(parentId);
    (parent?.children ?? roots).push(node);
  }
  for (const { raw } of entries) {
    if (raw.type !== "label" || typeof raw.targetId !== "string") continue;
    const node = nodes.get(raw.targetId);
    if (node === undefined) continue;
    if (typeof raw.label !== "string" || raw.label === "") {
      delete node.label;
      delete node.labelTimestamp;
      continue;
    }
    node.label = raw.label;
    if (typeof raw.timestamp === "string") node.labelTimestamp = raw.timestamp;
  }
  return roots;
}

/** The messages of the person that have text, in file order, all branches. */
export function forkPoints(entries: readonly StoredEntry[]): { id: string; text: string }[] {
  const points: { id: string; text: string }[] = [];
  for (const entry of entries) {
    const text = forkText(entry);
    if (text !== undefined && text !== "") points.push({ id: entry.id, text });
  }
  return points;
}

/** The text of a message of the person; `undefined` for every other entry. */
export function forkText(entry: StoredEntry): string | undefined {
  if (entry.type !== "message" || entry.message.role !== "user") return undefined;
  const { message } = entry;
  if (message.foreign !== undefined || message.internal !== undefined) return undefined;
  if (message.display !== undefined) return message.display;
  return message.content.map((block) => block.type === "text" ? block.text : "").join("");
}

/** From the root to the entry; `[]` for `null`. */
export function pathTo(entries: readonly StoredEntry[], id: string | null): StoredEntry[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const path: StoredEntry[] = [];
  for (let at = id === null ? undefined : byId.get(id); at !== undefined;) {
    path.push(at);
    at = at.parentId === null ? undefined : byId.get(at.parentId);
  }
  return path.reverse();
}

/** Counts and sums over all entries. */
export function countFile(transcript: Transcript, settings: Settings): FileStats {
  const counts = {
    userMessages: 0,
    assistantMessages: 0,
    toolCalls: 0,
    toolResults: 0,
    totalMessages: 0,
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    cost: 0,
  };
  for (const { raw } of transcript.entries) {
    const message = raw.type === "message" ? asObject(raw.message) : undefined;
    addUsage(counts, asObject(message?.usage ?? raw.usage));
    if (message !== undefined) countMessage(counts, message);
  }
  const { model } = settings;
  return {
    path: transcript.path,
    sessionId: transcript.id,
    ...counts,
    context: model.id === ""
      ? undefined
      : { tokens: transcript.countedTokens, window: model.info.contextWindow },
  };
}

type Counts = { -readonly [Key in keyof FileStats]: FileStats[Key] };

function countMessage(
  counts: Pick<
    Counts,
    "userMessages" | "assistantMessages" | "toolCalls" | "toolResults" | "totalMessages"
  >,
  message: JsonObject,
): void {
  if (message.role === "system") return;
  counts.totalMessages++;
  if (message.role === "user") counts.userMessages++;
  if (message.role === "toolResult") counts.toolResults++;
  if (message.role !== "assistant") return;
  counts.assistantMessages++;
  if (!Array.isArray(message.content)) return;
  for (const block of message.content) {
    if (asObject(block)?.type === "toolCall") counts.toolCalls++;
  }
}

function addUsage(
  counts: Pick<
    Counts,
    "inputTokens" | "outputTokens" | "cacheReadTokens" | "cacheWriteTokens" | "cost"
  >,
  usage: JsonObject | undefined,
): void {
  if (usage === undefined) return;
  counts.inputTokens += asNumber(usage.input) ?? 0;
  counts.outputTokens += asNumber(usage.output) ?? 0;
  counts.cacheReadTokens += asNumber(usage.cacheRead) ?? 0;
  counts.cacheWriteTokens += asNumber(usage.cacheWrite) ?? 0;
  counts.cost += asNumber(asObject(usage.cost)?.total) ?? 0;
}
