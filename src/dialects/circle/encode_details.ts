/** The larger events of this dialect: compactions and what subagents do. */

import type { AgentEvent } from "../../agent/agent_event.ts";
import type { SessionEvent, SubagentEvent } from "../../session/event.ts";
import { encodeContentText, encodeNativeMessage, encodeUsage } from "./encode_messages.ts";

type Json = Record<string, unknown>;

export function encodeCompaction(
  event: SessionEvent & { type: "compaction" },
  sessionId: string,
): Json {
  const common = { type: "compaction", sessionId, trigger: event.trigger, phase: event.phase };
  switch (event.phase) {
    case "start":
      return {
        ...common,
        tokens_before: event.tokensBefore,
        summarized: event.summarized,
        kept: event.kept,
      };
    case "saved":
      return { ...common, file: event.file };
    case "chunks":
    case "summarized":
      return { ...common, chunks: event.chunks };
    case "done":
      return {
        ...common,
        tokens_before: event.tokensBefore,
        tokens_after: event.tokensAfter,
        summarized: event.summarized,
        kept: event.kept,
        file: event.file,
        seconds: event.seconds,
      };
    case "error":
      return { ...common, message: event.message };
    case "saving":
    case "summarizing":
      return common;
  }
}

/** The records of one event of a subagent; none for one that is not told. */
export function encodeSubagent(event: SessionEvent & { type: "subagent" }): Json[] {
  const { subagent, name, jobId } = event.tags;
  const tags = { subagent, name, ...(jobId === undefined ? {} : { job_id: jobId }) };
  const inner = event.event;
  const records = inner.type === "call_end" ? encodeCallEnd(inner) : [encodeSubagentEvent(inner)];
  return records
    .filter((fields) => fields !== undefined)
    .map((fields) => ({ type: "subagent_event", ...fields, tags }));
}

function encodeSubagentEvent(event: SubagentEvent): Json | undefined {
  switch (event.type) {
    case "subagent_start":
      return { event: "run_start", message: event.message };
    case "subagent_end":
      return { event: "run_end", answer: event.answer, usage: encodeUsage(event.usage) };
    case "subagent_error":
      return { event: "run_error", message: event.message, interrupted: event.interrupted };
    case "step_start":
      return { event: "llm_start" };
    case "text_delta":
      return { event: "llm_token", text: event.delta, thinking: false };
    case "thinking_delta":
      return { event: "llm_token", text: event.delta, thinking: true };
    case "reply_end":
      return {
        event: "llm_end",
        message: encodeNativeMessage({ id: event.id, message: event.message }),
        usage: encodeUsage(event.message.usage),
      };
    case "call_start":
    case "tool_start":
      return {
        event: event.type === "call_start" ? "tool_call" : "tool_start",
        id: event.call.id,
        name: event.call.name,
        args: event.call.arguments,
      };
    case "call_not_run":
      return {
        event: "tool_waiting",
        id: event.call.id,
        name: event.call.name,
        args: event.call.arguments,
        reason: event.reason,
      };
    default:
      return undefined;
  }
}

function encodeCallEnd(event: AgentEvent & { type: "call_end" }): Json[] {
  const { call: { id, name, arguments: args }, message } = event;
  const status = message.isError ? "error" : "success";
  return [
    { event: "tool_result", id, name, status, output: encodeContentText(message) },
    { event: "tool_end", id, status },
    ...(name === "todo" && !message.isError ? [{ event: "todo_list", todos: args.items }] : []),
  ];
}
