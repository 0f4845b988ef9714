import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import type { Reply } from "../fakes/reply.ts";
import { ask, delta, modelOf, sse, testModel } from "./_ask.ts";

const call = (fields: object) => delta({ tool_calls: [fields] });

/** The calls of a reply with these chunks, as `name(arguments)`. */
async function callsOf(...chunks: unknown[]): Promise<{ calls: string[]; ids: string[] }> {
  const { content } = await ask(modelOf([sse(...chunks)]));
  const calls = content.filter((block) => block.type === "toolCall");
  return {
    calls: calls.map(({ name, arguments: args }) => `${name}(${JSON.stringify(args)})`),
    ids: calls.map(({ id }) => id),
  };
}

const OVER_HTTP: [string, Reply, object][] = [
  ["an empty choices chunk", { emptyChoicesFirst: true }, {}],
  ["null content", { nullContent: true }, {}],
  ["missing usage", { usageIn: "none" }, { usage: undefined }],
  ["usage beside the last choice", { usageIn: "last-choice" }, {}],
  ["a finish reason that comes twice", { finishTwice: true }, {}],
  ["thinking under its other name", { thinking: ["hm"], thinkingField: "reasoning" }, {}],
];

for (const [what, reply, expected] of OVER_HTTP) {
  Deno.test(`createOpenaiModel() bears ${what}`, async () => {
    await using server = startModelServer();
    server.reply({ text: ["Hello", " you"], ...reply });
    const { content, end } = await ask(testModel({ baseUrl: server.url }));
    assertEquals(content.at(-1), { type: "text", text: "Hello you" });
    assertEquals(content.length, reply.thinking ? 2 : 1);
    const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, reasoningTokens: 0 };
    assertEquals({ stopReason: end.stopReason, usage: end.usage }, {
      stopReason: "stop",
      usage,
      ...expected,
    });
  });
}

Deno.test("createOpenaiModel() reads a stream cut at every byte", async () => {
  const stream = ": hi\r\n\r\n" +
    sse(delta({ content: "é🙂" }), call({ index: 0, id: "a", function: { name: "ls" } })) +
    "event: x\nid: 1\n\n";
  const bytes = new TextEncoder().encode(stream);
  const whole = await ask(modelOf([bytes]));
  for (let at = 0; at <= bytes.length; at++) {
    const { content } = await ask(modelOf([bytes.slice(0, at), bytes.slice(at)]));
    assertEquals(content, whole.content);
  }
  const single = await ask(modelOf([...bytes].map((byte) => Uint8Array.of(byte))));
  assertEquals(single.content, whole.content);
});

Deno.test("createOpenaiModel() takes time in proportion to the bytes of one long line", async () => {
  const piece = "x".repeat(1000);
  const chunks = [
    'data: {"choices":[{"delta":{"content":"',
    ...Array(20_000).fill(piece),
    '"}}]}\n',
  ];
  const { content } = await ask(modelOf(chunks));
  assert(content[0].type === "text");
  assertEquals(content[0].text.length, 20_000_000);
});

Deno.test("createOpenaiModel() bears events without blank lines, over several lines and without an end", async () => {
  const one = JSON.stringify(delta({ content: "one " }));
  const two = JSON.stringify(delta({ content: "two " }), undefined, 1);
  const stream = `data:${one}\ndata: ${one}\n\n${
    two.split("\n").map((line) => `data: ${line}\n`).join("")
  }\ndata: ${one}`;
  const { content } = await ask(modelOf([stream]));
  assertEquals(content, [{ type: "text", text: "one one two one " }]);
});

Deno.test("createOpenaiModel() reads an answer that is not streamed", async () => {
  const message = { role: "assistant", content: "whole", tool_calls: undefined };
  const body = { id: "x", choices: [{ index: 0, message, finish_reason: "stop" }] };
  for (const space of [undefined, 2]) {
    const chunks = [JSON.stringify(body, undefined, space)];
    const { content } = await ask(modelOf(chunks, { contentType: "application/json" }));
    assertEquals(content, [{ type: "text", text: "whole" }]);
  }
});

Deno.test("createOpenaiModel() ignores everything after [DONE]", async () => {
  const stream = sse(delta({ content: "kept" }, "stop")) + sse(delta({ content: "dropped" }));
  assertEquals((await ask(modelOf([stream]))).content, [{ type: "text", text: "kept" }]);
});

Deno.test("createOpenaiModel() begins a block for each change between thinking and text", async () => {
  const chunks = [
    delta({ reasoning_content: "a" }),
    delta({ reasoning_content: "b", content: "" }),
    delta({ content: "c", reasoning_content: null }),
    delta({ reasoning: "d" }),
    delta({ content: [{ type: "text", text: "e" }] }),
  ];
  assertEquals((await ask(modelOf([sse(...chunks)]))).content, [
    { type: "thinking", thinking: "ab" },
    { type: "text", text: "c" },
    { type: "thinking", thinking: "d" },
    { type: "text", text: "e" },
  ]);
});

Deno.test("createOpenaiModel() puts calls together from fragments in any order", async () => {
  const { calls, ids } = await callsOf(
    call({ index: 1, id: "b", function: { name: "two", arguments: '{"n"' } }),
    call({ index: 0, function: { arguments: '{"m":' } }),
    call({ index: 1, id: "b", function: { name: "two", arguments: ":2}" } }),
    call({ index: 0, id: "a", function: { name: "one" } }),
    call({ index: 0, id: "a", function: { name: "one", arguments: "1}" } }),
    delta({}, "tool_calls"),
  );
  assertEquals(calls, ['one({"m":1})', 'two({"n":2})']);
  assertEquals(ids, ["a", "b"]);
});

