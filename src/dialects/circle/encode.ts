/** From results and events to lines. Holds what the client chose to see, and which message is being streamed. */

import { textOf, toolCallsOf } from "../../agent/message.ts";
import type { CommandResult, OutRecord, Request, SessionStats } from "../../session/command.ts";
import type { SessionEvent } from "../../session/event.ts";
import { encodeJson } from "../../wire/encode_json.ts";
import type { Encoder } from "../dialect.ts";
import { encodeCompaction, encodeSubagent } from "./encode_details.ts";
import {
  encodeContentText,
  encodeLangchainMessage,
  encodeNativeMessage,
  encodeToolCall,
  encodeUsage,
} from "./encode_messages.ts";

type Json = Record<string, unknown>;

/** `print`: the one-shot JSON mode, which leaves out what only a lasting client needs. */
export function createCircleEncoder(options: { mode: "rpc" | "print" }): Encoder {
  return new CircleEncoder(options.mode);
}

class CircleEncoder implements Encoder {
  readonly #mode: "rpc" | "print";
  #full = false;
  /** The id of the reply that is being streamed, as JSON. */
  #replyId = '""';
  /** Whether the client was told that the work was stopped. */
  #toldStop = false;

  constructor(mode: "rpc" | "print") {
    this.#mode = mode;
  }

  encode(record: OutRecord): string {
    switch (record.kind) {
      case "event":
        return this.#encodeEvent(record.event, record.sessionId);
      case "result":
        if (record.result.type === "set_detail") this.#full = record.result.value.detail === "full";
        return encodeLine(encodeResult(record.request, record.result));
      case "refusal":
        return encodeLine({
          type: "response",
          command: record.request.name,
          success: false,
          ...idOf(record.request),
          error: refusalText(record.error),
        });
    }
  }

  #encodeEvent(event: SessionEvent, sessionId: string): string {
    // The pieces of a reply come by the hundred thousand, so they are written without an object in between.
    if (event.type === "text_delta" || event.type === "thinking_delta") {
      if (!this.#full) return "";
      const type = event.type === "text_delta" ? "message_delta" : "thinking_delta";
      return `{"type":"${type}","id":${this.#replyId},"delta":${JSON.stringify(event.delta)}}\n`;
    }
    if (event.type === "reply_start") {
      this.#replyId = JSON.stringify(event.id);
      return "";
    }
    if (event.type === "subagent") return encodeSubagent(event).map(encodeLine).join("");
    if (this.#mode === "print") {
      if (event.type === "turn_end" && event.outcome === "aborted") this.#toldStop = true;
      if (event.type === "session_close") {
        // A signal that came while nothing but jobs ran has ended no turn.
        return event.cause === "signal" && !this.#toldStop ? encodeLine(INTERRUPTED) : "";
      }
    }
    const record = encodeEvent(event, { full: this.#full, rpc: this.#mode === "rpc", sessionId });
    return record === undefined ? "" : encodeLine(record);
  }
}

const INTERRUPTED: Json = { type: "error", message: "Interrupted" };

function encodeLine(record: Json): string {
  return encodeJson(record) + "\n";
}

function idOf(request: Request): Json {
  return request.id === undefined ? {} : { id: request.id };
}

function refusalText(error: Error): string {
  const code = "code" in error ? error.code : undefined;
  if (code === "behavior_required") return "streamingBehavior must be steer or followUp";
  return error.message.replace(/\s*[\r\n]+\s*/g, " ");
}

function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, " ").trim();
}

function encodeResult(request: Request, result: CommandResult): Json {
  const data = encodeData(request, result);
  return {
    type: "response",
    command: request.name,
    success: true,
    ...idOf(request),
    ...(data === undefined ? {} : { data }),
  };
}

