/**
 * Asks a model in tests and puts the pieces together the way an agent does, checking their order on the way.
 */

import { assert, assertEquals } from "@std/assert";
import type { TextBlock, ThinkingBlock, ToolCall, UserMessage } from "../../src/agent/message.ts";
import type {
  Model,
  ModelEvent,
  ModelInfo,
  ModelReplyEnd,
  ModelRequest,
} from "../../src/agent/model.ts";
import { createOpenaiModel, type OpenaiModelOptions } from "../../src/models/openai.ts";

export const INFO: ModelInfo = {
  contextWindow: undefined,
  maxOutputTokens: undefined,
  reasoning: undefined,
  input: ["text", "image"],
  price: undefined,
};

/** A model named `test-model` of the provider `test`, with limits that no test reaches by accident. */
export function testModel(options: Partial<OpenaiModelOptions> & { baseUrl: string }): Model {
  return createOpenaiModel({
    provider: "test",
    id: "test-model",
    api: "chat",
    apiKey: "sk-test-1234567890",
    headers: {},
    timeoutMs: 20_000,
    stallTimeoutMs: 20_000,
    info: INFO,
    ...options,
  });
}

/** A model whose endpoint answers with exactly these chunks. */
export function modelOf(
  chunks: readonly (string | Uint8Array<ArrayBuffer>)[],
  options: Partial<OpenaiModelOptions> & { contentType?: string } = {},
): Model {
  const { contentType = "text/event-stream", ...more } = options;
  const encoder = new TextEncoder();
  return testModel({
    baseUrl: "http://model.test/v1",
    fetch: () => {
      const parts = chunks.map((chunk) =>
        typeof chunk === "string" ? encoder.encode(chunk) : chunk
      );
      const body = ReadableStream.from(parts);
      return Promise.resolve(new Response(body, { headers: { "content-type": contentType } }));
    },
    ...more,
  });
}

/** The event stream of these values, with `[DONE]`. */
export function sse(...values: unknown[]): string {
  return [...values.map((value) => JSON.stringify(value)), "[DONE]"]
    .map((data) => `data: ${data}\n\n`).join("");
}

/** A chunk with this delta. */
export function delta(fields: object, finish: string | null = null): object {
  return { id: "c-1", model: "m-1", choices: [{ index: 0, delta: fields, finish_reason: finish }] };
}

export function user(text: string): UserMessage {
  return { role: "user", content: [{ type: "text", text }], timestamp: 0 };
}

export function requestOf(request: Partial<ModelRequest> = {}): ModelRequest {
  return {
    systemPrompt: "You help.",
    messages: [user("Hello")],
    tools: [],
    thinkingLevel: undefined,
    sessionId: "s-1",
    ...request,
  };
}

export interface Answer {
  content: (TextBlock | ThinkingBlock | ToolCall)[];
  end: ModelReplyEnd;
  events: ModelEvent[];
}

/** One reply; asserts that each block starts once, ends once and says at its end what its pieces said. */
export async function ask(
  model: Model,
  options: { request?: Partial<ModelRequest>; signal?: AbortSignal } = {},
): Promise<Answer> {
  const events: ModelEvent[] = [];
  const end = await model.reply(requestOf(options.request), {
    signal: options.signal ?? new AbortController().signal,
    sink(event) {
      events.push(event);
      return undefined;
    },
  });
  return { content: contentOf(events), end, events };
}

function contentOf(events: readonly ModelEvent[]): Answer["content"] {
  const content: Answer["content"] = [];
  const pieces = new Map<number, string>();
  for (const event of events) {
    const { index } = event;
    if (event.type.endsWith("_start")) {
      assertEquals(index, pieces.size, "blocks start in the order of their index");
      pieces.set(index, "");
    } else if ("delta" in event) {
      assert(
        pieces.has(index) && content[index] === undefined,
        "pieces come between start and end",
      );
      pieces.set(index, pieces.get(index) + event.delta);
    } else if ("text" in event) {
      assertEquals(event.text, pieces.get(index));
      content[index] = event.type === "text_end"
        ? { type: "text", text: event.text }
        : { type: "thinking", thinking: event.text };
    } else if (event.type === "tool_input_end") {
      assertEquals(content[index], undefined, "a block ends once");
      content[index] = event.call;
    }
  }
  assertEquals(Object.keys(content).length, pieces.size, "every block that starts ends");
  return content;
}
