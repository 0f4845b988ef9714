import { assertEquals } from "@std/assert";
import { checkChatRequest, checkResponsesRequest } from "./_check_request.ts";
import { startModelServer } from "./model_server.ts";

type Json = Record<string, unknown>;

const user = { role: "user", content: "hi" };
const call = (id: string, fields: Json = {}) => ({
  id,
  type: "function",
  function: { name: "ls", arguments: "{}", ...fields },
});
const calls = (...ids: string[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => call(id)),
});
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "out" });
const chat = (messages: unknown[], more: Json = {}) =>
  checkChatRequest({ model: "m", messages, ...more });

Deno.test("checkChatRequest() accepts a whole conversation", () => {
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } };
  const messages = [
    { role: "system", content: "be brief" },
    { role: "user", content: [{ type: "text", text: "look" }, image] },
    calls("a", "b"),
    result("b"),
    result("a"),
    { role: "assistant", content: "done" },
    calls("a"),
    result("a"),
    user,
  ];
  const tools = [{ type: "function", function: { name: "ls", parameters: { type: "object" } } }];
  assertEquals(chat(messages, { tools }), undefined);
});

for (
  const [what, messages, complaint] of [
    ["no messages", [], "messages is not a list with entries"],
    ["an unknown role", [{ role: "robot", content: "x" }], 'messages[0].role is "robot"'],
    [
      "a user message before the results",
      [calls("a"), user],
      'messages[1] comes before the tool messages of "a"',
    ],
    [
      "a missing result at the end",
      [calls("a", "b"), result("a")],
      'messages end without the tool messages of "b"',
    ],
    [
      "a second result",
      [calls("a"), result("a"), result("a")],
      'messages[2].tool_call_id "a" has no open call',
    ],
    ["a result without a call", [result("a")], 'messages[0].tool_call_id "a" has no open call'],
    ["a repeated id", [calls("a", "a")], 'messages[0].tool_calls[1] repeats the call id "a"'],
    [
      "an empty assistant message",
      [{ role: "assistant", content: "" }],
      "messages[0] is an assistant message without content or tool calls",
    ],
    [
      "an empty list of calls",
      [{ role: "assistant", content: "x", tool_calls: [] }],
      "messages[0].tool_calls is not a list with entries; leave it out instead",
    ],
    [
      "a bad function name",
      [{ role: "assistant", tool_calls: [call("a", { name: "a b" })] }],
      'messages[0].tool_calls[0] calls "a b", which is not a function name',
    ],
    [
      "arguments that are an object",
      [{ role: "assistant", tool_calls: [call("a", { arguments: {} })] }],
      "messages[0].tool_calls[0] has arguments that are not a string",
    ],
    [
      "arguments that are not JSON",
      [{ role: "assistant", tool_calls: [call("a", { arguments: "{" })] }],
      "messages[0].tool_calls[0] has arguments that are not JSON",
    ],
    [
      "an image in a tool message",
      [calls("a"), { ...result("a"), content: [{ type: "image_url", image_url: { url: "x" } }] }],
      "messages[1].content[0].type image_url is not allowed here",
    ],
    ["null as a user's content", [{ role: "user", content: null }], undefined],
  ] as [string, unknown[], string | undefined][]
) {
  Deno.test(`checkChatRequest() refuses ${what}`, () => {
    const expected = complaint ?? "messages[0].content is neither text nor a list with parts";
    assertEquals(chat(messages), `Malformed request: ${expected}`);
  });
}

Deno.test("checkChatRequest() refuses bad tools and a missing model", () => {
  assertEquals(
    chat([user], { tools: [] }),
    "Malformed request: tools is not a list with entries; leave it out instead",
  );
  const tools = [{ type: "function", function: { name: "a.b" } }];
  const complaint = "Malformed request: tools[0].function.name is not a function name";
  assertEquals(chat([user], { tools }), complaint);
  assertEquals(checkChatRequest({}), "Malformed request: model is not a model id");
});

const item = (call_id: string, fields: Json = {}) => ({
  type: "function_call",
  call_id,
  name: "ls",
  arguments: "{}",
  ...fields,
});
const output = (call_id: string) => ({ type: "function_call_output", call_id, output: "out" });
const said = { role: "assistant", content: [{ type: "output_text", text: "ok" }] };
const responses = (input: unknown, more: Json = {}) =>
  checkResponsesRequest({ model: "m", input, ...more });

Deno.test("checkResponsesRequest() accepts a whole conversation", () => {
  const reasoning = { type: "reasoning", id: "rs", summary: [] };
  const image = { type: "input_image", image_url: "data:image/png;base64,AA==" };
  const input = [
    { role: "user", content: [{ type: "input_text", text: "look" }, image] },
    reasoning,
    said,
    item("a"),
    item("b"),
    output("a"),
    { ...output("b"), output: [{ type: "input_text", text: "x" }] },
    user,
  ];
  const tools = [{ type: "function", name: "ls", parameters: {} }];
  assertEquals(responses(input, { tools }), undefined);
  assertEquals(responses("text"), undefined);
  assertEquals(responses([output("old")], { previous_response_id: "resp_1" }), undefined);
});

for (
  const [what, input, complaint] of [
    ["an output without a call", [output("a")], 'input[0].call_id "a" has no open call'],
    [
      "a second output",
      [item("a"), output("a"), output("a")],
      'input[2].call_id "a" has no open call',
    ],
    ["a call without output", [item("a")], 'input ends without function_call_output of "a"'],
    [
      "a user message before the output",
      [item("a"), user, output("a")],
      'input[1] comes before function_call_output of "a"',
    ],
    ["a bad name", [item("a", { name: "" })], 'input[0] calls "", which is not a function name'],
    [
      "arguments that are not JSON",
      [item("a", { arguments: "x" })],
      "input[0] has arguments that are not JSON",
    ],
    [
      "input parts of an assistant",
      [{ role: "assistant", content: [{ type: "input_text", text: "x" }] }],
      "input[0].content[0].type input_text is not allowed here",
    ],
    [
      "an empty assistant message",
      [{ role: "assistant", content: [] }],
      "input[0] is an assistant message without content",
    ],
    [
      "reasoning alone",
      [{ type: "reasoning" }, user],
      "input[0] is reasoning without a following item",
    ],
    ["an unknown item", [{ type: "wish" }], 'input[0].type is "wish"'],
  ] as [string, unknown[], string][]
) {
  Deno.test(`checkResponsesRequest() refuses ${what}`, () => {
    assertEquals(responses(input), `Malformed request: ${complaint}`);
  });
}

Deno.test("ModelServer refuses malformed requests with 400, unless it is not strict", async () => {
  await using server = startModelServer();
  server.reply({ text: "x" }, { text: "y" });
  const ask = async (path: string, body: string) => {
    const response = await fetch(server.url + path, { method: "POST", body });
    return [response.status, (await response.json()).error?.message];
  };
  const complaint = "Malformed request: messages is not a list with entries";
  const body = JSON.stringify({ model: "m", messages: [] });
  assertEquals(await ask("/chat/completions", body), [400, complaint]);
  const noModel = "Malformed request: model is not a model id";
  assertEquals(await ask("/responses", "{not json"), [400, noModel]);
  assertEquals(server.complaints, [complaint, noModel]);
  assertEquals(server.unused, 2);
  server.strict = false;
  assertEquals(await ask("/chat/completions", body), [200, undefined]);
  assertEquals(await ask("/responses", "{}"), [200, undefined]);
  assertEquals(server.unused, 0);
});
