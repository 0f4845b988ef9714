import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ModelError } from "../../src/errors.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { ask, delta, requestOf, sse, testModel } from "./_ask.ts";

for (const api of ["chat", "responses"] as const) {
  Deno.test(`createOpenaiModel() streams thinking, text and calls (${api})`, async () => {
    await using server = startModelServer();
    server.reply({
      thinking: ["Let ", "me see"],
      text: ["Grüße ", "🙂"],
      toolCalls: [
        { id: "call_a", name: "read", args: { path: "a.txt" } },
        { id: "call_b", name: "ls", args: {} },
      ],
      usage: { input: 100, output: 20, cacheRead: 60, reasoning: 5 },
      model: "test-model-2026",
    });
    const { content, end } = await ask(testModel({ baseUrl: server.url, api }));
    assertEquals(content, [
      { type: "thinking", thinking: "Let me see" },
      { type: "text", text: "Grüße 🙂" },
      { type: "toolCall", id: "call_a", name: "read", arguments: { path: "a.txt" } },
      { type: "toolCall", id: "call_b", name: "ls", arguments: {} },
    ]);
    assertEquals(end.stopReason, "toolUse");
    assertEquals(end.model, "test-model-2026");
    assertEquals(end.usage, {
      inputTokens: 100,
      outputTokens: 20,
      cacheReadTokens: 60,
      reasoningTokens: 5,
    });
    assert(end.responseId);
    assertEquals(server.complaints, []);
  });

  Deno.test(`createOpenaiModel() reports a reply that was cut for length (${api})`, async () => {
    await using server = startModelServer();
    server.reply({ text: "half", finish: "length" });
    const { end } = await ask(testModel({ baseUrl: server.url, api }));
    assertEquals(end.stopReason, "length");
  });

  Deno.test(`createOpenaiModel() reads CRLF, comments, split characters and a repeated end (${api})`, async () => {
    await using server = startModelServer();
    server.reply({
      text: ["日本", "語 ", "🙂é"],
      crlf: true,
      comments: true,
      splitUtf8: true,
      finishTwice: true,
    });
    const { content, end } = await ask(testModel({ baseUrl: server.url, api }));
    assertEquals(content, [{ type: "text", text: "日本語 🙂é" }]);
    assertEquals(end.stopReason, "stop");
  });

  Deno.test(`createOpenaiModel() keeps interleaved calls apart and in order (${api})`, async () => {
    await using server = startModelServer();
    const args = { path: "a much longer argument than one fragment" };
    server.reply({
      toolCalls: [{ id: "a", name: "read", args }, { id: "b", name: "ls", args }],
      toolFragmentsInterleaved: true,
      toolIdRepeated: true,
    });
    const { content } = await ask(testModel({ baseUrl: server.url, api }));
    const calls = content.map((block) => block.type === "toolCall" && block.name);
    assertEquals(calls.toSorted(), ["ls", "read"]);
    assertEquals(content.map((block) => block.type === "toolCall" && block.arguments), [
      args,
      args,
    ]);
    // Chat Completions numbers its calls; the order of the Responses API is that of its events.
    if (api === "chat") assertEquals(calls, ["read", "ls"]);
  });

  Deno.test(`createOpenaiModel() takes a stream that just ends after text for an answer (${api})`, async () => {
    await using server = startModelServer();
    server.reply({ text: "all there is", noFinish: true });
    const { content, end } = await ask(testModel({ baseUrl: server.url, api }));
    assertEquals(content, [{ type: "text", text: "all there is" }]);
    assertEquals([end.stopReason, end.rawStopReason, end.usage], ["stop", undefined, undefined]);
  });

  Deno.test(`createOpenaiModel() goes on after arguments that are not JSON (${api})`, async () => {
    await using server = startModelServer();
    server.reply({
      toolCalls: [{ id: "a", name: "read", args: "{oops" }, { id: "b", name: "ls", args: "[1]" }],
    });
    const { content, end } = await ask(testModel({ baseUrl: server.url, api }));
    assertEquals(end.stopReason, "toolUse");
    const [first, second] = content;
    assert(first.type === "toolCall" && second.type === "toolCall");
    assertEquals([first.arguments, first.rawArguments], [{}, "{oops"]);
    assertMatch(first.argumentsError ?? "", /^invalid JSON: /);
    assertEquals(second.argumentsError, "expected a JSON object, got an array");
  });
}

