/** How a sub-command talks to people. Interfaces only. */

/** Asks a person at a terminal. */
export interface Prompt {
  /**
   * The answer without its line break; `undefined` when the person ends the input. With `isHidden` it is not shown while it is typed, where
   * that is possible.
   */
  ask(
    question: string,
    options: { signal: AbortSignal; isHidden?: boolean },
  ): Promise<string | undefined>;
}

export interface CommandIo {
  /** Writes a line to stdout. */
  out(line: string): void;
  /** Writes a line to stderr. */
  err(line: string): void;
  /** `undefined` where nobody can be asked. */
  readonly prompt?: Prompt | undefined;
}

/** Where a sub-command works. */
export interface CommandPlace {
  readonly home: string;
  readonly currentFolder: string;
  readonly signal: AbortSignal;
}
