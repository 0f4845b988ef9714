/**
 * The bytes of a file, pulled chunk by chunk, so that a file of any size costs the memory of one chunk. Knows nothing about text.
 */

/** Reads a stream; closes it when `signal` aborts. The caller disposes it, which closes a stream that was not read to its end. */
export class ByteReader implements AsyncDisposable {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #signal: AbortSignal;
  readonly #close = () => this.#reader.cancel(this.#signal.reason).catch(() => {});
  #front: Uint8Array | undefined;

  constructor(stream: ReadableStream<Uint8Array>, options: { signal: AbortSignal }) {
    this.#reader = stream.getReader();
    this.#signal = options.signal;
    this.#signal.addEventListener("abort", this.#close, { once: true });
  }

  /** The next chunk, never empty; `undefined` at the end. Throws `signal.reason` when aborted, also while waiting. */
  async next(): Promise<Uint8Array | undefined> {
    const front = this.#front;
    this.#front = undefined;
    if (front !== undefined && front.length > 0) return front;
    for (;;) {
      this.#signal.throwIfAborted();
      const { done, value } = await this.#reader.read();
      this.#signal.throwIfAborted();
      if (done) return undefined;
      if (value.length > 0) return value;
    }
  }

  /** At least the first `size` bytes, or all there are; they stay in front of what `next` gives. */
  async peek(size: number): Promise<Uint8Array> {
    const bytes = await this.#take(size);
    this.#front = bytes;
    return bytes;
  }

  /** Everything up to the end, or `undefined` when that is more than `limit` bytes. */
  async rest(limit: number): Promise<Uint8Array | undefined> {
    const bytes = await this.#take(limit + 1);
    return bytes.length > limit ? undefined : bytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#signal.removeEventListener("abort", this.#close);
    await this.#close();
  }

  async #take(size: number): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let length = 0;
    while (length < size) {
      const chunk = await this.next();
      if (chunk === undefined) break;
      chunks.push(chunk);
      length += chunk.length;
    }
    if (chunks.length === 1) return chunks[0]!;
    const bytes = new Uint8Array(length);
    let end = 0;
    for (const chunk of chunks) {
      bytes.set(chunk, end);
      end += chunk.length;
    }
    return bytes;
  }
}
