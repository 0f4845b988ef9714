/**
 * The requests that we send to the other side and that it has not answered yet. Knows no method: ids, deadlines and answers only.
 */

/** What came of a call. */
export type CallOutcome =
  | { readonly kind: "result"; readonly value: unknown }
  | { readonly kind: "error"; readonly code: number | undefined; readonly message: string }
  /** No answer in time. */
  | { readonly kind: "timeout" }
  /** The signal was aborted. */
  | { readonly kind: "aborted" }
  /** The connection is over. */
  | { readonly kind: "closed" };

/** The answer of the other side. */
export type CallAnswer = CallOutcome & { kind: "result" | "error" };

export interface SentCall {
  readonly id: number;
  readonly method: string;
  readonly params: unknown;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  /** `undefined`: it may stay open for ever. */
  readonly timeoutMs: number | undefined;
}

/** The longest that a timer takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export class PendingCalls {
  readonly #send: (call: SentCall) => void;
  readonly #settle = new Map<number, (outcome: CallOutcome) => void>();
  #lastId = 0;
  #isClosed = false;

  /** `send` writes a request; it is called at once, within `call`. */
  constructor(options: { send: (call: SentCall) => void }) {
    this.#send = options.send;
  }

  /** Sends a request with an id that was never used. Resolves exactly once, whatever happens; never rejects. */
  call(
    method: string,
    params: unknown,
    options: CallOptions,
  ): { readonly id: number; readonly outcome: Promise<CallOutcome> } {
    const { signal, timeoutMs } = options;
    const id = ++this.#lastId;
    if (signal.aborted) return { id, outcome: Promise.resolve({ kind: "aborted" }) };
    if (this.#isClosed) return { id, outcome: Promise.resolve({ kind: "closed" }) };
    const { promise, resolve } = Promise.withResolvers<CallOutcome>();
    const settle = (outcome: CallOutcome) => {
      this.#settle.delete(id);
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      resolve(outcome);
    };
    const onAbort = () => settle({ kind: "aborted" });
    const timer = timeoutMs === undefined
      ? undefined
      : setTimeout(() => settle({ kind: "timeout" }), Math.min(timeoutMs, MAX_TIMER_MS));
    signal.addEventListener("abort", onAbort, { once: true });
    this.#settle.set(id, settle);
    this.#send({ id, method, params });
    return { id, outcome: promise };
  }

  /** Whether a call with this id waits. */
  has(id: unknown): boolean {
    return typeof id === "number" && this.#settle.has(id);
  }

  /** Takes an answer. One that nobody waits for, a late or a second one, is dropped. */
  settle(id: unknown, answer: CallAnswer): void {
    if (typeof id === "number") this.#settle.get(id)?.(answer);
  }

  /** Settles what waits; later calls are not sent. */
  close(): void {
    this.#isClosed = true;
    for (const settle of [...this.#settle.values()]) settle({ kind: "closed" });
  }
}
