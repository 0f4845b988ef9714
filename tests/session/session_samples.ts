/**
 * What the tests of the session folder share: a place for sessions, messages, and a way to look into files.
 */

import type { AssistantMessage, JsonObject, UserMessage } from "../../src/agent/message.ts";
import type { Host } from "../../src/host.ts";
import type { SessionStore } from "../../src/session/find_session.ts";

export const signal = new AbortController().signal;

export const store: SessionStore = { home: "/home/.weir", workspace: "/project/app" };

export const HEADER_LINE =
  '{"type":"session","version":3,"id":"s-1","timestamp":"2026-01-02T03:04:05.006Z","cwd":"/project/app"}';

export function user(text: string): UserMessage {
  return { role: "user", content: [{ type: "text", text }], timestamp: 1 };
}

export function assistant(text: string, rest: Partial<AssistantMessage> = {}): AssistantMessage {
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    api: "chat",
    provider: "openai",
    model: "m",
    requestModel: "m",
    stopReason: "stop",
    timestamp: 2,
    ...rest,
  };
}

/** Lines of a session of user messages, each with LF, the header first. */
export function sessionText(texts: readonly string[], header: string = HEADER_LINE): string {
  const lines = texts.map((text, index) =>
    JSON.stringify({
      type: "message",
      id: `e${index}`,
      parentId: index === 0 ? null : `e${index - 1}`,
      timestamp: "2026-01-02T03:04:06.000Z",
      message: { role: "user", content: text, timestamp: index },
    })
  );
  return [header, ...lines].map((line) => line + "\n").join("");
}

export async function readText(host: Host, path: string): Promise<string> {
  return new TextDecoder().decode(await host.files.read(path, { signal }));
}

export async function readRecords(host: Host, path: string): Promise<JsonObject[]> {
  const lines = (await readText(host, path)).split("\n");
  if (lines.pop() !== "") throw new Error("The file does not end with LF");
  return lines.map((line) => JSON.parse(line));
}

/** The object with some members in place of its own. */
export function overlay<T extends object>(target: T, changes: Partial<T>): T {
  return new Proxy(target, {
    get(_, key) {
      if (key in changes) return changes[key as keyof T];
      const value = target[key as keyof T];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