Deno.test("createOpenaiModel() sends key, version and configured headers", async () => {
  await using server = startModelServer();
  server.reply({ text: "ok" });
  await ask(testModel({ baseUrl: server.url, version: "1.2.3", headers: { "x-extra": "yes" } }));
  const { headers } = await server.nextRequest();
  assertEquals(headers.authorization, "Bearer sk-test-1234567890");
  assertEquals(headers["user-agent"], "weir/1.2.3");
  assertEquals(headers["x-extra"], "yes");
});

Deno.test("createOpenaiModel() sends no Authorization without a key", async () => {
  await using server = startModelServer();
  server.reply({ text: "ok" });
  await ask(testModel({ baseUrl: `${server.url}/`, apiKey: undefined }));
  const { headers, path } = await server.nextRequest();
  assertEquals(headers.authorization, undefined);
  assertEquals(path, "/v1/chat/completions");
});

Deno.test("createOpenaiModel() lets a configured header replace the key", async () => {
  await using server = startModelServer();
  server.reply({ text: "ok" });
  await ask(testModel({ baseUrl: server.url, headers: { authorization: "Token abc" } }));
  assertEquals((await server.nextRequest()).headers.authorization, "Token abc");
});

Deno.test("createOpenaiModel() uses a connection again", async () => {
  const ports = new Set<number>();
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request, info) => {
      await request.text();
      ports.add(info.remoteAddr.port);
      const body = ReadableStream.from([sse(delta({ content: "hi" }, "stop"))]);
      return new Response(body.pipeThrough(new TextEncoderStream()), {
        headers: { "content-type": "text/event-stream" },
      });
    },
  );
  const model = testModel({ baseUrl: `http://127.0.0.1:${server.addr.port}/v1` });
  for (let n = 0; n < 10; n++) await ask(model);
  // A connection may come back into the pool a moment too late for the next request.
  assert(ports.size <= 5, `${ports.size} connections`);
});

Deno.test("createOpenaiModel() refuses a missing key and a bad base URL without asking", async () => {
  const error = await assertRejects(
    () => ask(testModel({ baseUrl: "http://127.0.0.1:1/v1", apiKey: "" })),
    ModelError,
    "missing API key; re-run weir setup",
  );
  assertEquals(error.kind, "set_up");
  const second = await assertRejects(() => ask(testModel({ baseUrl: "nonsense" })), ModelError);
  assertEquals([second.kind, second.message], ["set_up", "invalid API base URL"]);
});

Deno.test("createOpenaiModel() waits for the sink before it takes more", async () => {
  await using server = startModelServer();
  server.reply({ text: "x".repeat(1000), pieces: 20_000 });
  const gate = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  let received = 0;
  const reply = testModel({ baseUrl: server.url }).reply(
    requestOf(),
    {
      signal: new AbortController().signal,
      sink(event) {
        if (event.type !== "text_delta") return undefined;
        received++;
        arrived.resolve();
        return received === 1 ? gate.promise : undefined;
      },
    },
  );
  await arrived.promise;
  // The event loop turns many times: a model that did not wait would have gone on.
  for (let n = 0; n < 50; n++) await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(received, 1);
  gate.resolve();
  await reply;
  assertEquals(received, 20_000);
});

Deno.test("createOpenaiModel() passes on what the sink throws", async () => {
  await using server = startModelServer();
  server.reply({ text: ["a", "b"], pieceDelayMs: 1 }, { text: ["a", "b"] });
  const model = testModel({ baseUrl: server.url });
  const request = requestOf();
  const { signal } = new AbortController();
  const sunk = new Error("sunk");
  const throwing = model.reply(request, {
    signal,
    sink() {
      throw sunk;
    },
  });
  assertEquals(await assertRejects(() => throwing), sunk);
  const rejecting = model.reply(request, { signal, sink: () => Promise.reject(sunk) });
  assertEquals(await assertRejects(() => rejecting), sunk);
});
