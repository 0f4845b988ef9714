/** The end of what a child process writes to stderr, kept to explain a failure. Knows no process. */

const MAX_BYTES = 4096;
/** What is in the pipe when everything has ended is read within this. */
const LAST_WAIT_MS = 100;

/** Reads the pipe to its end, so that the writer never waits, and keeps the last 4 KiB. */
export class ErrorTail {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  readonly #reading: Promise<void>;
  #bytes = new Uint8Array();

  constructor(source: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.#reader = source.getReader();
    this.#reading = this.#read();
  }

  /** What is kept now, as text. */
  get text(): string {
    return new TextDecoder().decode(this.#bytes);
  }

  /** Takes what is still in the pipe and lets go of it, also when a stranger holds it open. Never rejects. */
  async finish(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => timer = setTimeout(resolve, LAST_WAIT_MS));
    await Promise.race([this.#reading, late]);
    clearTimeout(timer);
    await this.#reader.cancel().catch(() => {});
    await this.#reading;
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await this.#reader.read();
        if (done) return;
        const all = new Uint8Array(this.#bytes.length + value.length);
        all.set(this.#bytes);
        all.set(value, this.#bytes.length);
        this.#bytes = all.slice(-MAX_BYTES);
      }
    } catch {
      // A pipe that cannot be read has ended.
    }
  }
}
