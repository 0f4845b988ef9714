/**
 * Journal: the file of one session, which only grows, or nothing but the order of its entries when a session is not saved. Knows no
 * conversation; it does not keep what it wrote.
 */

import { HostError, RequestError } from "../errors.ts";
import type { AppendFile, Host } from "../host.ts";
import type { JsonObject } from "../agent/message.ts";
import { encodeEntry, type NewEntry, type SessionHeader, type StoredEntry } from "./entry.ts";
import { lockSession } from "./lock_session.ts";
import { saveError } from "./save_error.ts";
import { createEntryId } from "./session_id.ts";

/** Where a session is stored. */
export interface JournalFile {
  readonly host: Host;
  readonly path: string;
  /** The session's lock when it is held already; the journal releases it. */
  readonly lock?: AsyncDisposable;
  /** What the file has; `undefined`: it must be made. */
  readonly existing?: ExistingFile;
  /** The file to be made takes the place of one of this size; `entries` has all that was in it. */
  readonly replacesSize?: number;
}

/** The state of a file as it was read. */
export interface ExistingFile {
  /** Bytes that were read. */
  readonly size: number;
  /** Bytes to keep; what is behind them is a torn line. */
  readonly keep: number;
  /** The last line that is kept has no LF. */
  readonly needsLineEnd: boolean;
}

export interface JournalOptions {
  readonly header: SessionHeader;
  /** All entries the session has; for a file that must be made, they are written with its header. */
  readonly entries?: readonly StoredEntry[];
  /** `undefined`: nothing is written anywhere. */
  readonly file?: JournalFile;
}

/** How one entry is appended. */
export interface AppendOptions {
  /** An id that `reserveId` gave. */
  readonly id?: string;
  /** Does not need the file: while none is open, the entry waits in memory and is written by `prepare`. */
  readonly hold?: boolean;
}

export class Journal implements AsyncDisposable {
  readonly header: SessionHeader;
  /** The session's file, which may not exist yet; `undefined` when nothing is written. */
  readonly path: string | undefined;
  readonly #place: JournalFile | undefined;
  readonly #ids = new Set<string>();
  readonly #reserved = new Set<string>();
  readonly #encoder = new TextEncoder();
  /** Lines for a file that must be made, or is not open yet. */
  #held: JsonObject[] = [];
  #isMade = false;
  /** The torn line is gone. */
  #isCut = false;
  #leafId: string | null;
  #lock: AsyncDisposable | undefined;
  #file: AppendFile | undefined;
  #preparing: Promise<void> | undefined;
  #needsLineEnd: boolean;
  /** Where a failed write began. */
  #cutAt: number | undefined;
  #hasUnflushed = false;
  #flushing: Promise<void> = Promise.resolve();
  #nextFlush: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  /** Takes over the lock in `file`. Touches no file; `prepare` does. */
  constructor(options: JournalOptions) {
    const { header, entries = [], file } = options;
    this.header = header;
    this.path = file?.path;
    this.#place = file;
    this.#lock = file?.lock;
    this.#needsLineEnd = file?.existing?.needsLineEnd ?? false;
    for (const entry of entries) this.#ids.add(entry.id);
    this.#leafId = entries.at(-1)?.id ?? null;
    if (file !== undefined && file.existing === undefined) {
      this.#held = entries.map((entry) => entry.raw);
    }
  }

  /** Id of the session. */
  get id(): string {
    return this.header.id;
  }

  /** The entry that the next one follows. */
  get leafId(): string | null {
    return this.#leafId;
  }

  /** Whether there is a file with this session now. */
  get isSaved(): boolean {
    const place = this.#place;
    return this.#file !== undefined || place?.existing !== undefined || !!place?.replacesSize;
  }