function encodeData(request: Request, result: CommandResult): Json | undefined {
  switch (result.type) {
    case "prompt":
    case "steer":
    case "follow_up":
    case "clear_queue":
    case "list_models":
    case "export_html":
    case "list_jobs":
    case "stop_job":
    case "move_to_background":
    case "set_detail":
      return { ...result.value };
    case "get_last_answer":
      return { text: result.value.text };
    case "new_session":
      return { cancelled: false, sessionId: result.value.sessionId };
    case "get_state": {
      const state = result.value;
      return {
        model: state.model,
        thinkingLevel: state.thinkingLevel,
        isStreaming: state.busy,
        sessionId: state.sessionId,
        sessionName: state.name,
        messageCount: state.messageCount,
        pendingMessageCount: state.steering + state.followUp,
      };
    }
    case "get_messages": {
      const encode = request.name === "get_native_messages"
        ? encodeNativeMessage
        : encodeLangchainMessage;
      return { messages: result.value.messages.map(encode) };
    }
    case "get_stats":
      return encodeStats(result.value);
    case "set_model":
      return { model: result.value.model };
    case "set_thinking":
      return { thinkingLevel: result.value.level };
    case "abort":
    case "interrupt":
    case "shutdown":
    case "set_name":
    case "set_delivery_mode":
    default:
      return undefined;
  }
}

function encodeStats(stats: SessionStats): Json {
  const { usd, calls, unpricedCalls } = stats.receipts;
  return {
    sessionId: stats.sessionId,
    userMessages: stats.userMessages,
    assistantMessages: stats.assistantMessages,
    toolCalls: stats.toolCalls,
    toolResults: stats.toolResults,
    totalMessages: stats.totalMessages,
    tokens: {
      input: stats.inputTokens,
      output: stats.outputTokens,
      total: stats.inputTokens + stats.outputTokens,
    },
    costs: {
      amounts: usd === undefined ? {} : { USD: usd },
      calls,
      unpriced_calls: unpricedCalls,
    },
  };
}

interface EncodeContext {
  readonly full: boolean;
  readonly rpc: boolean;
  readonly sessionId: string;
}

/** The record of an event; `undefined` for one that this dialect does not tell. */
function encodeEvent(event: SessionEvent, context: EncodeContext): Json | undefined {
  switch (event.type) {
    case "turn_start":
      return event.opening === undefined
        ? { type: "turn_start" }
        : { type: "turn_start", message: event.opening.text };
    case "reply_end":
      return {
        type: "assistant",
        id: event.id,
        text: textOf(event.message),
        tool_calls: toolCallsOf(event.message).map(encodeToolCall),
        usage: encodeUsage(event.message.usage),
      };
    case "call_not_run": {
      const { name, arguments: args } = event.call;
      return { type: "not_run", name, args, reason: event.reason };
    }
    case "call_end":
      return {
        type: "tool_result",
        id: event.call.id,
        name: event.call.name,
        status: event.message.isError ? "error" : "success",
        output: encodeContentText(event.message),
      };
    case "user_message":
      return context.rpc && event.origin === "steer"
        ? { type: "steer", message: event.text }
        : undefined;
    case "turn_end":
      return encodeTurnEnd(event, context);
    case "settled":
      return context.rpc ? { type: "agent_settled" } : undefined;
    case "session_open":
      if (context.rpc) return undefined;
      return {
        type: "session",
        id: context.sessionId,
        workspace: event.workspace,
        model: event.model,
      };
    case "session_close":
      return { type: "jobs_stopped", count: event.jobsStopped };
    case "job_change":
      return { type: "job", event: event.change, job: event.job };
    case "compaction":
      return encodeCompaction(event, context.sessionId);
    case "tool_start":
      if (!context.full) return undefined;
      return { type: "tool_start", id: event.call.id, name: event.call.name, args: event.args };
    case "tool_output":
      return context.full
        ? { type: "tool_output", id: event.callId, delta: event.delta }
        : undefined;
    default:
      return undefined;
  }
}

function encodeTurnEnd(
  event: SessionEvent & { type: "turn_end" },
  context: EncodeContext,
): Json | undefined {
  switch (event.outcome) {
    case "answered":
      return { type: "turn_end", answer: event.answer, usage: encodeUsage(event.usage) };
    case "failed":
      return { type: "error", message: oneLine(event.error) };
    case "aborted":
      return context.rpc ? { type: "turn_end", aborted: true } : INTERRUPTED;
  }
}
