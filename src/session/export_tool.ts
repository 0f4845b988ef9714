/** One tool call with its result, folded, as HTML. Knows no conversation around it. */

import type { ImageBlock, JsonObject, ToolCall, ToolResultMessage } from "../agent/message.ts";
import { textOf } from "../agent/message.ts";
import { escapeText, renderBox, shortenText } from "./export_text.ts";

/** Arguments that say best what a call is about, the best first. */
const TELLING_ARGUMENTS = ["command", "path", "pattern", "description", "url", "query"];
const SUMMARY_LENGTH = 120;
const MAX_INDENTS = 20;

/** A result under a line that says how it went, the tool's name and what the call was about. `call` is absent when the session lacks it. */
export function renderToolResult(
  result: ToolResultMessage,
  call: ToolCall | undefined,
): string {
  const name = result.toolName || call?.name || "tool";
  const head = result.isError
    ? `<span class="bad">✖ ${label(name)}</span><span class="unseen"> failed</span>`
    : `<span class="good">● ${label(name)}</span>`;
  return fold(head + about(call), renderArguments(call) + renderOutput(result));
}

/** A call that has no result: it still runs, or what would have run it ended. */
export function renderOpenCall(call: ToolCall): string {
  const head = `<span class="open">○ ${label(call.name || "tool")}</span>`;
  return fold(`${head}${about(call)} <span class="quiet">no result</span>`, renderArguments(call));
}

/** An image by its name; it is not drawn. */
export function renderImageName({ filename, mimeType, data }: ImageBlock): string {
  const kilobytes = Math.ceil(data.length * 3 / 4 / 1000).toLocaleString("en-US");
  const name = filename === undefined ? "" : `${shortenText(filename, SUMMARY_LENGTH)}, `;
  const text = `Image, not shown: ${name}${shortenText(mimeType, 60)}, ${kilobytes} kB`;
  return `<p class="quiet"><bdi>${escapeText(text)}</bdi></p>\n`;
}

function fold(summary: string, content: string): string {
  return `<details class="tool"><summary>${summary}</summary>\n${content}</details>\n`;
}

function label(name: string): string {
  return escapeText(shortenText(name, 60));
}

function about(call: ToolCall | undefined): string {
  if (call === undefined) return "";
  const text = summarize(call);
  return text === "" ? "" : ` <bdi class="about">${escapeText(text)}</bdi>`;
}

function summarize({ arguments: args, rawArguments }: ToolCall): string {
  if (rawArguments !== undefined) return shortenText(rawArguments, SUMMARY_LENGTH);
  const key = TELLING_ARGUMENTS.find((name) => typeof args[name] === "string");
  if (key !== undefined) return shortenText(String(args[key]), SUMMARY_LENGTH);
  const [first] = Object.entries(args);
  if (first === undefined) return "";
  return shortenText(`${first[0]}: ${showValue(first[1])}`, SUMMARY_LENGTH);
}

function renderArguments(call: ToolCall | undefined): string {
  if (call === undefined) return "";
  const { arguments: args, rawArguments, argumentsError } = call;
  let content = "";
  if (rawArguments !== undefined) content += renderBox(rawArguments);
  if (argumentsError !== undefined) content += `<p dir="auto">${escapeText(argumentsError)}</p>\n`;
  content += renderMembers(args);
  if (content === "") return "";
  return `<details class="inner"><summary>Arguments</summary>\n${content}</details>\n`;
}

function renderMembers(args: JsonObject): string {
  const members = Object.entries(args).map(([name, value]) =>
    `<dt><bdi>${escapeText(name)}</bdi></dt><dd>${renderBox(showValue(value))}</dd>\n`
  );
  return members.length === 0 ? "" : `<dl>\n${members.join("")}</dl>\n`;
}

/** A text as it is, anything else as JSON; indented unless it is nested so deeply that indents would be most of it. */
function showValue(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    const line = JSON.stringify(value) ?? "";
    return depthOf(line) > MAX_INDENTS ? line : JSON.stringify(value, null, 2) ?? "";
  } catch {
    return "(nested too deeply to be shown)";
  }
}

/** How deep the brackets of a JSON text are nested; brackets in strings count too. */
function depthOf(json: string): number {
  let depth = 0;
  let most = 0;
  for (const [bracket] of json.matchAll(/[[\]{}]/g)) {
    depth += bracket === "[" || bracket === "{" ? 1 : -1;
    most = Math.max(most, depth);
  }
  return most;
}

function renderOutput(result: ToolResultMessage): string {
  const text = textOf(result);
  const diff = result.details?.diff;
  let html = "";
  if (typeof diff === "string" && diff !== "") {
    const rest = text.endsWith(diff) ? text.slice(0, text.length - diff.length).trimEnd() : text;
    if (rest !== "") html += renderBox(rest);
    html += renderDiff(diff);
  } else if (text !== "") {
    html += renderBox(text);
  }
  for (const block of result.content) if (block.type === "image") html += renderImageName(block);
  return html === "" ? `<p class="quiet">no output</p>\n` : html;
}

/** A unified diff, its lines coloured; the signs stay, so colour is not all that tells them apart. */
function renderDiff(diff: string): string {
  let isHeader = true;
  const lines = diff.replace(/\r\n?/g, "\n").replace(/\n$/, "").split("\n").map((line) => {
    const text = escapeText(line);
    if (line.startsWith("@@")) {
      isHeader = false;
      return `<span class="hunk">${text}</span>`;
    }
    if (isHeader) return `<span class="quiet">${text}</span>`;
    if (line.startsWith("+")) return `<ins>${text}</ins>`;
    if (line.startsWith("-")) return `<del>${text}</del>`;
    return text;
  });
  return `<pre class="diff" tabindex="0" dir="ltr">\n${lines.join("\n")}</pre>\n`;
}
