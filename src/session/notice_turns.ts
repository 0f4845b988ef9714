/**
 * When finished jobs start a turn by themselves: gathers those that end within a second, keeps the count, and the hold. Knows no message.
 */

/** Turns in a row without a word of the client. */
const MAX_IN_A_ROW = 10;
/** Jobs that end within this time share a turn. */
const GATHER_MS = 600;

export class NoticeTurns implements Disposable {
  readonly #start: () => void;
  #count = 0;
  #isHeld = false;
  #isOff = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `start` is called, once jobs were gathered, when a turn may begin; it looks itself whether one should. */
  constructor(options: { start: () => void }) {
    this.#start = options.start;
  }

  /** Whether a turn may start now. */
  get isAllowed(): boolean {
    return !this.#isHeld && this.#count < MAX_IN_A_ROW;
  }

  /** Whether turns start only where somebody asks for them. */
  get isOff(): boolean {
    return this.#isOff;
  }

  /** A job has ended, or a turn while notices wait. */
  schedule(): void {
    if (this.#isOff || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.isAllowed) this.#start();
    }, GATHER_MS);
  }

  /** A turn for notices begins. */
  countTurn(): void {
    this.#count++;
  }

  /** No turns until the client says something. */
  hold(): void {
    this.#isHeld = true;
  }

  /** The client has said something. */
  lift(): void {
    this.#isHeld = false;
    this.#count = 0;
  }

  /** From now on turns start only where somebody asks for them. */
  [Symbol.dispose](): void {
    this.#isOff = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