  /**
   * Makes everything ready for `append`: takes the lock, makes the file with its header, cuts off a torn line. Await it before the
   * first append; later calls cost nothing. Throws `StartError` when another process has the session, `HostError` with a text that
   * says what to do when the file cannot be written; another call tries again.
   */
  async prepare(): Promise<void> {
    if (this.#closed !== undefined) throw closedError(this.header.id);
    if (this.#place === undefined) return;
    if (this.#file !== undefined) return await this.#requireFile(this.#place);
    this.#preparing ??= this.#open(this.#place).finally(() => this.#preparing = undefined);
    await this.#preparing;
  }

  /** A file that somebody has removed takes everything that is written, and keeps none of it. */
  async #requireFile({ host, path }: JournalFile): Promise<void> {
    if (await host.files.lstat(path) !== undefined) return;
    throw new HostError(
      "not_found",
      `Cannot save the session "${path}": its file was removed while it was open, start a new session`,
      { path },
    );
  }

  /** An id for an entry that is to be appended later, for records that name it before. */
  reserveId(): string {
    const id = createEntryId(this.#ids);
    this.#ids.add(id);
    this.#reserved.add(id);
    return id;
  }

  /**
   * Stores an entry behind the last one: one whole line, written in one go when this returns. Throws `HostError` with a text that
   * says what to do when it cannot be written; then the session is as it was before.
   */
  append(entry: NewEntry, options: AppendOptions = {}): StoredEntry {
    if (this.#closed !== undefined) throw closedError(this.header.id);
    const id = options.id ?? createEntryId(this.#ids);
    if (options.id !== undefined && !this.#reserved.has(options.id)) {
      throw new Error(
        `Cannot append entry "${id}": the id is not reserved, call reserveId() first`,
      );
    }
    const place = { id, parentId: this.#leafId, timestamp: new Date().toISOString() };
    const raw = encodeEntry(entry, place);
    if (this.#file !== undefined) {
      this.#write(this.#file, raw);
    } else if (this.#place !== undefined) {
      if (options.hold !== true) {
        throw new Error(`Cannot append entry "${id}": no file is open, await prepare() first`);
      }
      this.#held.push(raw);
    }
    this.#ids.add(id);
    this.#reserved.delete(id);
    this.#leafId = id;
    return { ...entry, ...place, raw };
  }

  /**
   * Resolves when everything appended before the call is on the disk. Calls at the same time share the work; without new entries it
   * costs nothing. Rejects with `HostError`.
   */
  flush(): Promise<void> {
    const file = this.#file;
    if (file === undefined || !this.#hasUnflushed) return this.#flushing;
    // A running flush may have begun before the last entry, so the entry needs the one after it.
    if (this.#nextFlush !== undefined) return this.#nextFlush;
    const next = this.#flushing.catch(() => {}).then(async () => {
      this.#nextFlush = undefined;
      this.#hasUnflushed = false;
      try {
        await file.flush();
      } catch (error) {
        this.#hasUnflushed = true;
        throw saveError(error, this.#place?.path ?? "");
      }
    });
    this.#nextFlush = next;
    this.#flushing = next;
    return next;
  }

  /** Flushes, closes the file and releases the lock, also when flushing fails. A second call does nothing. */
  close(): Promise<void> {
    return this.#closed ??= this.#close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.#preparing?.catch(() => {});
    try {
      await this.flush();
    } finally {
      this.#file?.close();
      await this.#lock?.[Symbol.asyncDispose]();
    }
  }

  async #open(place: JournalFile): Promise<void> {
    const { host, path, existing } = place;
    this.#lock ??= await lockSession(host, { id: this.header.id, path });
    let file: AppendFile | undefined;
    try {
      if (existing === undefined) await this.#make(place);
      else if (await host.files.stat(path) === undefined) {
        throw new HostError("not_found", "the file is gone", { path });
      }
      file = await host.files.openAppend(path, { mode: 0o600 });
      if (existing !== undefined && existing.keep < existing.size && !this.#isCut) {
        cutTail(file, path, existing);
        this.#isCut = true;
      }
      // What was held back until now; what cannot be written stays.
      for (; this.#held.length > 0; this.#held.shift()) this.#write(file, this.#held[0]!);
    } catch (error) {
      file?.close();
      throw saveError(error, path);
    }
    this.#file = file;
  }

  /** A new file comes into being whole and on the disk, with its name in the folder; after that, flushing the file is enough. */
  async #make(place: JournalFile): Promise<void> {
    if (this.#isMade) return;
    const { host: { files }, path } = place;
    const found = await files.stat(path);
    if ((found?.size ?? 0) !== (place.replacesSize ?? 0)) {
      throw new HostError("exists", "another program writes to the file", { path });
    }
    const held = this.#held;
    this.#held = [];
    try {
      const lines = [this.header, ...held].map((line) => JSON.stringify(line) + "\n");
      const bytes = this.#encoder.encode(lines.join(""));
      await files.replace(path, bytes, { mode: 0o600, signal: new AbortController().signal });
      this.#isMade = true;
    } catch (error) {
      this.#held = [...held, ...this.#held];
      throw error;
    }
  }

  #write(file: AppendFile, raw: JsonObject): void {
    const line = (this.#needsLineEnd ? "\n" : "") + JSON.stringify(raw) + "\n";
    try {
      this.#cutFailed(file);
      this.#cutAt = file.size;
      file.write(this.#encoder.encode(line));
      this.#cutAt = undefined;
    } catch (error) {
      try {
        this.#cutFailed(file);
      } catch {
        // The next append tries again, and so does the next process that opens the file.
      }
      throw saveError(error, this.#place?.path ?? "");
    }
    this.#needsLineEnd = false;
    this.#hasUnflushed = true;
  }

  /** Removes what a failed write left. */
  #cutFailed(file: AppendFile): void {
    if (this.#cutAt === undefined) return;
    if (file.size > this.#cutAt) file.truncate(this.#cutAt);
    this.#cutAt = undefined;
  }
}

function cutTail(file: AppendFile, path: string, existing: ExistingFile): void {
  if (file.size !== existing.size) {
    const state = "another program writes to the file";
    throw new HostError("other", state, { path });
  }
  file.truncate(existing.keep);
}

/** Who still asks is a client whose command came while the program was ending. */
function closedError(id: string): RequestError {
  return new RequestError("shutting_down", `Cannot write to session ${id}: the program is ending`);
}
