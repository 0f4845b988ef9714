/** A command that runs as long as a test wants. */

import type { CommandEnd, CommandOutput, RunningCommand } from "../../src/agent/tool.ts";

export class FakeCommand implements RunningCommand {
  readonly command: string;
  readonly #end = Promise.withResolvers<CommandEnd>();
  readonly #tree = Promise.withResolvers<void>();
  readonly ended = this.#end.promise;
  /** What `openLog` waits for. */
  logGate: Promise<unknown> = Promise.resolve();
  text = "";
  stops = 0;

  constructor(command = "make") {
    this.command = command;
  }

  /** Ends the command and, unless told otherwise, all that it started. */
  finish(end: Partial<CommandEnd & { kind: "exited" }> = {}): void {
    this.end({ kind: "exited", code: 0, leftRunning: false, ...end });
    if (end.leftRunning !== true) this.#tree.resolve();
  }

  end(end: CommandEnd): void {
    this.#end.resolve(end);
    if (end.kind !== "exited") this.#tree.resolve();
  }

  snapshot(): CommandOutput {
    return { text: this.text, truncated: false, logPath: "/log", totalBytes: this.text.length };
  }

  async openLog(): Promise<string> {
    await this.logGate;
    return "/log";
  }

  waitForTree(): Promise<void> {
    return this.#tree.promise;
  }

  stop(): Promise<void> {
    this.stops++;
    this.finish({ code: 143, signal: "SIGTERM" });
    return Promise.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
