/**
 * Puts the records of a session file into one tree of entries, whatever their version and however damaged their neighbours. Knows no
 * file.
 *
 * In memory every entry has an id of its own and a parent that stands before it, so a walk to the root always ends.
 */

import type { JsonObject } from "../agent/message.ts";
import { decodeEntry, type StoredEntry } from "./entry.ts";
import { asObject } from "./json_members.ts";
import { lineEntryId } from "./session_id.ts";

export class EntryChain {
  /** In file order, all branches. */
  readonly entries: StoredEntry[] = [];
  readonly #version: number;
  readonly #byId = new Map<string, StoredEntry>();
  /** Ids that stand in the file more than once, with the id that the last of them has in memory. */
  readonly #renamed = new Map<string, string>();

  constructor(version: number) {
    this.#version = version;
  }

  /** Takes a record as the next entry; `false` when it is none. */
  add(record: JsonObject, line: number): boolean {
    if (typeof record.type !== "string" || record.type === "session") return false;
    const place = {
      id: this.#idOf(record, line),
      parentId: this.#parentOf(record),
      timestamp: typeof record.timestamp === "string" ? record.timestamp : EPOCH,
    };
    const raw = this.#toCurrent(record, place);
    const entry: StoredEntry = { ...decodeEntry(raw), ...place, raw };
    if (typeof record.id === "string" && record.id !== place.id) {
      this.#renamed.set(record.id, place.id);
    }
    this.#byId.set(place.id, entry);
    this.entries.push(entry);
    return true;
  }

  /** From the root to the last entry. */
  activePath(): StoredEntry[] {
    const path: StoredEntry[] = [];
    let entry = this.entries.at(-1);
    while (entry !== undefined) {
      path.push(entry);
      entry = entry.parentId === null ? undefined : this.#byId.get(entry.parentId);
    }
    return path.reverse();
  }

  #idOf(record: JsonObject, line: number): string {
    const { id } = record;
    if (typeof id === "string" && id !== "" && !this.#byId.has(id)) return id;
    return lineEntryId(line, this.#byId);
  }

  /** What follows an entry that could not be read follows the one before it in the file. */
  #parentOf(record: JsonObject): string | null {
    const { parentId } = record;
    if (parentId === null) return null;
    if (typeof parentId === "string") {
      const current = this.#renamed.get(parentId) ?? parentId;
      if (this.#byId.has(current)) return current;
    }
    return this.entries.at(-1)?.id ?? null;
  }

  /** The record as version 3 has it. */
  #toCurrent(
    record: JsonObject,
    place: { id: string; parentId: string | null; timestamp: string },
  ): JsonObject {
    const { id, parentId, timestamp } = place;
    const message = asObject(record.message);
    const isSame = record.id === id && record.parentId === parentId &&
      record.timestamp === timestamp;
    if (isSame && this.#version >= 3) return record;
    const { type: _type, id: _id, parentId: _parentId, timestamp: _timestamp, ...rest } = record;
    const raw: JsonObject = { type: record.type!, id, parentId, timestamp, ...rest };
    if (this.#version < 3 && message?.role === "hookMessage") {
      raw.message = { ...message, role: "custom" };
    }
    // Version 1 counted the lines of the file, the header as 0.
    const { firstKeptEntryIndex: index } = record;
    if (typeof index === "number" && raw.firstKeptEntryId === undefined) {
      raw.firstKeptEntryId = this.entries[Math.max(0, index - 1)]?.id ?? id;
      delete raw.firstKeptEntryIndex;
    }
    return raw;
  }
}

const EPOCH = "1970-01-01T00:00:00.000Z";
