// Stands in for `jsr:@std/testing/time` where only the npm registry is reachable. Knows nothing of the project.
// The default import of a CommonJS module is there whatever Deno finds out about its exports.
import fakeTimers, { type Clock, type FakeMethod } from "@sinonjs/fake-timers";

/** A wrong use of {@linkcode FakeTime}. */
export class TimeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TimeError";
  }
}

/** Lets fake time run by itself. */
export interface FakeTimeOptions {
  /** Fake milliseconds per real one; 0 (the default): time moves only when told to. */
  advanceRate: number;
  /** How often it moves, in real milliseconds. Default: 10. */
  advanceFrequency?: number;
}

const faked: FakeMethod[] = ["Date", "setTimeout", "clearTimeout", "setInterval", "clearInterval"];
const fakes = fakeTimers.withGlobal(globalThis);
// Held here because the globals of these names are what is replaced.
const { Date: RealDate, setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
const real = { Date: RealDate, setTimeout, clearTimeout, setInterval, clearInterval };
const realSignalTimeout = AbortSignal.timeout;
let current: FakeTime | undefined;

/** Replaces `Date`, timers and `AbortSignal.timeout` until it is restored or disposed. One at a time. */
export class FakeTime {
  readonly #clock: Clock;
  readonly #start: number;
  readonly #advance: ReturnType<typeof setInterval> | undefined;

  constructor(start?: number | string | Date | null, options?: FakeTimeOptions) {
    if (current) current.restore();
    this.#start = start === undefined || start === null
      ? RealDate.now()
      : Math.floor(new RealDate(start).valueOf());
    if (Number.isNaN(this.#start)) {
      throw new TimeError(`Cannot construct FakeTime: invalid start time ${start}`);
    }
    this.#clock = fakes.install({ now: this.#start, toFake: faked });
    AbortSignal.timeout = fakeSignalTimeout;
    current = this;
    const rate = options?.advanceRate ?? 0;
    const everyMs = options?.advanceFrequency ?? 10;
    if (rate > 0) this.#advance = setInterval(() => this.tick(rate * everyMs), everyMs);
  }

  [Symbol.dispose](): void {
    if (current === this) this.restore();
  }

  /** Restores real time. */
  static restore(): void {
    if (!current) throw new TimeError("Cannot restore time: time is already restored");
    current.restore();
  }

  /** Runs `callback` in real time, then goes back to the fake one. */
  static async restoreFor<T, Args extends unknown[]>(
    callback: (...args: Args) => Promise<T> | T,
    ...args: Args
  ): Promise<T> {
    if (!current) throw new TimeError("Cannot restore time: time is already restored");
    const fake = {
      Date: globalThis.Date,
      setTimeout: globalThis.setTimeout,
      clearTimeout: globalThis.clearTimeout,
      setInterval: globalThis.setInterval,
      clearInterval: globalThis.clearInterval,
    };
    Object.assign(globalThis, real);
    AbortSignal.timeout = realSignalTimeout;
    try {
      return await callback(...args);
    } finally {
      Object.assign(globalThis, fake);
      AbortSignal.timeout = fakeSignalTimeout;
    }
  }

  /** The fake time in milliseconds since 1970; setting it runs every timer that is due by then. */
  get now(): number {
    return this.#clock.now;
  }
  set now(value: number) {
    if (value < this.#clock.now) {
      throw new RangeError(
        `Cannot set current time in the past, time must be >= ${this.#clock.now}: received ${value}`,
      );
    }
    this.#clock.tick(value - this.#clock.now);
  }

  /** The fake time at which this instance began. */
  get start(): number {
    return this.#start;
  }
  set start(_value: number) {
    throw new Error("Cannot change start time after initialization");
  }

  /** Resolves after `ms` of real time. */
  delay(ms: number, options: { signal?: AbortSignal } = {}): Promise<void> {
    const { signal } = options;
    return new Promise((resolve, reject) => {
      const abort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", abort);
        resolve();
      }, ms);
      if (signal?.aborted) abort();
      else signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /** Resolves when the microtasks that are due have run. */
  runMicrotasks(): Promise<void> {
    return this.delay(0);
  }

  /** Moves time by `ms` and runs the timers that become due. */
  tick(ms = 0): void {
    this.now += ms;
  }

  /** The same as {@linkcode tick} after {@linkcode runMicrotasks}. */
  async tickAsync(ms = 0): Promise<void> {
    await this.runMicrotasks();
    this.tick(ms);
  }

  /** Moves time to the next timer and runs it; false when there is none. */
  next(): boolean {
    if (this.#clock.countTimers() === 0) return false;
    this.#clock.next();
    return true;
  }

  /** The same as {@linkcode next} after {@linkcode runMicrotasks}. */
  async nextAsync(): Promise<boolean> {
    await this.runMicrotasks();
    return this.next();
  }

  /** Runs timers until there are none. */
  runAll(): void {
    while (this.next());
  }

  /** The same as {@linkcode runAll}, with {@linkcode runMicrotasks} before each timer. */
  async runAllAsync(): Promise<void> {
    while (this.#clock.countTimers() > 0) await this.nextAsync();
  }

  /** Brings real time back. */
  restore(): void {
    if (current !== this) throw new TimeError("Cannot restore time: time is already restored");
    current = undefined;
    this.#clock.uninstall();
    Object.assign(globalThis, real);
    AbortSignal.timeout = realSignalTimeout;
    if (this.#advance !== undefined) clearInterval(this.#advance);
  }
}

function fakeSignalTimeout(ms: number): AbortSignal {
  const controller = new AbortController();
  globalThis.setTimeout(() => {
    controller.abort(new DOMException("Signal timed out.", "TimeoutError"));
  }, ms);
  return controller.signal;
}
