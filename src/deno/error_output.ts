/**
 * What is said to people on stderr. A reader that does not read must not hold up the program, and no line may be lost to an exit that follows it;
 * no system offers both. Knows no text.
 */

import { builtInModule } from "./built_in_module.ts";

/** An empty pipe takes this much at once on every system, so writing it does not block. */
const SAFE_BYTES = 12 * 1024;
/** What may wait for a reader; the rest is dropped. */
const MAX_WAITING = 1024 * 1024;
/** What is left at the end may still take so long. */
const LAST_MS = 100;

/** Where the bytes go: `Deno.stderr`, or what stands for it in a test. */
export interface ErrorSink {
  write(bytes: Uint8Array): Promise<number>;
  writeSync(bytes: Uint8Array): number;
}

/** Takes lines in order. The first ones are out at once; later ones wait for the reader, while the program goes on. */
export class ErrorOutput {
  readonly #sink: ErrorSink;
  readonly #encoder = new TextEncoder();
  /** What may still be written at once. */
  #safe: number;
  readonly #queue: Uint8Array[] = [];
  #waiting = 0;
  #writing: Promise<void> | undefined;

  /** `isWatched`: a person reads, so everything is out at once. */
  constructor(sink: ErrorSink, { isWatched = false } = {}) {
    this.#sink = sink;
    this.#safe = isWatched ? Infinity : SAFE_BYTES;
  }

  /** Never throws and never waits for a reader. */
  write(text: string): void {
    this.writeBytes(this.#encoder.encode(text));
  }

  /** Like `write`. The bytes are copied when they have to wait. */
  writeBytes(bytes: Uint8Array): void {
    if (this.#writing === undefined && bytes.length <= this.#safe) {
      this.#safe -= bytes.length;
      return this.#writeNow(bytes);
    }
    if (this.#waiting + bytes.length > MAX_WAITING) return;
    this.#waiting += bytes.length;
    this.#queue.push(bytes.slice());
    this.#writing ??= this.#drain();
  }

  /** Resolves when everything is out, or when the reader has had its time. Never rejects. */
  async settle(): Promise<void> {
    if (this.#writing === undefined) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => timer = setTimeout(resolve, LAST_MS));
    await Promise.race([this.#writing, late]);
    clearTimeout(timer);
  }

  #writeNow(bytes: Uint8Array): void {
    try {
      for (let done = 0; done < bytes.length;) done += this.#sink.writeSync(bytes.subarray(done));
    } catch {
      // There is nowhere left to say it.
    }
  }

  async #drain(): Promise<void> {
    try {
      for (let bytes = this.#queue.shift(); bytes !== undefined; bytes = this.#queue.shift()) {
        for (let done = 0; done < bytes.length;) {
          done += await this.#sink.write(bytes.subarray(done));
        }
        this.#waiting -= bytes.length;
      }
    } catch {
      this.#queue.length = 0;
      this.#waiting = 0;
    }
    this.#writing = undefined;
  }
}

/** The one of this process. */
export const errorOutput = new ErrorOutput({
  write: (bytes) => Deno.stderr.write(bytes),
  writeSync: (bytes) => Deno.stderr.writeSync(bytes),
}, { isWatched: Deno.stderr.isTerminal() });

/** `console` writes to stderr at once, and would wait for a reader; from now on it writes here, whatever the method. */
export function guardConsole(): void {
  const format = (values: unknown[]) =>
    builtInModule<typeof import("node:util")>("node:util").format(...values);
  for (
    const method of ["log", "info", "debug", "warn", "error", "table", "dir", "group"] as const
  ) {
    // deno-lint-ignore no-console
    console[method] = (...values: unknown[]) => errorOutput.write(format(values) + "\n");
  }
}
