/** What the tests of the exported page share: a conversation that has a text in every place, and a reader of the page's structure. */

import type { AssistantMessage, JsonObject, Message } from "../../src/agent/message.ts";
import type { SessionStats } from "../../src/session/command.ts";
import type { ExportData } from "../../src/session/export_html.ts";
import { assistant, user } from "./session_samples.ts";

export const STATS: SessionStats = {
  sessionId: "s-1",
  userMessages: 2,
  assistantMessages: 3,
  toolCalls: 3,
  toolResults: 2,
  totalMessages: 7,
  inputTokens: 1234,
  outputTokens: 56,
  cacheReadTokens: 1000,
  cacheWriteTokens: 0,
  receipts: { usd: 0.0123, calls: 3, unpricedCalls: 1 },
};

/** A page's data with these messages. */
export function exportData(
  messages: readonly Message[],
  rest: Partial<ExportData> = {},
): ExportData {
  return {
    sessionId: "s-1",
    title: "A title",
    model: "m",
    workspace: "/project/app",
    messages: messages.map((message, index) => ({ id: `e${index}`, message })),
    stats: STATS,
    ...rest,
  };
}

export function toolCall(id: string, name: string, args: JsonObject) {
  return { type: "toolCall", id, name, arguments: args } as const;
}

export function toolResult(
  id: string,
  text: string,
  rest: { toolName?: string; isError?: boolean; details?: JsonObject } = {},
): Message {
  const content = [{ type: "text", text }] as const;
  return {
    role: "toolResult",
    toolCallId: id,
    toolName: "bash",
    content,
    isError: false,
    timestamp: 3,
    ...rest,
  };
}

/** The text in every place of a conversation that can hold one. */
export function textEverywhere(text: string): ExportData {
  const image = { type: "image", data: "AAAA", mimeType: text, filename: text } as const;
  const args = { command: text, [text]: [{ [text]: text }] };
  const reply: Partial<AssistantMessage> = {
    model: text,
    provider: text,
    requestModel: text,
    usage: { inputTokens: 7, outputTokens: 8 },
  };
  const messages: Message[] = [
    { ...user(text), display: text, content: [{ type: "text", text }, image] },
    assistant("", {
      ...reply,
      content: [
        { type: "thinking", thinking: text },
        { type: "text", text: `${text}\n\`\`\`${text}\n${text}\n\`\`\`\n\`${text}\` **${text}**` },
        toolCall("a", text, args),
        { ...toolCall("b", text, {}), rawArguments: text, argumentsError: text },
        toolCall(text, text, { [text]: text }),
      ],
    }),
    toolResult("a", `${text}\n`, { toolName: text, details: { diff: `${text}\n@@\n+${text}` } }),
    { ...toolResult("b", text, { toolName: text, isError: true }), content: [image] } as Message,
    assistant(text, { ...reply, stopReason: "error", errorMessage: text }),
  ];
  return exportData(messages, { sessionId: text, title: text, model: text, workspace: text });
}

/** A page taken apart. */
export interface PageStructure {
  /** Every tag as it stands there, in order. */
  readonly tags: readonly string[];
  /** All text outside of tags and styles, entities resolved. */
  readonly text: string;
}

const VOID = new Set(["meta"]);

/** Reads a page strictly. Throws where tags are not closed in order, or a `<`, `>` or `&` stands where none may. */
export function readStructure(html: string): PageStructure {
  const body = html.replace(/^<!DOCTYPE html>\n/, "").replace(
    /<style>[^<]*<\/style>/,
    "<style></style>",
  );
  const tags: string[] = [];
  const open: string[] = [];
  let text = "";
  for (const [part] of body.matchAll(/<[^>]*>|[^<]+|</g)) {
    if (!part.startsWith("<")) {
      text += readText(part);
      continue;
    }
    const tag = /^<(\/?)([a-z][a-z0-9]*)((?: [a-zA-Z-]+="[^"<>]*")*)>$/.exec(part);
    if (tag === null) throw new Error(`No tag: ${part}`);
    const [, slash, name] = tag;
    tags.push(part);
    if (slash === "/") {
      const expected = open.pop();
      if (expected !== name) throw new Error(`</${name}> closes <${expected}>`);
    } else if (!VOID.has(name!)) open.push(name!);
  }
  if (open.length > 0) throw new Error(`Not closed: ${open}`);
  return { tags, text };
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#39": "'",
};

function readText(part: string): string {
  if (part.includes(">")) throw new Error(`A bare > in: ${part}`);
  return part.replace(/&(?:([a-z0-9#]+);)?/g, (_, name) => {
    const character = ENTITIES[name];
    if (character === undefined) throw new Error(`A bare & in: ${part}`);
    return character;
  });
}
