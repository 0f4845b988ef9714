/**
 * Messages that the session format has and the model does not: what the model reads in their place. Knows no file.
 */

import type { ImageBlock, JsonObject, TextBlock, UserMessage } from "../agent/message.ts";
import { asNumber, asObject, asString, present } from "./json_members.ts";

/** A command that the client ran itself. */
export interface CommandRecord {
  readonly command: string;
  readonly output: string;
  /** `undefined` when it was stopped. */
  readonly exitCode: number | undefined;
  readonly truncated: boolean;
  readonly fullOutputPath: string | undefined;
  /** Not sent to the model. */
  readonly isPrivate: boolean;
}

/** The message of a command that the client ran. */
export function createCommandMessage(record: CommandRecord): UserMessage {
  const { command, output, exitCode, truncated, fullOutputPath, isPrivate } = record;
  return commandMessage(
    present({
      role: "bashExecution",
      command,
      output,
      exitCode,
      cancelled: exitCode === undefined,
      truncated,
      fullOutputPath,
      excludeFromContext: isPrivate || undefined,
      timestamp: Date.now(),
    }),
  );
}

/** A message of a role that only the session format has; `undefined` for a role that is not known. */
function decodeForeignMessage(
  raw: JsonObject,
  options: { timestamp: number },
): UserMessage | undefined {
  switch (raw.role) {
    case "bashExecution":
      return typeof raw.command === "string" ? commandMessage(raw, options) : undefined;
    case "custom":
      return customMessage(raw, options);
    case "branchSummary":
      return summaryMessage(raw, options);
    default:
      return undefined;
  }
}

/** The message that an entry of a type of its own stands for; `undefined` for an entry that is none. */
export function decodeForeignEntry(raw: JsonObject): UserMessage | undefined {
  const timestamp = typeof raw.timestamp === "string" ? Date.parse(raw.timestamp) || 0 : 0;
  const message = raw.type === "message" ? asObject(raw.message) : undefined;
  if (message !== undefined) return decodeForeignMessage(message, { timestamp });
  if (raw.type === "custom_message") {
    const { customType, content, display, details } = raw;
    return customMessage(
      present({ role: "custom", customType, content, display, details, timestamp }),
      { timestamp },
    );
  }
  if (raw.type === "branch_summary") {
    const { summary, fromId } = raw;
    return summaryMessage(present({ role: "branchSummary", summary, fromId, timestamp }), {
      timestamp,
    });
  }
  return undefined;
}

function commandMessage(
  raw: JsonObject,
  options: { timestamp: number } = { timestamp: 0 },
): UserMessage {
  const output = asString(raw.output) ?? "";
  const exitCode = asNumber(raw.exitCode);
  const lines = [`Ran \`${raw.command}\``, "```", output.replace(/\n$/, ""), "```"];
  if (raw.cancelled === true) lines.push("(command cancelled)");
  else if (exitCode !== undefined && exitCode !== 0) {
    lines.push(`Command exited with code ${exitCode}`);
  }
  if (raw.truncated === true && typeof raw.fullOutputPath === "string") {
    lines.push(`[Output truncated, all of it is in ${raw.fullOutputPath}]`);
  }
  return {
    ...userText(lines.join("\n"), raw, options),
    ...(raw.excludeFromContext === true && { isPrivate: true }),
  };
}

function customMessage(
  raw: JsonObject,
  options: { timestamp: number },
): UserMessage | undefined {
  const { content } = raw;
  if (typeof content === "string") return userText(content, raw, options);
  if (!Array.isArray(content)) return undefined;
  const blocks: (TextBlock | ImageBlock)[] = [];
  for (const item of content) {
    const block = asObject(item);
    if (block?.type === "text" && typeof block.text === "string") {
      blocks.push({ type: "text", text: block.text });
    } else if (
      block?.type === "image" && typeof block.data === "string" &&
      typeof block.mimeType === "string"
    ) {
      blocks.push({ type: "image", data: block.data, mimeType: block.mimeType });
    }
  }
  return { ...userText("", raw, options), content: blocks };
}

function summaryMessage(
  raw: JsonObject,
  options: { timestamp: number },
): UserMessage | undefined {
  if (typeof raw.summary !== "string") return undefined;
  return userText(
    `<branch-summary>\n${raw.summary}\n</branch-summary>`,
    raw,
    options,
  );
}

function userText(
  text: string,
  foreign: JsonObject,
  { timestamp }: { timestamp: number },
): UserMessage {
  return {
    role: "user",
    content: [{ type: "text", text }],
    timestamp: asNumber(foreign.timestamp) ?? timestamp,
    foreign,
  };
}
