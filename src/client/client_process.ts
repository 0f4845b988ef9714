/** What a client needs of the program that it started. Interfaces only; `src/deno/start_program.ts` starts real ones. */

/** How a program ended. */
export interface ProgramExit {
  /** Exit code; `undefined` when a signal ended it. */
  readonly code: number | undefined;
  /** Name of the signal that ended it. */
  readonly signal: string | undefined;
}

/** Which program, and how it is started. */
export interface ProgramStart {
  /**
   * Path or URL of the program, or the program with its first arguments. What ends in `.ts`, `.js` or `.mjs` and every URL but those of other
   * files is run by `deno` with all permissions.
   */
  readonly program: string | URL | readonly [string, ...string[]];
  /** The rest of the arguments. */
  readonly args: readonly string[];
  /** The folder that it starts in, by default that of this process. */
  readonly cwd?: string | URL;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A program that runs. */
export interface ProgramProcess {
  /** What it writes to stdout. */
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Its stdin. */
  readonly writable: WritableStream<Uint8Array<ArrayBuffer>>;
  /** When it has ended and its stderr was read. Never rejects. */
  readonly exited: Promise<ProgramExit>;
  /** The last lines that it wrote to stderr. */
  lastLines(): string;
  /** Sends it a signal; does nothing when it has ended. */
  kill(signal: "SIGTERM" | "SIGKILL"): void;
}
