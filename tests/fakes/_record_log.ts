/**
 * The records of a child process: splits its stdout into lines, keeps what was taken and what not,
 * and tells those who wait. It knows nothing of processes.
 */

/** One line of output. */
export type WireRecord = Record<string, unknown>;

const MAX_SHOWN = 300;

/** All records in order, with a cursor for those who read them in order. */
export class RecordLog {
  readonly records: WireRecord[] = [];
  /** What on stdout was not a record. */
  readonly violations: string[] = [];
  #rest: string[] = [];
  #cursor = 0;
  #takenResponses = new Set<number>();
  #searchFrom = new Map<string, number>();
  #watchers = new Set<() => boolean>();
  #ended = false;

  /** Whether no more will come. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Adds a part of the output, cut anywhere. */
  add(text: string): void {
    const lines = text.split("\n");
    if (lines.length === 1) {
      this.#rest.push(text);
      return;
    }
    lines[0] = this.#rest.join("") + lines[0];
    this.#rest = [lines.pop()!];
    for (const line of lines) this.#addLine(line);
    this.#notify();
  }

  /** The output has ended. */
  end(): void {
    this.#ended = true;
    this.#notify();
  }

  /** Notes a last line without its line feed. */
  checkEnd(): void {
    const rest = this.#rest.join("");
    if (rest !== "") this.violations.push(`last line has no line feed: ${shorten(rest)}`);
  }

  /**
   * A function that takes everything up to the next match and moves the cursor; it returns `undefined`
   * when there is none yet, and looks at no record twice however often it is called.
   */
  search(matches: (record: WireRecord) => boolean): () => WireRecord[] | undefined {
    const free = (index: number) => !this.#takenResponses.has(index);
    let at = 0;
    return () => {
      for (at = Math.max(at, this.#cursor); at < this.records.length; at++) {
        if (!free(at) || !matches(this.records[at])) continue;
        const from = this.#cursor;
        this.#cursor = at + 1;
        return this.records.slice(from, at + 1).filter((_, offset) => free(from + offset));
      }
      return undefined;
    };
  }

  /** The first response with this id that was not taken; the cursor stays. */
  takeResponse(id: unknown): WireRecord | undefined {
    const key = JSON.stringify(id);
    for (let at = this.#searchFrom.get(key) ?? 0; at < this.records.length; at++) {
      const record = this.records[at];
      if (!isResponse(record) || JSON.stringify(record.id) !== key) continue;
      this.#searchFrom.set(key, at + 1);
      this.#takenResponses.add(at);
      return record;
    }
    this.#searchFrom.set(key, this.records.length);
    return undefined;
  }

  /** Calls `attempt` now and after each change, until it returns true. */
  watch(attempt: () => boolean): void {
    if (!attempt()) this.#watchers.add(attempt);
  }

  /** Calls it no more. */
  stopWatching(attempt: () => boolean): void {
    this.#watchers.delete(attempt);
  }

  /** The last records, one per line. */
  toString(): string {
    const hidden = Math.max(0, this.records.length - MAX_SHOWN);
    const shown = this.records.slice(hidden).map((record) => shorten(JSON.stringify(record)));
    return [...(hidden > 0 ? [`(${hidden} more)`] : []), ...shown].join("\n");
  }

  #addLine(line: string): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      // Reported below, like JSON that is no object.
    }
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      this.records.push(value as WireRecord);
    } else {this.violations.push(
        `line ${this.records.length + 1} is no JSON object: ${shorten(line)}`,
      );}
  }

  #notify(): void {
    for (const attempt of [...this.#watchers]) {
      if (attempt()) this.#watchers.delete(attempt);
    }
  }
}

function isResponse(record: WireRecord): boolean {
  if (typeof record.type === "string") return record.type === "response";
  return record.jsonrpc === "2.0" && ("result" in record || "error" in record);
}

function shorten(text: string): string {
  return text.length <= 1_000 ? text : `${text.slice(0, 1_000)}… (${text.length} characters)`;
}
