/** One source of events, any number of readers who each see all of them. Knows nothing of what the events are. */

/** Events for one reader, in order, from the moment on at which it was made. Leaving a loop over it, or disposing it, ends it. */
export interface EventReader<Event> extends AsyncIterableIterator<Event>, Disposable {}

/** Hands events to readers. What a reader has not read yet is kept for it; without readers nothing is kept. */
export class EventChannel<Event> {
  readonly #readers = new Set<Reader<Event>>();
  #end: { readonly error: Error | undefined } | undefined;

  send(event: Event): void {
    for (const reader of this.#readers) reader.push(event);
  }

  /** Ends every reader, after what it has not read yet, now and from now on; with `error` its reading fails then. The first end counts. */
  close(error?: Error): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    for (const reader of this.#readers) reader.end(error);
    this.#readers.clear();
  }

  read(): EventReader<Event> {
    const reader = new Reader<Event>((left) => this.#readers.delete(left));
    if (this.#end === undefined) this.#readers.add(reader);
    else reader.end(this.#end.error);
    return reader;
  }
}

class Reader<Event> implements EventReader<Event> {
  readonly #onLeave: (reader: Reader<Event>) => void;
  /** Read from `#next` on; what was read is cut off in large pieces, so that a long queue costs linear time. */
  #events: Event[] = [];
  #next = 0;
  readonly #waiting: PromiseWithResolvers<IteratorResult<Event>>[] = [];
  #end: { error: Error | undefined } | undefined;

  constructor(onLeave: (reader: Reader<Event>) => void) {
    this.#onLeave = onLeave;
  }

  push(event: Event): void {
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) waiting.resolve({ done: false, value: event });
    else this.#events.push(event);
  }

  end(error: Error | undefined): void {
    this.#end ??= { error };
    for (const waiting of this.#waiting.splice(0)) this.#finish(waiting);
  }

  next(): Promise<IteratorResult<Event>> {
    if (this.#next < this.#events.length) {
      const value = this.#events[this.#next++]!;
      if (this.#next === this.#events.length || this.#next >= 1024) {
        this.#events = this.#events.slice(this.#next);
        this.#next = 0;
      }
      return Promise.resolve({ done: false, value });
    }
    const waiting = Promise.withResolvers<IteratorResult<Event>>();
    if (this.#end !== undefined) this.#finish(waiting);
    else this.#waiting.push(waiting);
    return waiting.promise;
  }

  return(): Promise<IteratorResult<Event>> {
    this[Symbol.dispose]();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.dispose](): void {
    this.#onLeave(this);
    this.#events = [];
    this.#next = 0;
    this.#end = { error: undefined };
    this.end(undefined);
  }

  /** A failure is told once; after it the reader is at its end like any other. */
  #finish(waiting: PromiseWithResolvers<IteratorResult<Event>>): void {
    const error = this.#end?.error;
    if (this.#end !== undefined) this.#end = { error: undefined };
    if (error !== undefined) waiting.reject(error);
    else waiting.resolve({ done: true, value: undefined });
  }
}