Deno.test("createOpenaiModel() makes an id when there is none", async () => {
  const { calls, ids } = await callsOf(
    call({ index: 0, id: null, function: { name: "ls", arguments: "{}" } }),
    call({ index: 1, id: "", function: { name: "ls", arguments: "" } }),
  );
  assertEquals(calls, ["ls({})", "ls({})"]);
  for (const id of ids) assertMatch(id, /^call_[0-9a-f]{24}$/);
  assertNotEquals(ids[0], ids[1]);
});

Deno.test("createOpenaiModel() makes ids that are there twice different", async () => {
  const { calls, ids } = await callsOf(
    call({ index: 0, id: "x", function: { name: "ls", arguments: "{}" } }),
    call({ index: 1, id: "x", function: { name: "read", arguments: "{}" } }),
    call({ index: 2, id: "x_2", function: { name: "find", arguments: "{}" } }),
  );
  assertEquals(calls, ["ls({})", "read({})", "find({})"]);
  assertEquals(new Set(ids).size, 3);
});

Deno.test("createOpenaiModel() tells calls apart without numbers", async () => {
  const byId = await callsOf(
    call({ id: "a", function: { name: "one", arguments: '{"x":' } }),
    call({ id: "b", function: { name: "two", arguments: "{" } }),
    call({ id: "a", function: { arguments: "1}" } }),
    call({ id: "b", function: { arguments: "}" } }),
  );
  assertEquals(byId.calls, ['one({"x":1})', "two({})"]);
  const whole = await callsOf(
    call({ function: { name: "one", arguments: '{"x":1}' } }),
    call({ function: { name: "one", arguments: { x: 2 } } }),
    call({ function: { name: "two", arguments: '{"x"' } }),
    call({ function: { arguments: ":3}" } }),
  );
  assertEquals(whole.calls, ['one({"x":1})', 'one({"x":2})', 'two({"x":3})']);
  const allZero = await callsOf(
    call({ index: 0, id: "a", function: { name: "one", arguments: "{}" } }),
    call({ index: 0, id: "b", function: { name: "one", arguments: '{"y":1}' } }),
    call({ index: 0, id: "c", function: { name: "two", arguments: "{" } }),
    call({ index: 0, function: { arguments: "}" } }),
  );
  assertEquals(allZero.calls, ["one({})", 'one({"y":1})', "two({})"]);
});

Deno.test("createOpenaiModel() takes numbers that begin with 1 or have gaps", async () => {
  const { calls } = await callsOf(
    call({ index: 7, id: "b", function: { name: "two", arguments: "{}" } }),
    call({ index: 1, id: "a", function: { name: "one", arguments: "{}" } }),
  );
  assertEquals(calls, ["one({})", "two({})"]);
});

Deno.test("createOpenaiModel() takes no arguments for an empty object and keeps what is none", async () => {
  const { content } = await ask(modelOf([sse(
    call({ index: 0, id: "a", function: { name: "ls", arguments: " " } }),
    call({ index: 1, id: "b", function: { name: "ls", arguments: "7" } }),
  )]));
  assertEquals(content, [
    { type: "toolCall", id: "a", name: "ls", arguments: {} },
    {
      type: "toolCall",
      id: "b",
      name: "ls",
      arguments: {},
      rawArguments: "7",
      argumentsError: "expected a JSON object, got a number",
    },
  ]);
});

Deno.test("createOpenaiModel() reads usage as other endpoints write it", async () => {
  const usageOf = async (usage: object) =>
    (await ask(modelOf([sse(delta({ content: "x" }, "stop"), { choices: [], usage })]))).end.usage;
  assertEquals(
    await usageOf({ prompt_tokens: 10, completion_tokens: 2, prompt_cache_hit_tokens: 8 }),
    { inputTokens: 10, outputTokens: 2, cacheReadTokens: 8 },
  );
  assertEquals(
    await usageOf({
      input_tokens: 3,
      output_tokens: 2,
      cache_read_input_tokens: 50,
      cache_creation_input_tokens: 7,
    }),
    { inputTokens: 60, outputTokens: 2, cacheReadTokens: 50, cacheWriteTokens: 7 },
  );
  assertEquals(await usageOf({ prompt_tokens: "many" }), undefined);
});

Deno.test("createOpenaiModel() takes from complete items what the Responses stream left out", async () => {
  const output = [
    { type: "reasoning", id: "r", summary: [{ type: "summary_text", text: "hm" }] },
    { type: "message", id: "m", content: [{ type: "output_text", text: "hi" }] },
    { type: "function_call", id: "f", call_id: "c", name: "ls", arguments: '{"path":"."}' },
  ];
  const expected = [
    { type: "thinking", thinking: "hm" },
    { type: "text", text: "hi" },
    { type: "toolCall", id: "c", name: "ls", arguments: { path: "." } },
  ];
  const items = output.map((item, output_index) => ({
    type: "response.output_item.done",
    output_index,
    item,
  }));
  const completed = { type: "response.completed", response: { id: "r-1", output } };
  for (const events of [[...items, completed], [completed], items]) {
    const { content, end } = await ask(modelOf([sse(...events)], { api: "responses" }));
    assertEquals(content, expected as typeof content);
    assertEquals(end.stopReason, "toolUse");
  }
  const whole = JSON.stringify({ object: "response", status: "completed", output });
  assertEquals((await ask(modelOf([whole], { api: "responses" }))).content, expected as unknown[]);
});
