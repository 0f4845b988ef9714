/** The messages of a conversation as HTML, in order. Knows no page around them. */

import {
  type AssistantMessage,
  isPartial,
  textOf,
  type ToolCall,
  toolCallsOf,
  type UserMessage,
} from "../agent/message.ts";
import type { StoredMessage } from "./command.ts";
import { escapeText, renderAnswer, renderPlain, shortenText } from "./export_text.ts";
import { renderImageName, renderOpenCall, renderToolResult } from "./export_tool.ts";

/** Yields the HTML of one message after the other. Job notices are left out. Each message of a person begins the element `turn-<n>`, n from 1. */
export function* renderMessages(messages: readonly StoredMessage[]): Generator<string> {
  /** Calls of the last reply that have no result so far; an id can occur twice. */
  let open = new Map<string, ToolCall[]>();
  let turn = 0;
  function* finishCalls(): Generator<string> {
    for (const calls of open.values()) for (const call of calls) yield renderOpenCall(call);
    open = new Map();
  }
  for (const { message } of messages) {
    if (message.role === "toolResult") {
      yield renderToolResult(message, open.get(message.toolCallId)?.shift());
      continue;
    }
    yield* finishCalls();
    if (message.role === "assistant") {
      yield renderReply(message);
      for (const call of toolCallsOf(message)) {
        const same = open.get(call.id);
        if (same === undefined) open.set(call.id, [call]);
        else same.push(call);
      }
    } else if (message.internal === undefined) {
      yield renderPrompt(message, ++turn);
    }
  }
  yield* finishCalls();
}

function renderPrompt(message: UserMessage, turn: number): string {
  let html = `<article class="user" id="turn-${turn}">\n<h3>User${time(message.timestamp)}</h3>\n`;
  const text = message.display ?? textOf(message);
  if (text !== "") html += renderPlain(text);
  for (const block of message.content) if (block.type === "image") html += renderImageName(block);
  return `${html}</article>\n`;
}

/** A reply that only calls tools has nothing to show but them. */
function renderReply(message: AssistantMessage): string {
  let html = "";
  for (const block of message.content) {
    if (block.type === "text") {
      if (block.text.trim() !== "") html += renderAnswer(block.text);
    } else if (block.type === "thinking" && block.thinking.trim() !== "") {
      html += `<details class="thinking"><summary>Thinking</summary>\n${
        renderPlain(block.thinking.trim())
      }</details>\n`;
    }
  }
  html += renderEnd(message);
  if (html === "") return "";
  const model = message.model === ""
    ? ""
    : ` <span class="quiet"><bdi>${escapeText(shortenText(message.model, 80))}</bdi></span>`;
  return `<article class="assistant">\n<h3>Assistant${model}${
    time(message.timestamp)
  }</h3>\n${html}</article>\n`;
}

function renderEnd(message: AssistantMessage): string {
  if (message.stopReason === "length") return note("Cut off at the length limit");
  if (!isPartial(message)) return "";
  if (message.errorMessage !== undefined && message.errorMessage !== "") {
    return note(message.errorMessage);
  }
  return note(message.stopReason === "aborted" ? "Interrupted" : "Ended by an error");
}

function note(text: string): string {
  return `<p class="note" dir="auto">✖ ${escapeText(text)}</p>\n`;
}

/** Nothing for what is no time, which a file of another program may hold. */
function time(timestamp: number): string {
  const date = new Date(timestamp);
  if (!(timestamp > 0) || Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999) return "";
  const iso = date.toISOString();
  const shown = `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
  return ` <time datetime="${iso}">${shown}</time>`;
}
