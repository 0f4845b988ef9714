/** From results and events to lines. Knows which run, turn and reply is open, because clients are told the ends of all three. */

import type { AssistantMessage } from "../../agent/message.ts";
import type { ModelEvent } from "../../agent/model.ts";
import type { OutRecord } from "../../session/command.ts";
import type { SessionEvent } from "../../session/event.ts";
import { encodeJson } from "../../wire/encode_json.ts";
import type { Encoder } from "../dialect.ts";
import {
  apiName,
  defined,
  encodeBlock,
  encodeMessage,
  encodeResult,
  NO_USAGE_JSON,
} from "./encode_messages.ts";
import { ANSWER, encodeApproval } from "./dialogs.ts";
import { encodeCompaction, encodeRefusal, encodeSuccess, shownEntry } from "./encode_response.ts";

type Json = Record<string, unknown>;
type EventOf<Type extends SessionEvent["type"]> = SessionEvent & { type: Type };

/** `print`: the one-shot mode, which begins with the header of the session. */
export function createPiEncoder(options: { mode: "rpc" | "print" }): Encoder {
  return new PiEncoder(options.mode);
}

const UPDATE = `{"type":"message_update","usage":${NO_USAGE_JSON},"assistantMessageEvent":{"type":`;

class PiEncoder implements Encoder {
  readonly #mode: "rpc" | "print";
  /** Whether the run under way has had an `agent_start`. */
  #isRunTold = false;
  #isAgentOpen = false;
  #isTurnOpen = false;
  #isReplyOpen = false;
  /** The reply of the open turn. */
  #reply: Json | undefined;
  /** Whether the last reply says itself that it came to nothing. */
  #isFailureTold = false;
  /** The failed tries before the one that runs. */
  #retries = 0;
  /** What has been told since `agent_start`. */
  #messages: Json[] = [];
  #toolResults: Json[] = [];
  #step = { api: "", provider: "", model: "", thinkingLevel: undefined as string | undefined };

  constructor(mode: "rpc" | "print") {
    this.#mode = mode;
  }

  encode(record: OutRecord): string {
    switch (record.kind) {
      case "result":
        if (record.request.name === ANSWER) return "";
        return encodeLine(encodeSuccess(record.request, record.result));
      case "refusal":
        return encodeLine(encodeRefusal(record.request, record.error));
      case "event":
        return this.#encodeEvent(record.event);
    }
  }

