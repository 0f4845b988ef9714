/**
 * Turns what a call writes into snapshots of all it has written, so often that they cost about as much as the output itself. Knows no tool
 * and no client.
 */

import type { OutputWatcher, WatchOutput } from "../agent/run_tools.ts";
import type { ToolSnapshot } from "../agent/tool.ts";
import { OutputTail } from "../tools/output_tail.ts";

const PAUSE_MS = 100;
const PAUSE_MS_PER_KIB = 10;

/** The first snapshot is told at once, the next after 100 ms and 10 ms per KiB of the one before, when there is something new. */
export const watchOutput: WatchOutput = (tell) => new Watcher(tell);

class Watcher implements OutputWatcher {
  readonly #tell: (snapshot: ToolSnapshot) => Promise<void> | undefined;
  readonly #tail = new OutputTail();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isNew = false;
  #room: Promise<void> | undefined;

  constructor(tell: (snapshot: ToolSnapshot) => Promise<void> | undefined) {
    this.#tell = tell;
  }

  add(delta: string): Promise<void> | undefined {
    this.#tail.add(delta);
    this.#isNew = true;
    if (this.#timer === undefined) this.#show();
    return this.#room;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#isNew = false;
  }

  #show(): void {
    this.#isNew = false;
    const text = this.#tail.text();
    const room = this.#tell({
      content: [{ type: "text", text }],
      ...(this.#tail.isCut ? { details: { truncated: true } } : {}),
    });
    this.#room = room?.then(() => {
      this.#room = undefined;
    });
    const pauseMs = PAUSE_MS + PAUSE_MS_PER_KIB * text.length / 1024;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#isNew) this.#show();
    }, pauseMs);
  }
}
