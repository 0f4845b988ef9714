/**
 * The rules of `.gitignore` files for a walk from the top down. Knows rules and paths; reads no file.
 */

import type { Ignore } from "ignore";

/** Makes a matcher; loaded when the first folder is walked. */
export type IgnoreFactory = (options: { ignorecase: boolean }) => Ignore;

/** The matcher remembers every path that it is asked for; a new one is made before that grows large. */
const MAX_REMEMBERED = 10_000;

/** One `.gitignore` file. */
export class Gitignore {
  readonly #create: IgnoreFactory;
  readonly #rules: string;
  /** What stands before a path of the walk to make it relative to this file's folder, or what is to be taken off. */
  readonly #prefix: string;
  readonly #cut: number;
  #matcher: Ignore | undefined;
  #asked = 0;

  /**
   * `above`: path from this file's folder to the root of the walk (`"a/b/"`), for files above it; `below`: path from the root to this
   * file's folder. At most one of them is not empty.
   */
  constructor(
    rules: string,
    options: { create: IgnoreFactory; above: string; below: string },
  ) {
    this.#rules = rules;
    this.#create = options.create;
    this.#prefix = options.above;
    this.#cut = options.below.length;
  }

  /** What this file says of a path of the walk (folders end with `/`): ignored, not ignored, or nothing. */
  verdict(path: string): boolean | undefined {
    if (this.#matcher === undefined || ++this.#asked > MAX_REMEMBERED) {
      this.#matcher = this.#create({ ignorecase: false }).add(this.#rules);
      this.#asked = 1;
    }
    try {
      const relative = this.#prefix + path.slice(this.#cut);
      if (relative === "") return undefined;
      const { ignored, unignored } = this.#matcher.test(relative);
      return ignored ? true : unignored ? false : undefined;
    } catch {
      // A rule that is no valid pattern says nothing.
      return undefined;
    }
  }
}

/** Whether a path is ignored: the file that is nearest to it and says something decides. */
export function isIgnored(path: string, files: readonly Gitignore[]): boolean {
  for (let at = files.length - 1; at >= 0; at--) {
    const verdict = files[at]!.verdict(path);
    if (verdict !== undefined) return verdict;
  }
  return false;
}
