/**
 * Reads a session file once, from its first byte to its last, and changes nothing. Knows no lock and no journal.
 */

import type { Host } from "../host.ts";
import { decodeHeader, type SessionHeader, type StoredEntry } from "./entry.ts";
import { EntryChain } from "./entry_chain.ts";
import type { ExistingFile } from "./journal.ts";
import { parseLine } from "./parse_line.ts";

/** What a file holds. */
export interface SessionFileContent {
  /** `undefined`: the first line that is not blank is no header, or nothing could be read at all. */
  readonly header: SessionHeader | undefined;
  /** In file order, all branches. */
  readonly allEntries: readonly StoredEntry[];
  /** From the root to the last entry. */
  readonly entries: readonly StoredEntry[];
  /** Numbers of the lines that could not be read, or only in part, a torn last line not counted; the first line is 1. */
  readonly badLines: readonly number[];
  /** The file has nothing in it but, perhaps, what a power cut leaves of a header. */
  readonly isBlank: boolean;
  readonly existing: ExistingFile;
}

/** Lines between two pauses, in which other work of the program gets its turn. */
const BATCH = 256;

/**
 * Reads a session file as a stream, in linear time, without blocking the event loop for long. Throws `HostError`, and
 * `signal.reason` when aborted.
 */
export async function readSessionFile(
  host: Host,
  path: string,
  options: { signal: AbortSignal },
): Promise<SessionFileContent> {
  const { signal } = options;
  signal.throwIfAborted();
  const tail = new Tail();
  const lines = new Lines();
  const reading = new Reading();
  // Not through streams of lines: a hop for each costs as much as all the rest.
  for await (const chunk of await host.files.openRead(path, {})) {
    tail.see(chunk);
    for (const line of lines.take(chunk)) {
      reading.take(line);
      if (reading.line % BATCH === 0) await pause();
    }
    signal.throwIfAborted();
  }
  const last = lines.rest();
  if (last !== "") reading.take(last);
  return reading.finish(tail);
}

/** Bytes in any pieces in, whole lines out, without their ends. Linear also for a line in many pieces. */
class Lines {
  readonly #decoder = new TextDecoder();
  #pending: string[] = [];

  take(chunk: Uint8Array<ArrayBuffer>): string[] {
    const text = this.#decoder.decode(chunk, { stream: true });
    if (!text.includes("\n")) {
      this.#pending.push(text);
      return [];
    }
    const lines = (this.#pending.join("") + text).split(/\r?\n/);
    this.#pending = [lines.pop()!];
    return lines;
  }

  /** What stands behind the last line end. */
  rest(): string {
    return this.#pending.join("") + this.#decoder.decode();
  }
}

class Reading {
  line = 0;
  #header: SessionHeader | undefined;
  #chain: EntryChain | undefined;
  readonly #badLines: number[] = [];
  /** Number of the last line when nothing in it could be read. */
  #lostLine: number | undefined;
  #isBlank = true;

  take(line: string): void {
    this.line++;
    if (line === "" || line.trim() === "") return;
    const { records, isDamaged } = parseLine(line);
    let count = 0;
    for (const record of records) {
      if (this.#chain === undefined) {
        this.#header = decodeHeader(record);
        this.#chain = new EntryChain(this.#header?.version ?? 1);
        if (this.#header !== undefined) count++;
      } else if (this.#chain.add(record, this.line)) {
        count++;
      }
    }
    if (count > 0 || !isRest(line)) this.#isBlank = false;
    if (isDamaged || count < records.length) this.#badLines.push(this.line);
    this.#lostLine = records.length === 0 ? this.line : undefined;
  }

  finish(tail: Tail): SessionFileContent {
    const { size, isTerminated, lastLineStart } = tail;
    const isTorn = this.#lostLine !== undefined && this.#lostLine === this.line;
    if (isTorn) this.#badLines.pop();
    const existing = {
      size,
      keep: isTorn ? lastLineStart : size,
      needsLineEnd: !isTorn && !isTerminated && size > 0,
    };
    return {
      header: this.#header,
      allEntries: this.#chain?.entries ?? [],
      entries: this.#chain?.activePath() ?? [],
      badLines: this.#badLines,
      isBlank: this.#isBlank,
      existing,
    };
  }
}

/** Whether a line is no more than the beginning of a header, or nothing at all. */
function isRest(line: string): boolean {
  const text = line.replace(/\0+/g, "").trim();
  const start = '{"type":"session",';
  return text.startsWith(start) ? !text.endsWith("}") : start.startsWith(text);
}

/** Where the last line of the bytes so far begins. */
class Tail {
  size = 0;
  /** Behind the last LF. */
  #restStart = 0;
  /** Where the last line with an LF began. */
  #lineStart = 0;

  /** Whether the file ends with an LF. */
  get isTerminated(): boolean {
    return this.#restStart === this.size;
  }

  get lastLineStart(): number {
    return this.isTerminated ? this.#lineStart : this.#restStart;
  }

  see(chunk: Uint8Array): void {
    const last = chunk.lastIndexOf(LF);
    if (last >= 0) {
      const before = last === 0 ? -1 : chunk.lastIndexOf(LF, last - 1);
      this.#lineStart = before < 0 ? this.#restStart : this.size + before + 1;
      this.#restStart = this.size + last + 1;
    }
    this.size += chunk.length;
  }
}

const LF = 0x0a;

/** One turn of the event loop, without a timer. */
async function pause(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  await new Promise<void>((resolve) => {
    port1.onmessage = () => resolve();
    port2.postMessage(undefined);
  });
  port1.close();
  port2.close();
}
