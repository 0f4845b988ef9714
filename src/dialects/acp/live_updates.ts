/** From the events of one session to its updates, in the order in which things happen. Knows no request and no answer. */

import { textOf, type ToolCall, toolCallsOf } from "../../agent/message.ts";
import type { ApprovalRequest } from "../../session/client_help.ts";
import type { SessionEvent, SubagentEvent, SubagentTags } from "../../session/event.ts";
import type { EndedJob } from "../../session/jobs.ts";
import type { PlannedChange } from "../../session/plan_change.ts";
import type { Seat } from "../../session/seat.ts";
import { LiveCall } from "./live_call.ts";
import type { ClientAbilities } from "./read_params.ts";
import { planEntries, thoughtId, toolCallId, viewEnd } from "./replay.ts";
import { ChunkCutter, splitText } from "./text_chunks.ts";
import { type CallView, viewCall, type ViewPlace, viewText } from "./tool_view.ts";
import type { SessionUpdate } from "@agentclientprotocol/sdk";

/** A context window that nobody has told. */
const UNKNOWN_WINDOW = 128_000;

export interface LiveUpdatesOptions {
  readonly seat: Seat;
  readonly place: ViewPlace;
  readonly abilities: ClientAbilities;
  send(update: SessionUpdate): void;
  /** `undefined` when there is room for more, otherwise a promise for it. */
  room(): Promise<void> | undefined;
}

export class LiveUpdates {
  readonly #options: LiveUpdatesOptions;
  readonly #calls = new Map<ToolCall, LiveCall>();
  /** The calls of the last reply by their places in it. */
  #ids = new Map<ToolCall, string>();
  #text = new ChunkCutter();
  #thought = new ChunkCutter();
  #replyId = "";
  #askedCount = 0;
  #isTitleTold: boolean;
  #compactionId: string | undefined;
  #signal: AbortSignal | undefined;

  constructor(options: LiveUpdatesOptions) {
    this.#options = options;
    this.#isTitleTold = options.seat.session.transcript.messages.length > 0;
  }

  /** What belongs to a turn is told from here to `endTurn`; what is looked up for it ends with `signal`. */
  beginTurn(signal: AbortSignal): void {
    this.#signal = signal;
  }

