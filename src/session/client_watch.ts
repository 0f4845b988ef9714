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
  /** The watch goes on whatever is written. */
  #stays = false;

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
    if (!this.#stays) this.#stop();
  }

  /** Watches at once, until this is disposed. */
  start(): void {
    this.#stays = true;
    this.#running ??= this.#watch();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#stays = false;
    this.#stop();
  }

  #stop(): void {
    this.#running?.[Symbol.dispose]();
    this.#running = undefined;
  }

  #look(): void {
    if (!this.#isWorking()) return this[Symbol.dispose]();
    if (this.#isSilent) this.#running ??= this.#watch();
    this.#isSilent = true;
  }
}
