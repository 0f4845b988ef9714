import { assertEquals } from "@std/assert";
import type { AssistantMessage, Message, ToolResultMessage } from "../../src/agent/message.ts";
import type { ModelInfo, ModelRequest, ThinkingLevel } from "../../src/agent/model.ts";
import { chatRequest } from "../../src/models/chat_request.ts";
import { responsesRequest } from "../../src/models/responses_request.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { ask, INFO, requestOf, testModel, user } from "./_ask.ts";

const LOCAL = "http://127.0.0.1:1/v1";
const OPENAI = "https://api.openai.com/v1";
const png = { type: "image", data: "AAAA", mimeType: "image/png", filename: "a.png" } as const;

function assistant(content: AssistantMessage["content"], more: object = {}): AssistantMessage {
  return {
    role: "assistant",
    content,
    api: "chat",
    provider: "test",
    model: "m",
    requestModel: "m",
    stopReason: "stop",
    timestamp: 0,
    ...more,
  };
}

function result(id: string, content: ToolResultMessage["content"]): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: id,
    toolName: "read",
    content,
    isError: false,
    timestamp: 0,
  };
}

const CONVERSATION: Message[] = [
  { role: "user", content: [{ type: "text", text: "look" }, png], timestamp: 0 },
  assistant([{ type: "text", text: "half" }], { stopReason: "aborted" }),
  assistant([
    { type: "thinking", thinking: "hm" },
    { type: "toolCall", id: "c1", name: "read", arguments: { path: "a.png" } },
    { type: "toolCall", id: "c2", name: "no such!", arguments: {}, rawArguments: "{oops" },
  ]),
  result("c1", [png]),
  result("c2", []),
  assistant([{ type: "thinking", thinking: "only" }]),
  user("go on"),
];

const tool = {
  name: "read",
  description: "Reads.",
  parameters: { type: "object", properties: {}, additionalProperties: false },
};

function both(
  request: Partial<ModelRequest>,
  options: { info?: Partial<ModelInfo>; baseUrl?: string } = {},
) {
  const target = {
    id: "m",
    baseUrl: options.baseUrl ?? LOCAL,
    info: { ...INFO, ...options.info },
  };
  return {
    chat: chatRequest(requestOf(request), target),
    responses: responsesRequest(requestOf(request), target),
  };
}

Deno.test("chatRequest() writes the conversation", () => {
  const { chat } = both({ messages: CONVERSATION, tools: [tool] });
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
  assertEquals(chat, {
    model: "m",
    messages: [
      { role: "system", content: "You help." },
      { role: "user", content: [{ type: "text", text: "look" }, image] },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "c1", type: "function", function: { name: "read", arguments: '{"path":"a.png"}' } },
          { id: "c2", type: "function", function: { name: "no_such_", arguments: "{}" } },
        ],
      },
      {
        role: "tool",
        tool_call_id: "c1",
        content: "[image (image/png) of this result: see the next user message]",
      },
      { role: "tool", tool_call_id: "c2", content: "(no output)" },
      {
        role: "user",
        content: [{ type: "text", text: "Images from the results of read (c1):" }, image],
      },
      { role: "assistant", content: "(no answer)" },
      { role: "user", content: "go on" },
    ],
    stream: true,
    stream_options: { include_usage: true },
    tools: [{ type: "function", function: tool }],
  });
});

Deno.test("responsesRequest() writes the conversation", () => {
  const { responses } = both({ messages: CONVERSATION, tools: [tool] });
  const image = { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" };
  assertEquals(responses, {
    model: "m",
    instructions: "You help.",
    input: [
      { role: "user", content: [{ type: "input_text", text: "look" }, image] },
      { type: "function_call", call_id: "c1", name: "read", arguments: '{"path":"a.png"}' },
      { type: "function_call", call_id: "c2", name: "no_such_", arguments: "{}" },
      {
        type: "function_call_output",
        call_id: "c1",
        output: "[image (image/png) of this result: see the next user message]",
      },
      { type: "function_call_output", call_id: "c2", output: "(no output)" },
      {
        role: "user",
        content: [{ type: "input_text", text: "Images from the results of read (c1):" }, image],
      },
      { role: "assistant", content: "(no answer)" },
      { role: "user", content: [{ type: "input_text", text: "go on" }] },
    ],
    stream: true,
    store: false,
    tools: [{ type: "function", ...tool, strict: false }],
  });
});

for (const api of ["chat", "responses"] as const) {
  Deno.test(`a strict endpoint accepts the conversation (${api})`, async () => {
    await using server = startModelServer();
    server.reply({ text: "ok" }, { text: "ok" });
    const request = { messages: CONVERSATION, tools: [tool] };
    await ask(testModel({ baseUrl: server.url, api }), { request });
    const info: ModelInfo = { ...INFO, input: ["text"] };
    await ask(testModel({ baseUrl: server.url, api, info }), { request });
    assertEquals(server.complaints, []);
  });
}

Deno.test("requests name images that the model does not take", () => {
  const info = { input: ["text"] as const };
  const { chat, responses } = both({ messages: CONVERSATION }, { info });
  for (const request of [chat, responses]) {
    const text = JSON.stringify(request);
    assertEquals(text.includes("base64"), false);
    const note = "[image a.png (image/png) left out: this model takes no images]";
    assertEquals(text.split(note).length, 3);
  }
});

Deno.test("requests carry the output limit under the endpoint's name", () => {
  const info = { maxOutputTokens: 100 };
  const local = both({}, { info });
  assertEquals([local.chat.max_tokens, local.chat.max_completion_tokens], [100, undefined]);
  const openai = both({}, { info, baseUrl: OPENAI });
  assertEquals([openai.chat.max_tokens, openai.chat.max_completion_tokens], [undefined, 100]);
  assertEquals(openai.responses.max_output_tokens, 100);
});

Deno.test("requests name the conversation to OpenAI alone", () => {
  assertEquals(both({}).chat.prompt_cache_key, undefined);
  assertEquals(both({}).responses.prompt_cache_key, undefined);
  assertEquals(both({}, { baseUrl: OPENAI }).responses.prompt_cache_key, "s-1");
});

Deno.test("requests ask for the effort of the thinking level", () => {
  const effort = (level: ThinkingLevel | undefined, reasoning?: boolean) => {
    const { chat, responses } = both({ thinkingLevel: level }, { info: { reasoning } });
    const asked = chat.reasoning_effort;
    assertEquals(responses.reasoning, asked && { effort: asked, summary: "auto" });
    return asked;
  };
  assertEquals(effort(undefined), undefined);
  assertEquals(effort("off"), undefined);
  assertEquals(effort("minimal"), "minimal");
  assertEquals(effort("high", true), "high");
  assertEquals(effort("max"), "xhigh");
  assertEquals(effort("high", false), undefined);
});
