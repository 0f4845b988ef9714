/**
 * What a one-shot run says on stderr, and the answer it ends with. Sees every event in order; writes no protocol.
 */

import { textOf, type Usage } from "../agent/message.ts";
import { addUsage, NO_USAGE } from "../agent/usage.ts";
import type { SessionEvent, SubagentEvent } from "../session/event.ts";
import { describeCall, plainLine } from "./describe_call.ts";
import { formatCount } from "./format_count.ts";

export interface ProgressOptions {
  /** Whether calls and retries are told too. */
  readonly verbose: boolean;
  /** Whether `--yolo` would let more calls run. */
  readonly mayAllowMore: boolean;
  warn(line: string): void;
}

const RETRY_WORDS: Readonly<Record<string, string>> = {
  rate_limit: "rate limit",
  server: "server error",
  network: "network error",
  stalled: "no answer in time",
  stream_cut: "answer cut off",
  stream_error: "error in the answer",
};

export class Progress {
  readonly #options: ProgressOptions;
  #usage: Usage = NO_USAGE;
  #notRun = 0;
  #isNoticeTurn = false;
  #toldStop = false;
  #answer: string | undefined;

  constructor(options: ProgressOptions) {
    this.#options = options;
  }

  /**
   * The answer to the last message, or what a finished job made of it; `undefined` when the last message has none. A turn that a job started
   * and that failed takes no answer away.
   */
  get answer(): string | undefined {
    return this.#answer;
  }

  note(event: SessionEvent): void {
    switch (event.type) {
      case "turn_start":
        this.#isNoticeTurn = event.opening === undefined;
        if (!this.#isNoticeTurn) this.#answer = undefined;
        return;
      case "turn_end":
        return this.#noteTurnEnd(event);
      case "session_close":
        if (event.cause === "signal") this.#tellStop();
        return this.#tellSummary();
      case "subagent":
        return this.#count(event.event);
      default:
        this.#count(event);
        if (this.#options.verbose) this.#tellStep(event);
    }
  }

  #noteTurnEnd(event: SessionEvent & { type: "turn_end" }): void {
    if (event.outcome === "answered") this.#answer = event.answer;
    else if (event.outcome === "failed") this.#options.warn(`✖ ${plainLine(event.error)}`);
    else this.#tellStop();
  }

  #tellStop(): void {
    if (this.#toldStop) return;
    this.#toldStop = true;
    this.#options.warn("✖ Interrupted");
  }

  #count(event: SessionEvent | SubagentEvent): void {
    if (event.type === "reply_end") this.#usage = addUsage(this.#usage, event.message.usage);
    if (event.type === "call_not_run") this.#notRun++;
  }

  #tellStep(event: SessionEvent): void {
    const { warn } = this.#options;
    switch (event.type) {
      case "call_start":
        return warn(`● ${describeCall(event.call)}`);
      case "call_end": {
        const { cause, message, call } = event;
        if (cause === "asks" || cause === "always_asks") {
          const why = cause === "asks" ? "needs --yolo" : "always asks";
          return warn(`  ⎿ ${describeCall(call)} not run · ${why}`);
        }
        if (message.isError) warn(`  ⎿ ${firstLine(textOf(message))}`);
        return;
      }
      case "retry": {
        const { kind, attempt, limit, delayMs } = event;
        const words = RETRY_WORDS[kind] ?? kind;
        return warn(`  … ${words}, retry ${attempt}/${limit} in ${(delayMs / 1000).toFixed(1)}s`);
      }
    }
  }

  #tellSummary(): void {
    const { verbose, mayAllowMore, warn } = this.#options;
    if (!verbose && this.#notRun === 0) return;
    const parts = [
      `↑ ${formatCount(this.#usage.inputTokens)}`,
      `↓ ${formatCount(this.#usage.outputTokens)}`,
    ];
    if (this.#notRun > 0) {
      const calls = this.#notRun === 1 ? "1 call" : `${this.#notRun} calls`;
      const hint = mayAllowMore ? " (use --yolo to allow commands and edits)" : "";
      parts.push(`${calls} not run${hint}`);
    }
    warn(parts.join(" · "));
  }
}

function firstLine(text: string): string {
  const line = /\S.*/.exec(text.slice(0, 2000))?.[0] ?? "";
  return plainLine(line);
}