  /** Every call that was told gets its end. */
  endTurn(): void {
    this.#endText();
    for (const call of this.#calls.values()) call.end("failed", [viewText("Interrupted")]);
    this.#calls.clear();
    this.#ids = new Map();
    if (this.#compactionId !== undefined) this.#tellCompaction("cancelled");
    this.#signal = undefined;
  }

  /** A returned promise asks the producer to wait. */
  take(event: SessionEvent): Promise<void> | undefined {
    switch (event.type) {
      case "turn_start":
        this.#tellTitle();
        break;
      case "reply_start":
        this.#replyId = event.id;
        break;
      case "text_delta":
        this.#tellText(this.#text.add(event.delta));
        break;
      case "thinking_delta":
        this.#tellThought(this.#thought.add(event.delta));
        break;
      case "reply_broken":
        this.#endText();
        break;
      case "reply_end":
        this.#endText();
        this.#ids = new Map(
          toolCallsOf(event.message).map((call, i) => [call, toolCallId(event.id, i)]),
        );
        if (event.message.usage !== undefined) this.tellUsage(event.message.usage);
        break;
      case "call_start":
        return this.#report(event.call) ?? this.#options.room();
      case "tool_start":
        this.#calls.get(event.call)?.start();
        break;
      case "tool_output":
        this.#callOf(event.callId)?.addOutput(event.delta);
        break;
      case "call_end":
        this.#endCall(event);
        break;
      case "user_message":
        if (event.origin === "steer") this.#tellSteering(event);
        break;
      case "compaction":
        this.#takeCompaction(event);
        break;
      case "retry": {
        const seconds = Math.max(1, Math.round(event.delayMs / 1000));
        const error = event.error.replace(/\s+/g, " ").trim().slice(0, 200);
        this.notice(`${error}, retry ${event.attempt} of ${event.limit} in ${seconds} s`);
        break;
      }
      case "diagnostic":
        this.notice(event.text);
        break;
      case "name_change":
        this.#send({ sessionUpdate: "session_info_update", title: event.name });
        break;
      case "subagent":
        this.#takeSubagent(event);
        break;
      default:
        break;
    }
    return this.#options.room();
  }

  /** Tells something that a person should know: as a notice, or on stderr where the client shows none. */
  notice(text: string, options: { isOnStderr?: boolean } = {}): void {
    if (this.#options.abilities.notices) {
      this.#send({ sessionUpdate: "notice", severity: "warning", title: text });
    } else if (!options.isOnStderr) this.#options.seat.settings.host.warn(`weir: ${text}`);
  }

  /** Looks a call up for a question about it, and tells it when it was not yet: a subagent's calls are told only then. */
  async reportAsked(
    request: ApprovalRequest,
  ): Promise<{ view: CallView; change: PlannedChange | undefined }> {
    const { call, asker } = request;
    if (asker !== undefined && !this.#calls.has(call)) {
      const id = `subagent-${asker.id}-${++this.#askedCount}`;
      await this.#report(call, { id, asker: asker.name });
    }
    const live = this.#calls.get(call);
    await live?.planned;
    live?.tell();
    const view = live?.view ??
      viewCall(call, { id: `call-${call.id}`, place: this.#options.place });
    return { view, change: live?.change };
  }

  /** The id that the client knows a running call of the main agent by. */
  idOf(callId: string): string | undefined {
    return this.#callOf(callId)?.view.toolCallId;
  }

  tellJobEnd({ record, output }: EndedJob): void {
    const random = crypto.getRandomValues(new Uint32Array(1))[0]!.toString(36);
    this.#send({
      sessionUpdate: "tool_call",
      toolCallId: `job:${record.id}:${random}`,
      title: `Job ${record.id} ended: ${record.title}`,
      kind: "execute",
      status: record.status === "done" ? "completed" : "failed",
      content: output === "" ? [] : [viewText(output.slice(-32_768).toWellFormed())],
      rawOutput: { exitCode: record.exitCode },
    });
  }

  tellUsage({ inputTokens, outputTokens }: { inputTokens: number; outputTokens: number }): void {
    const { session, settings } = this.#options.seat;
    const { usd, unpricedCalls } = session.transcript.stats().receipts;
    this.#send({
      sessionUpdate: "usage_update",
      used: inputTokens + outputTokens,
      size: settings.model.info.contextWindow ?? UNKNOWN_WINDOW,
      ...(usd === undefined || unpricedCalls > 0 ? {} : { cost: { amount: usd, currency: "USD" } }),
    });
  }

  /** Text that does not come from the model. */
  tellOwnText(text: string): void {
    const messageId = crypto.randomUUID();
    for (const piece of splitText(text)) {
      this.#send({
        sessionUpdate: "agent_message_chunk",
        messageId,
        content: { type: "text", text: piece },
      });
    }
  }

  #send(update: SessionUpdate): void {
    this.#options.send(update);
  }

  #tellText(pieces: Iterable<string>): void {
    for (const text of pieces) {
      this.#send({
        sessionUpdate: "agent_message_chunk",
        messageId: this.#replyId,
        content: { type: "text", text },
      });
    }
  }

  #tellThought(pieces: Iterable<string>): void {
    for (const text of pieces) {
      this.#send({
        sessionUpdate: "agent_thought_chunk",
        messageId: thoughtId(this.#replyId),
        content: { type: "text", text },
      });
    }
  }

  #endText(): void {
    this.#tellThought([this.#thought.end()].filter((rest) => rest !== ""));
    this.#tellText([this.#text.end()].filter((rest) => rest !== ""));
  }

  #tellTitle(): void {
    const { title } = this.#options.seat.session.transcript;
    if (this.#isTitleTold || title === "") return;
    this.#isTitleTold = true;
    this.#send({ sessionUpdate: "session_info_update", title });
  }

  #tellSteering({ id, message }: SessionEvent & { type: "user_message" }): void {
    for (const piece of splitText(textOf(message))) {
      this.#send({
        sessionUpdate: "user_message_chunk",
        messageId: id,
        content: { type: "text", text: piece },
      });
    }
    for (const block of message.content) {
      if (block.type !== "image") continue;
      const { data, mimeType } = block;
      this.#send({
        sessionUpdate: "user_message_chunk",
        messageId: id,
        content: { type: "image", data, mimeType },
      });
    }
  }

  #callOf(callId: string): LiveCall | undefined {
    // The model may use an id again; the call that runs is meant.
    return [...this.#calls].findLast(([call, live]) => call.id === callId && !live.isFinal)?.[1];
  }

  /** Tells a call, after its change was looked up. */
  #report(
    call: ToolCall,
    asked?: { id: string; asker: string },
  ): Promise<void> | undefined {
    if (this.#calls.has(call)) return undefined;
    const id = asked?.id ?? this.#ids.get(call) ?? `call-${crypto.randomUUID()}`;
    const { place, seat } = this.#options;
    const live = new LiveCall({
      send: (update) => this.#send(update),
      createView: (change) => viewCall(call, { id, place, change, asker: asked?.asker }),
    });
    this.#calls.set(call, live);
    const mayChange = call.name === "write" || call.name === "edit";
    if (!mayChange || call.argumentsError !== undefined || this.#signal === undefined) {
      live.tell();
      return undefined;
    }
    return live.plan(seat.planChange(call, this.#signal));
  }

  #endCall({ call, message }: SessionEvent & { type: "call_end" }): void {
    // Calls that an abort kept from being taken up were not told before.
    if (!this.#calls.has(call)) void this.#report(call);
    const live = this.#calls.get(call);
    if (live === undefined) return;
    live.tell();
    const items = message.details?.items;
    if (call.name === "todo" && !message.isError && Array.isArray(items)) {
      this.#send({ sessionUpdate: "plan", entries: planEntries(items) });
    }
    const end = viewEnd(call, message, live.view.content);
    live.end(message.isError ? "failed" : "completed", end.content, end.rawOutput);
  }

  #takeSubagent({ tags, event }: { tags: SubagentTags; event: SubagentEvent }): void {
    if (event.type === "text_delta" && tags.callId !== undefined) {
      this.#callOf(tags.callId)?.addOutput(event.delta);
    }
    if (event.type === "tool_start") this.#calls.get(event.call)?.start();
    if (event.type !== "call_end") return;
    const live = this.#calls.get(event.call);
    if (live === undefined) return;
    const { message } = event;
    const end = viewEnd(event.call, message, live.view.content);
    live.end(message.isError ? "failed" : "completed", end.content, end.rawOutput);
  }

  #takeCompaction(event: SessionEvent & { type: "compaction" }): void {
    switch (event.phase) {
      case "start":
        this.#compactionId = crypto.randomUUID();
        this.#tellCompaction("in_progress");
        break;
      case "done":
        this.#tellCompaction("completed");
        break;
      case "error":
        this.#tellCompaction("failed", event.message);
        break;
      default:
        break;
    }
  }

  #tellCompaction(
    status: "in_progress" | "completed" | "failed" | "cancelled",
    error?: string,
  ): void {
    const compactionId = this.#compactionId;
    if (status !== "in_progress") this.#compactionId = undefined;
    if (compactionId === undefined || !this.#options.abilities.compaction) return;
    this.#send({
      sessionUpdate: "compaction_update",
      compactionId,
      status,
      ...(error === undefined ? {} : { error }),
    });
  }
}
