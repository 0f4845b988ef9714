/**
 * What a child process writes, as a stream that its owner can bring to an end although a stranger still holds the pipe. Knows no
 * process and no text.
 */

/** After the end of a process tree, what is in the pipe is all there; only a stranger can still write. */
const LAST_WAIT_MS = 100;
const LAST_BYTES = 1 << 20;

/** Wraps the read end of a pipe. */
export class ProcessOutput {
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  #controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  #ended = false;

  constructor(source: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.#reader = source.getReader();
    this.stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: async () => {
        await this.#move();
      },
      cancel: async (reason) => {
        this.#ended = true;
        await this.#reader.cancel(reason).catch(() => {});
      },
    }, { highWaterMark: 0 });
  }

  /** Takes what is still in the pipe into the stream, ends it and lets go of the pipe. Never rejects. */
  async finish(): Promise<void> {
    const deadline = performance.now() + LAST_WAIT_MS;
    let bytes = 0;
    while (!this.#ended && bytes < LAST_BYTES) {
      const leftMs = deadline - performance.now();
      const count = leftMs > 0 ? await withinTime(this.#move(), leftMs) : undefined;
      if (count === undefined) break;
      bytes += count;
    }
    this.#close();
    await this.#reader.cancel().catch(() => {});
  }

  /** Moves one chunk; its size, or `undefined` at the end. */
  async #move(): Promise<number | undefined> {
    try {
      const { done, value } = await this.#reader.read();
      if (!done && !this.#ended) {
        this.#controller.enqueue(value);
        return value.length;
      }
    } catch {
      // A pipe that cannot be read has ended.
    }
    this.#close();
    return undefined;
  }

  #close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#controller.close();
  }
}

async function withinTime<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
