/**
 * Notices a client that has gone while work goes on and nothing is written to it, such as during a long silent command. Knows no output: what it is
 * given can tell.
 */

/** After so much silence the client is watched. */
const SILENCE_MS = 400;

/** Watches the client as long as work goes on in silence. Disposing it ends the watch. */
export class ClientWatch implements Disposable {
  readonly #watch: () => Disposable;
  readonly #isWorking: () => boolean;
  #timer: ReturnType<typeof setInterval> | undefined;
  #running: Disposable | undefined;
  #isSilent = false;

  /** `watch` starts a watch and tells by itself when the client is gone. */
  constructor(options: { watch: () => Disposable; isWorking: () => boolean }) {
    this.#watch = options.watch;
    this.#isWorking = options.isWorking;
  }

  /** Work has begun: looks now and then whether anything was written. */
  workBegins(): void {
    if (this.#timer !== undefined) return;
    this.#isSilent = false;
    this.#timer = setInterval(() => this.#look(), SILENCE_MS);
  }

  /** Something was written: a client that has gone shows there. */
  written(): void {
    this.#isSilent = false;
  }

  /** Watches at once, until this is disposed. */
  start(): void {
    this.#running ??= this.#watch();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#running?.[Symbol.dispose]();
    this.#running = undefined;
  }

  #look(): void {
    if (!this.#isWorking()) return this[Symbol.dispose]();
    if (this.#isSilent) this.start();
    this.#isSilent = true;
  }
}
