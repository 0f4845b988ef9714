/**
 * OneShot: how the one-shot modes (`-p`, `--mode json`) of a dialect differ from those of the others. Data and small pure functions, loaded
 * only in these modes; the runner in `print/` does the work.
 */

import type { ServeEnd } from "./dialect.ts";

/** One message of a run. */
export interface OneShotMessage {
  readonly text: string;
  /** Mentions are looked for from this character on; before it stands what was piped in. 0 when absent. */
  readonly mentionsFrom?: number;
}

export interface OneShot {
  readonly stdin: {
    /** Before anything else is looked at, or once the start has gone well and the session is open. */
    readonly read: "first" | "last";
    /** How long the first byte is waited for when there are messages without it; `undefined`: stdin is read to its end. */
    readonly firstByteMs: number | undefined;
  };
  /** The usage error when there is no message. */
  readonly nothingToDo: string;
  /**
   * The messages of the run, sent one after another; `[]` when there is nothing to do. `stdin` is `""` when nothing came, `words` are the words
   * of the command line without folder and files.
   */
  compose(input: { stdin: string; words: readonly string[] }): readonly OneShotMessage[];
  /** A text file of the command line as it is put before the first message. `path` is relative to the workspace. */
  encodeFile(file: { path: string; text: string }): string;
  exitCode(end: ServeEnd): number;
}
