/**
 * Entry: one line of a session file, in pi's published session format, version 3, and its form in memory. Knows no file; what is
 * read or written, and when, is the business of the journal.
 */

import type { JsonObject, JsonValue, Message, Receipt, Usage } from "../agent/message.ts";
import { asNumber, asObject, asString, present } from "./json_members.ts";
import { decodeMessage, encodeMessage } from "./stored_message.ts";
import { decodeCosts, encodeUsage } from "./stored_usage.ts";

/** The version of the format that is written. */
export const SESSION_VERSION = 3;

/** The first line of a session file, as it is in the file. */
export interface SessionHeader {
  readonly type: "session";
  readonly version: number;
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  /** The workspace. */
  readonly cwd: string;
  /** Path of the session that this one is a copy of. */
  readonly parentSession?: string;
}

/** What an entry says, before it has a place in a session. */
export type NewEntry =
  | { readonly type: "message"; readonly message: Message }
  | { readonly type: "model_change"; readonly provider: string; readonly modelId: string }
  | { readonly type: "thinking_level_change"; readonly thinkingLevel: string }
  | {
    readonly type: "compaction";
    readonly summary: string;
    readonly firstKeptEntryId: string;
    readonly tokensBefore: number;
    readonly usage?: Usage;
    readonly receipt?: Receipt;
    readonly details?: JsonValue;
  }
  /** The message of another entry is sent to the model as `replacement` from now on, or not at all. */
  | {
    readonly type: "context_edit";
    readonly targetId: string;
    readonly replacement: JsonObject | null;
  }
  /** `""`: without a name again. */
  | { readonly type: "session_info"; readonly name: string }
  /** What Weir writes has a `customType` that begins `weir.`. */
  | { readonly type: "custom"; readonly customType: string; readonly data?: JsonValue }
  /** A model call whose reply is no message of this conversation: `kind` says whose it was. */
  | {
    readonly type: "usage";
    readonly kind: string;
    readonly provider: string;
    readonly model: string;
    readonly usage: Usage;
    readonly receipt?: Receipt;
  }
  /** Anything else, messages of unknown roles included; `raw.type` is the type in the file. */
  | { readonly type: "opaque"; readonly raw: JsonObject };

/** Where an entry is in its session. */
export interface EntryPlace {
  /** Unique in the session. */
  readonly id: string;
  /** The entry before it; `null` at the root. */
  readonly parentId: string | null;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
}

/** An entry of a session. `raw` is the whole entry as the file has it, members that Weir does not know included. */
export type StoredEntry = NewEntry & EntryPlace & { readonly raw: JsonObject };

/** The line of an entry, as an object. */
export function encodeEntry(entry: NewEntry, place: EntryPlace): JsonObject {
  const { id, parentId, timestamp } = place;
  if (entry.type === "opaque") {
    return { ...entry.raw, id, parentId, timestamp };
  }
  return { type: entry.type, id, parentId, timestamp, ...encodeContent(entry) };
}

function encodeContent(entry: Exclude<NewEntry, { type: "opaque" }>): JsonObject {
  switch (entry.type) {
    case "message":
      return { message: encodeMessage(entry.message) };
    case "compaction": {
      const { summary, firstKeptEntryId, tokensBefore, usage, receipt, details } = entry;
      return present({
        summary,
        firstKeptEntryId,
        tokensBefore,
        usage: usage && encodeUsage(usage, receipt),
        details,
        weir: usage && present({ usage, receipt }),
      });
    }
    case "usage": {
      const { kind, provider, model, usage, receipt } = entry;
      const weir = present({ usage, receipt });
      return { kind, provider, model, usage: encodeUsage(usage, receipt), weir };
    }
    default: {
      const { type: _, ...content } = entry;
      return present(content);
    }
  }
}

/** What the line of an entry says. An entry that is not as it should be is opaque, so it is kept. */
export function decodeEntry(raw: JsonObject): NewEntry {
  switch (raw.type) {
    case "message": {
      const message = decodeMessage(raw.message, { timestamp: asTime(raw.timestamp) });
      if (message !== undefined) return { type: "message", message };
      break;
    }
    case "model_change":
      if (typeof raw.provider === "string" && typeof raw.modelId === "string") {
        return { type: "model_change", provider: raw.provider, modelId: raw.modelId };
      }
      break;
    case "thinking_level_change":
      if (typeof raw.thinkingLevel === "string") {
        return { type: "thinking_level_change", thinkingLevel: raw.thinkingLevel };
      }
      break;
    case "compaction":
      if (typeof raw.summary === "string" && typeof raw.firstKeptEntryId === "string") {
        return {
          type: "compaction",
          summary: raw.summary,
          firstKeptEntryId: raw.firstKeptEntryId,
          tokensBefore: asNumber(raw.tokensBefore) ?? 0,
          ...decodeCosts(raw, { provider: "", model: "" }),
          ...(raw.details !== undefined && { details: raw.details }),
        };
      }
      break;
    case "context_edit":
      if (typeof raw.targetId === "string") {
        return {
          type: "context_edit",
          targetId: raw.targetId,
          replacement: asObject(raw.replacement) ?? null,
        };
      }
      break;
    case "session_info":
      return { type: "session_info", name: asString(raw.name) ?? "" };
    case "custom":
      if (typeof raw.customType === "string") {
        const { customType, data } = raw;
        return { type: "custom", customType, ...(data !== undefined && { data }) };
      }
      break;
    case "usage": {
      const provider = asString(raw.provider) ?? "";
      const model = asString(raw.model) ?? "";
      const { usage, ...rest } = decodeCosts(raw, { provider, model });
      if (usage === undefined) break;
      return { type: "usage", kind: asString(raw.kind) ?? "", provider, model, usage, ...rest };
    }
  }
  return { type: "opaque", raw };
}

/** What the first line of a file says; `undefined` when it is no header of a session. A header of version 1 has no version. */
export function decodeHeader(raw: JsonObject): SessionHeader | undefined {
  if (raw.type !== "session" || typeof raw.id !== "string" || raw.id === "") return undefined;
  const parentSession = asString(raw.parentSession) ?? asString(raw.branchedFrom);
  return {
    type: "session",
    version: asNumber(raw.version) ?? 1,
    id: raw.id,
    timestamp: asString(raw.timestamp) ?? "",
    cwd: asString(raw.cwd) ?? "",
    ...(parentSession !== undefined && { parentSession }),
  };
}

function asTime(value: unknown): number {
  return typeof value === "string" ? Date.parse(value) || 0 : 0;
}
