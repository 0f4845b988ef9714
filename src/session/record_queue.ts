/**
 * The one ordered queue between the sessions and the encoder. Responses and events go in as they happen and come out in that order, so an
 * order that a dialect promises is the order in which the code emits. Knows no wire format.
 */

/**
 * A queue that is written synchronously and read as a stream of batches. It never refuses a record; beyond `limit` (weight, about bytes)
 * `ready()` asks the producers to wait, so a client that stops reading stops them, not the process's memory.
 */
export class RecordQueue<Item> {
  readonly #limit: number;
  readonly #batchWeight: number;
  #items: Item[] = [];
  #weights: number[] = [];
  #weight = 0;
  #closed = false;
  #cancelled = false;
  #wakeReader: (() => void) | undefined;
  #room: PromiseWithResolvers<void> | undefined;
  readonly #onCancel: (reason: unknown) => void;
  /** Batches of records, each about `batchWeight` at most; ends after `close()`. */
  readonly readable: ReadableStream<readonly Item[]>;

  constructor(options: {
    limit: number;
    batchWeight: number;
    onCancel: (reason: unknown) => void;
  }) {
    this.#limit = options.limit;
    this.#batchWeight = options.batchWeight;
    this.#onCancel = options.onCancel;
    this.readable = new ReadableStream<readonly Item[]>({
      pull: (controller) => this.#pull(controller),
      cancel: (reason) => this.#cancel(reason),
    }, { highWaterMark: 0 });
  }

  /** Adds a record. After `close()` or a cancel it is dropped: nobody is there to read it. */
  push(item: Item, weight: number): void {
    if (this.#closed || this.#cancelled) return;
    this.#items.push(item);
    this.#weights.push(weight);
    this.#weight += weight;
    this.#wake();
  }

  /** `undefined` when there is room, otherwise a promise for it. Never rejects. */
  ready(): Promise<void> | undefined {
    if (this.#weight <= this.#limit) return undefined;
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  /** Lets the reader finish what is in the queue; nothing can be added afterwards. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  #wake(): void {
    const wake = this.#wakeReader;
    this.#wakeReader = undefined;
    wake?.();
  }

  async #pull(controller: ReadableStreamDefaultController<readonly Item[]>): Promise<void> {
    if (this.#items.length === 0 && !this.#closed) {
      await new Promise<void>((resolve) => this.#wakeReader = resolve);
    }
    // Records that are emitted in one go leave in one batch: the reader is woken in a microtask after the first of them.
    if (this.#cancelled) return;
    if (this.#items.length > 0) controller.enqueue(this.#takeBatch());
    else if (this.#closed) controller.close();
  }

  #takeBatch(): readonly Item[] {
    let weight = 0;
    let count = 0;
    while (count < this.#items.length && (count === 0 || weight < this.#batchWeight)) {
      weight += this.#weights[count++]!;
    }
    const batch = count === this.#items.length ? this.#items : this.#items.slice(0, count);
    this.#items = count === this.#items.length ? [] : this.#items.slice(count);
    this.#weights = count === this.#weights.length ? [] : this.#weights.slice(count);
    this.#weight -= weight;
    this.#releaseRoom();
    return batch;
  }

  #releaseRoom(): void {
    if (this.#weight > this.#limit) return;
    this.#room?.resolve();
    this.#room = undefined;
  }

  #cancel(reason: unknown): void {
    this.#cancelled = true;
    this.#items = [];
    this.#weights = [];
    this.#weight = 0;
    this.#releaseRoom();
    this.#wake();
    this.#onCancel(reason);
  }
}