  #encodeEvent(event: SessionEvent): string {
    switch (event.type) {
      // The pieces of a reply come by the hundred thousand, so they are written without an object in between.
      case "text_delta":
      case "thinking_delta":
        return `${UPDATE}"${event.type}","contentIndex":${event.index},"delta":${
          JSON.stringify(event.delta)
        }}}\n`;
      case "tool_input_delta":
        return `${UPDATE}"toolcall_delta","contentIndex":${event.index},"delta":${
          JSON.stringify(event.delta)
        }}}\n`;
      case "text_start":
      case "thinking_start":
      case "text_end":
      case "thinking_end":
      case "tool_input_start":
      case "tool_input_end":
        return encodeUpdate(event);
      case "turn_start":
      case "step_start":
      case "reply_start":
      case "reply_end":
      case "reply_broken":
      case "step_end":
      case "turn_end":
      case "settled":
        return this.#encodeProgress(event);
      case "call_start":
      case "tool_snapshot":
      case "call_done":
      case "call_end":
        return this.#encodeCall(event);
      default:
        return this.#encodeRest(event);
    }
  }

  #encodeProgress(
    event: EventOf<
      | "turn_start"
      | "step_start"
      | "reply_start"
      | "reply_end"
      | "reply_broken"
      | "step_end"
      | "turn_end"
      | "settled"
    >,
  ): string {
    switch (event.type) {
      case "turn_start": {
        const { opening } = event;
        return this.#openTurn() +
          (opening === undefined ? "" : this.#tellMessage(encodeMessage(opening.message)));
      }
      case "step_start": {
        const { api, provider, model, thinkingLevel } = event;
        this.#step = { api, provider, model, thinkingLevel };
        return this.#openTurn();
      }
      case "reply_start":
        this.#isReplyOpen = true;
        return line("message_start", { message: this.#pendingReply() });
      case "reply_end":
        return this.#endReply(event.message);
      case "reply_broken":
        return this.#openTurn() + this.#endReply(event.message) +
          this.#endTurn(encodeMessage(event.message)) +
          (event.again ? this.#endAgent({ willRetry: true }) : "");
      case "step_end":
        return this.#endTurn(encodeMessage(event.message));
      case "turn_end":
        return this.#endRun(event);
      case "settled":
        this.#isRunTold = false;
        return line("agent_settled", { aborted: event.aborted });
    }
  }

  #encodeCall(
    event: EventOf<"call_start" | "tool_snapshot" | "call_done" | "call_end">,
  ): string {
    const { call } = event;
    const ids = { toolCallId: call.id, toolName: call.name };
    switch (event.type) {
      case "call_start":
        return line("tool_execution_start", { ...ids, args: call.arguments });
      case "tool_snapshot":
        return line("tool_execution_update", {
          ...ids,
          args: call.arguments,
          partialResult: event.snapshot,
        });
      case "call_done":
        return line("tool_execution_end", {
          ...ids,
          result: encodeResult(event.message),
          isError: event.message.isError,
          ...(event.ran ? defined({ durationMs: event.message.durationMs }) : {}),
        });
      case "call_end": {
        const message = encodeMessage(event.message);
        this.#toolResults.push(message);
        return this.#tellMessage(message);
      }
    }
  }

  #encodeRest(event: SessionEvent): string {
    switch (event.type) {
      case "user_message":
        return this.#openTurn() + this.#tellMessage(encodeMessage(event.message));
      case "queue_change":
        return (event.action === "dequeue" ? this.#openTurn() : "") +
          line("queue_update", { ...event.waiting });
      case "queue_clear":
        return line("queue_update", { steering: [], followUp: [] });
      case "retry": {
        const { attempt, limit, delayMs, error } = event;
        this.#retries = attempt;
        return line("auto_retry_start", {
          attempt,
          maxAttempts: limit,
          delayMs,
          errorMessage: error,
        });
      }
      case "reply_omitted":
        return line("entry_appended", { entry: shownEntry(event.entry) });
      case "retry_cancelled":
        return this.#endRetry({ success: false, finalError: "Retry cancelled" });
      case "compaction":
        return encodeCompactionEvent(event);
      case "summary_retry":
        return encodeSummaryRetry(event);
      case "approval_request":
        return encodeLine(encodeApproval(event));
      case "command_output": {
        const id = event.requestId === undefined ? {} : { id: event.requestId };
        return line("bash_execution_update", { ...id, delta: event.delta });
      }
      case "name_change":
        return line("session_info_changed", event.name === "" ? {} : { name: event.name });
      case "thinking_change":
        return line("thinking_level_changed", { level: event.level });
      case "session_open":
        return this.#mode === "print" ? encodeLine(event.header) : "";
      default:
        return "";
    }
  }

  #openTurn(): string {
    let text = "";
    if (!this.#isAgentOpen) {
      this.#isAgentOpen = true;
      this.#isFailureTold = false;
      this.#isRunTold = true;
      this.#messages = [];
      text = line("agent_start");
    }
    if (!this.#isTurnOpen) {
      this.#isTurnOpen = true;
      this.#toolResults = [];
      text += line("turn_start");
    }
    return text;
  }

  #tellMessage(message: Json): string {
    this.#messages.push(message);
    return line("message_start", { message }) + line("message_end", { message });
  }

  #pendingReply(): Json {
    const { api, provider, model, thinkingLevel } = this.#step;
    return {
      role: "assistant",
      content: [],
      api: apiName(api),
      provider,
      model,
      usage: JSON.parse(NO_USAGE_JSON),
      stopReason: "pending",
      timestamp: Date.now(),
      ...defined({ thinkingLevel }),
    };
  }

  #endReply(reply: AssistantMessage): string {
    const message = encodeMessage(reply);
    this.#messages.push(message);
    const start = this.#isReplyOpen ? "" : line("message_start", { message });
    this.#isReplyOpen = false;
    const isGood = reply.stopReason !== "error" && reply.stopReason !== "aborted";
    this.#reply = message;
    this.#isFailureTold = !isGood;
    return start + line("message_end", { message }) +
      (isGood ? this.#endRetry({ success: true }) : "");
  }

  #endTurn(message: Json): string {
    this.#isTurnOpen = false;
    this.#reply = undefined;
    const toolResults = this.#toolResults;
    this.#toolResults = [];
    return line("turn_end", { message, toolResults });
  }

  #endAgent({ willRetry }: { willRetry: boolean }): string {
    this.#isAgentOpen = false;
    const messages = this.#messages;
    this.#messages = [];
    return line("agent_end", { messages, willRetry });
  }

  /** A run that a fault of the machine has ended has no reply yet: clients get one that says so. */
  #endRun(event: EventOf<"turn_end">): string {
    let text = "";
    if (!this.#isRunTold) text += this.#openTurn();
    // What failed behind a reply, say in keeping the results of its calls.
    if (this.#isTurnOpen && this.#reply !== undefined) text += this.#endTurn(this.#reply);
    if (this.#isAgentOpen && event.outcome === "failed" && !this.#isFailureTold) {
      text += this.#openTurn();
    }
    if (this.#isTurnOpen) {
      const stopReason = event.outcome === "aborted" ? "aborted" : "error";
      const errorMessage = event.outcome === "failed" ? event.error : "Request was aborted";
      const message = { ...this.#pendingReply(), stopReason, errorMessage };
      text += (this.#isReplyOpen ? "" : line("message_start", { message })) +
        line("message_end", { message });
      this.#isReplyOpen = false;
      this.#messages.push(message);
      text += this.#endTurn(message);
    }
    if (this.#isAgentOpen) text += this.#endAgent({ willRetry: false });
    const finalError = event.outcome === "failed" ? event.error : "Retry cancelled";
    return text + this.#endRetry({ success: false, finalError });
  }

  #endRetry(end: { success: boolean; finalError?: string }): string {
    const attempt = this.#retries;
    if (attempt === 0) return "";
    this.#retries = 0;
    const { success, finalError } = end;
    return line("auto_retry_end", { success, attempt, ...defined({ finalError }) });
  }
}

function encodeUpdate(event: ModelEvent): string {
  const { index: contentIndex } = event;
  switch (event.type) {
    case "text_end":
      return update(event.type, { contentIndex, content: event.text });
    case "thinking_end":
      return update(event.type, { contentIndex, content: event.text });
    case "tool_input_start":
      return update("toolcall_start", { contentIndex, id: event.id, toolName: event.name });
    case "tool_input_end":
      return update("toolcall_end", { contentIndex, toolCall: encodeBlock(event.call) });
    default:
      return update(event.type, { contentIndex });
  }
}

function update(type: string, members: Json): string {
  return `${UPDATE}"${type}",${encodeJson(members).slice(1)}}\n`;
}

const REASONS = { auto: "threshold", overflow: "overflow", manual: "manual" } as const;

function encodeCompactionEvent(event: EventOf<"compaction">): string {
  const reason = REASONS[event.trigger];
  const end = { aborted: false, willRetry: false };
  switch (event.phase) {
    case "start":
      return line("compaction_start", { reason });
    case "done":
      return line("compaction_end", {
        reason,
        result: encodeCompaction(event.report),
        ...end,
        willRetry: event.trigger === "overflow",
      });
    case "aborted":
      return line("compaction_end", { reason, ...end, aborted: true });
    case "error":
      return line("compaction_end", {
        reason,
        ...end,
        errorMessage: `Compaction failed: ${event.message}`,
      });
    default:
      return "";
  }
}

function encodeSummaryRetry(event: EventOf<"summary_retry">): string {
  switch (event.phase) {
    case "scheduled":
      return line("summarization_retry_scheduled", {
        attempt: event.attempt,
        maxAttempts: event.limit,
        delayMs: event.delayMs,
        errorMessage: event.error,
      });
    case "started":
      return line("summarization_retry_attempt_start", {
        source: "compaction",
        reason: REASONS[event.trigger],
      });
    case "finished":
      return line("summarization_retry_finished");
  }
}

function line(type: string, members: Json = {}): string {
  return encodeLine({ type, ...members });
}

function encodeLine(record: Json): string {
  return encodeJson(record) + "\n";
}
