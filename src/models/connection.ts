/**
 * One HTTP exchange with an endpoint: its time limits, its end and its failures. Knows no API; what the bytes mean is read elsewhere.
 */

import { fetchWithinOrigin, redirectTarget } from "../agent/fetch_within_origin.ts";
import { ModelError } from "../errors.ts";
import {
  causeText,
  cutError,
  type EndpointContext,
  httpError,
  networkError,
} from "./model_error.ts";

/** As much of an error answer as is read. */
const ERROR_BODY_BYTES = 65_536;
/** How long an answer that is complete may take to close, so that its connection can be used again. */
const DRAIN_MS = 20;

export interface ConnectionOptions {
  readonly signal: AbortSignal;
  readonly fetch: typeof fetch;
  /** Until the headers of the answer. */
  readonly timeoutMs: number;
  /** Without a byte while the answer is read. */
  readonly stallTimeoutMs: number;
  readonly context: EndpointContext;
}

/**
 * Carries one request and its answer. Failures are `ModelError`s, an abort is `signal.reason`; the first cause wins. Disposing it
 * closes what is still open.
 */
export class Connection implements Disposable {
  #options: ConnectionOptions;
  #controller = new AbortController();
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #contentType = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stallMs: number;
  #readingSince = 0;
  #onAbort = () => this.#close(this.#options.signal.reason);

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#stallMs = options.stallTimeoutMs;
    options.signal.addEventListener("abort", this.#onAbort);
    if (options.signal.aborted) this.#onAbort();
  }

  /** The media type of the answer, `""` when it names none. */
  get contentType(): string {
    return this.#contentType;
  }

  /** Aborted by the caller; the reason is the caller's own. */
  get signal(): AbortSignal {
    return this.#options.signal;
  }

  /** A `fetch` for the client. Rejects instead of returning an error answer. */
  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    // Called without an object: the `fetch` of a page refuses any other `this`.
    const { timeoutMs, context, fetch: send } = this.#options;
    const late = new ModelError("network", `no answer within ${timeoutMs / 1000} s`);
    const timer = setTimeout(() => this.#close(late), timeoutMs);
    let response: Response;
    try {
      response = await this.#untilClosed(
        fetchWithinOrigin(send, input, { ...init, signal: this.#controller.signal }),
        (unused) => void unused.body?.cancel().catch(() => {}),
      );
    } catch (error) {
      this.#throwIfClosed();
      throw networkError(error, context);
    } finally {
      clearTimeout(timer);
    }
    this.#contentType = response.headers.get("content-type")?.split(";")[0].trim() ?? "";
    this.#reader = response.body?.getReader();
    if (!response.ok) {
      // A page is not told where.
      const isHidden = response.type === "opaqueredirect";
      const elsewhere = isHidden
        ? "another address"
        : redirectTarget(response, context.baseUrl)?.origin;
      const text = await this.#readErrorBody();
      throw httpError(
        response,
        elsewhere === undefined ? text : describeRedirect(elsewhere),
        context,
      );
    }
    // The client only passes it on; the bytes are taken with `read()`.
    return new Response(null, { status: response.status, headers: response.headers });
  };

  /** The next bytes of the answer, `undefined` at its end. */
  async read(): Promise<Uint8Array | undefined> {
    const reader = this.#reader;
    if (reader === undefined) return undefined;
    this.#throwIfClosed();
    this.#readingSince = performance.now();
    if (this.#timer === undefined) this.#watch(this.#stallMs);
    try {
      const { value } = await reader.read();
      this.#throwIfClosed();
      return value;
    } catch (error) {
      this.#throwIfClosed();
      throw cutError(causeText(error), { cause: error });
    } finally {
      this.#readingSince = 0;
    }
  }

  /** From now on silence is taken for the end much sooner: at most `ms`. */
  limitSilence(ms: number): void {
    if (ms >= this.#stallMs) return;
    this.#stallMs = ms;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Waits for `promise`, or until the caller aborts. */
  wait<T>(promise: Promise<T>): Promise<T> {
    return this.#untilClosed(promise, () => {});
  }

  /** Takes the rest of an answer that is complete, if it comes at once. */
  async drain(): Promise<void> {
    const timer = setTimeout(() => this.#close(cutError("closed")), DRAIN_MS);
    try {
      while (await this.read());
    } catch {
      // Nothing of it is needed.
    } finally {
      clearTimeout(timer);
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#options.signal.removeEventListener("abort", this.#onAbort);
    this.#close(cutError("closed"));
  }

  #close(reason: unknown): void {
    if (this.#controller.signal.aborted) return;
    this.#controller.abort(reason);
    // A fetch that knows no signals ends its read this way.
    this.#reader?.cancel(reason).catch(() => {});
  }

  #throwIfClosed(): void {
    this.#options.signal.throwIfAborted();
    this.#controller.signal.throwIfAborted();
  }

  /** Fires when nothing was read for `#stallMs`; time that the caller takes does not count. */
  #watch(delayMs: number): void {
    this.#timer = setTimeout(() => {
      const silentMs = this.#readingSince === 0 ? 0 : performance.now() - this.#readingSince;
      // Timers may fire a little early.
      if (silentMs < this.#stallMs - 1) return this.#watch(this.#stallMs - silentMs);
      const seconds = this.#stallMs / 1000;
      this.#close(new ModelError("stalled", `the endpoint sent nothing for ${seconds} s`));
    }, delayMs);
  }

  /** An error answer is read as far as it comes; that it breaks off is not the failure to tell. */
  async #readErrorBody(): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    try {
      for (let size = 0; size < ERROR_BODY_BYTES;) {
        const bytes = await this.read();
        if (bytes === undefined) break;
        size += bytes.length;
        text += decoder.decode(bytes, { stream: true });
      }
    } catch {
      this.#options.signal.throwIfAborted();
    }
    return text;
  }

  async #untilClosed<T>(promise: Promise<T>, discard: (unused: T) => void): Promise<T> {
    const { signal } = this.#controller;
    let onAbort = () => {};
    const closed = new Promise<never>((_, reject) => {
      onAbort = () => reject(signal.reason);
      signal.addEventListener("abort", onAbort);
      if (signal.aborted) onAbort();
    });
    try {
      return await Promise.race([promise, closed]);
    } catch (error) {
      if (signal.aborted) promise.then(discard, () => {});
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }
}

/** The request is not sent there: it has the key and the whole conversation. */
function describeRedirect(where: string): string {
  return `the endpoint redirects to ${where}; set the provider's baseUrl to where it really is`;
}
