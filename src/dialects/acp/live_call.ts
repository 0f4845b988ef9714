/** One call while its turn runs: told once, then its states, which never go back. Knows no tool. */

import type { PlannedChange } from "../../session/plan_change.ts";
import type { CallView } from "./tool_view.ts";
import { viewText } from "./tool_view.ts";
import type { SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";

/** Between two updates with output. */
const OUTPUT_INTERVAL_MS = 1000;
const MAX_OUTPUT = 4096;

export interface LiveCallOptions {
  send(update: SessionUpdate): void;
  createView(change: PlannedChange | undefined): CallView;
}

export class LiveCall {
  readonly #options: LiveCallOptions;
  #view: CallView | undefined;
  #planned: Promise<void> | undefined;
  #state: "pending" | "in_progress" | "final" = "pending";
  #isTold = false;
  #output = "";
  #toldAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  change: PlannedChange | undefined;

  constructor(options: LiveCallOptions) {
    this.#options = options;
  }

  /** Resolves when the change was looked up. */
  get planned(): Promise<void> | undefined {
    return this.#planned;
  }

  get isFinal(): boolean {
    return this.#state === "final";
  }

  get view(): CallView {
    return this.#view ??= this.#options.createView(this.change);
  }

  /** Tells the call when its change is known, or cannot be. Never rejects. */
  plan(change: Promise<PlannedChange | undefined>): Promise<void> {
    return this.#planned = change.catch(() => undefined).then((found) => {
      if (this.#isTold) return;
      this.change = found;
      this.tell();
    });
  }

  /** Tells the call as it is known now; a second time nothing. */
  tell(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#options.send({ sessionUpdate: "tool_call", ...this.view, status: "pending" });
  }

  start(): void {
    this.tell();
    if (this.#state !== "pending") return;
    this.#state = "in_progress";
    this.#update({ status: "in_progress" });
  }

  /** Tells the end of the output, at most once a second. */
  addOutput(delta: string): void {
    if (this.isFinal) return;
    this.#output = (this.#output + delta).slice(-MAX_OUTPUT);
    if (this.#timer !== undefined) return;
    const wait = this.#toldAt + OUTPUT_INTERVAL_MS - Date.now();
    if (wait <= 0) this.#tellOutput();
    else this.#timer = setTimeout(() => this.#tellOutput(), wait);
  }

  /** The last word; nothing follows. */
  end(
    status: "completed" | "failed",
    content: readonly ToolCallContent[],
    rawOutput?: object,
  ): void {
    if (this.isFinal) return;
    this.tell();
    clearTimeout(this.#timer);
    this.#state = "final";
    this.#update({
      status,
      content: [...content],
      ...(rawOutput === undefined ? {} : { rawOutput }),
    });
  }

  #tellOutput(): void {
    this.#timer = undefined;
    if (this.isFinal) return;
    this.#toldAt = Date.now();
    this.#update({ content: [viewText(this.#output.toWellFormed())] });
  }

  #update(
    fields: {
      status?: "in_progress" | "completed" | "failed";
      content?: ToolCallContent[];
      rawOutput?: object;
    },
  ): void {
    const { toolCallId } = this.view;
    this.#options.send({ sessionUpdate: "tool_call_update", toolCallId, ...fields });
  }
}
