import { assert, assertEquals } from "@std/assert";
import { ParseTries } from "../../src/models/parse_tries.ts";
import { ask, delta, modelOf, sse } from "./_ask.ts";

Deno.test("ParseTries allows a text of some pages at every line, and a long one now and then", () => {
  const tries = new ParseTries();
  const page = "x".repeat(10_000);
  for (let line = 0; line < 400; line++) assert(tries.allow(page));
  const long = "x".repeat(8 * 1024 * 1024);
  tries.reset();
  const allowed = Array.from({ length: 100 }, () => tries.allow(long)).filter(Boolean).length;
  assert(allowed >= 1 && allowed <= 5, `${allowed} times`);
  tries.reset();
  assert(tries.allow(long));
});

Deno.test("createOpenaiModel() finds a value over more lines than are tried, at its blank line and at the end", async () => {
  const items = Array.from({ length: 40_000 }, (_, at) => `data: ,{"n":${at}}\n`).join("");
  const value = `data: {"more":[{}\n${items}data: ],\ndata: "choices":[{"delta":{"content":"hi"},` +
    `"finish_reason":"stop"}]}\n`;
  for (const end of ["\n", "\ndata: [DONE]\n\n", ""]) {
    const { content } = await ask(modelOf([value + end]));
    assertEquals(content, [{ type: "text", text: "hi" }]);
  }
});

Deno.test("createOpenaiModel() does not read a call anew for each of its pieces", async () => {
  const piece = (args: string) =>
    delta({ tool_calls: [{ index: 0, function: { name: "ls", arguments: args } }] });
  const pieces = Array.from({ length: 40_000 }, () => piece("{}".repeat(50)));
  const signal = AbortSignal.timeout(20_000);
  const stream = sse(piece('{"path":"'), ...pieces, piece('"}'), delta({}, "tool_calls"));
  const { content } = await ask(modelOf([stream.slice(0, 1000), stream.slice(1000)]), { signal });
  assertEquals(content.length, 1);
  const [call] = content;
  assert(call!.type === "toolCall");
  assertEquals(String(call.arguments.path).length, 40_000 * 100);
});
