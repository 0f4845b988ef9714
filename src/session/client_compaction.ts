/** The compaction that a client asks for: one at a time, and it can be stopped. Knows no summary and no turn. */

import { errorText, RequestError } from "../errors.ts";

/** Runs at most one. */
export class ClientCompaction {
  #running: { stop: AbortController; done: Promise<unknown> } | undefined;

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Resolves when none runs. Never rejects. */
  async idle(): Promise<void> {
    await this.#running?.done;
  }

  stop(reason: Error): void {
    this.#running?.stop.abort(reason);
  }

  /** What `compact` gives. Throws `RequestError`: when one runs already, when it was stopped, and why it failed. */
  async run<Report>(compact: (signal: AbortSignal) => Promise<Report>): Promise<Report> {
    if (this.#running !== undefined) {
      throw new RequestError("busy", "Compaction is already in progress");
    }
    const stop = new AbortController();
    const compacting = compact(stop.signal);
    this.#running = { stop, done: compacting.catch(() => {}) };
    try {
      return await compacting;
    } catch (error) {
      if (stop.signal.aborted) throw new RequestError("failed", "Compaction cancelled");
      throw error instanceof RequestError ? error : new RequestError("failed", errorText(error));
    } finally {
      this.#running = undefined;
    }
  }
}
