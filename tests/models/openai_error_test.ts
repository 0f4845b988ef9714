import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { Model } from "../../src/agent/model.ts";
import { ModelError, type ModelErrorKind } from "../../src/errors.ts";
import { startModelServer } from "../fakes/model_server.ts";
import type { Reply } from "../fakes/reply.ts";
import { ask, delta, modelOf, requestOf, sse, testModel } from "./_ask.ts";

const fails = (model: Model) => assertRejects(() => ask(model), ModelError);

async function failsWith(reply: Reply, api: "chat" | "responses" = "chat"): Promise<ModelError> {
  await using server = startModelServer();
  server.reply(reply);
  const stallTimeoutMs = reply.stallAfter === undefined ? 20_000 : 60;
  return await fails(testModel({ baseUrl: server.url, api, stallTimeoutMs }));
}

const error = (message: string, code?: string) => ({ error: { message, code } });

const ANSWERS: [number, unknown, ModelErrorKind, string][] = [
  [400, error("no such parameter"), "request", "400 no such parameter"],
  [401, error("bad key"), "auth", "401 bad key"],
  [403, { message: "not you" }, "auth", "403 not you"],
  [404, { detail: "no model" }, "request", "404 no model"],
  [408, error("slow"), "server", "408 slow"],
  [409, { error: "conflict" }, "server", "409 conflict"],
  [429, error("slow down"), "rate_limit", "429 slow down"],
  [429, error("pay first", "insufficient_quota"), "request", "429 pay first"],
  [
    500,
    "<html><head><title>502 Bad\nGateway</title></head></html>",
    "server",
    "500 502 Bad Gateway",
  ],
  [529, [{ error: { message: "overloaded" } }], "server", "529 overloaded"],
  [503, "busy,\n\n come back", "server", "503 busy, come back"],
  [400, error("too much", "context_length_exceeded"), "overflow", "400 too much"],
  [413, "<h1>413 Request Entity Too Large</h1>", "overflow", "413 Request Entity Too Large"],
];

for (const [status, body, kind, message] of ANSWERS) {
  Deno.test(`createOpenaiModel() says ${kind} for "${message}"`, async () => {
    const failure = await failsWith({ status, body });
    assertEquals([failure.kind, failure.status, failure.message], [kind, status, message]);
  });
}

Deno.test("createOpenaiModel() knows the ways to say that a request does not fit", async () => {
  const texts = [
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    "Please reduce the length of the messages.",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "input is too long for requested model",
    "Your input exceeds the context window of this model.",
    "the request exceeds the available context size, try increasing it",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Request contains too many tokens",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
  ];
  for (const text of texts) {
    const failure = await failsWith({ status: 400, body: error(text) });
    assertEquals([failure.kind, failure.message], ["overflow", `400 ${text}`]);
  }
  const other = await failsWith({ status: 400, body: error("max_tokens is too large: 99999") });
  assertEquals(other.kind, "request");
});

Deno.test("createOpenaiModel() tells how long the endpoint asks to wait", async () => {
  const wait = async (headers: Record<string, string>) =>
    (await failsWith({ status: 429, body: error("x"), headers })).retryAfterMs;
  assertEquals(await wait({ "retry-after": "7" }), 7000);
  assertEquals(await wait({ "retry-after": "0.5" }), 500);
  assertEquals(await wait({ "retry-after-ms": "250", "retry-after": "7" }), 250);
  assertEquals(await wait({ "retry-after": "soon" }), undefined);
  assertEquals(await wait({ "retry-after": "-1" }), undefined);
  assertEquals(await wait({}), undefined);
  assertEquals(await wait({ "retry-after": new Date(0).toUTCString() }), 0);
  const later = await wait({ "retry-after": new Date(Date.now() + 3_600_000).toUTCString() });
  assert(later !== undefined && later > 3_000_000 && later <= 3_600_000);
});

Deno.test("createOpenaiModel() shows no key in an error, and one line of bounded length", async () => {
  const key = "sk-test-1234567890";
  const failure = await failsWith({
    status: 401,
    body: error(
      `Incorrect API key provided: ${key}. Header "Authorization: Bearer abc.def-123", ` +
        `masked sk-proj-****abcd\nor hf_abcdefgh1 ${"and so on ".repeat(500)}`,
    ),
  });
  assert(!failure.message.includes("\n") && failure.message.length < 520);
  assertEquals(
    failure.message.slice(0, 150),
    '401 Incorrect API key provided: [redacted]. Header "Authorization: Bearer [redacted]", ' +
      "masked [redacted] or [redacted] and so on and so on and so on and so on ".slice(0, 63),
  );
});

Deno.test("createOpenaiModel() hides the values of secret headers", async () => {
  await using server = startModelServer();
  server.reply({ status: 400, body: "you sent hunter22" });
  const headers = { "x-api-key": "hunter22" };
  const failure = await fails(testModel({ baseUrl: server.url, apiKey: undefined, headers }));
  assertEquals(failure.message, "400 you sent [redacted]");
});

for (const api of ["chat", "responses"] as const) {
  Deno.test(`createOpenaiModel() throws the error inside a stream (${api})`, async () => {
    const errorInStream = { message: "the model fell over", code: "server_error" };
    const failure = await failsWith({ text: "so far", errorInStream }, api);
    assertEquals([failure.kind, failure.message], ["stream_error", "the model fell over"]);
    assertEquals(failure.status, undefined);
    const overflow = { message: "too big", code: "context_length_exceeded" };
    assertEquals((await failsWith({ errorInStream: overflow }, api)).kind, "overflow");
  });

  Deno.test(`createOpenaiModel() says stream_cut when the connection ends early (${api})`, async () => {
    for (const cutAfter of [0, 1]) {
      const failure = await failsWith({ text: ["a", "b", "c"], cutAfter }, api);
      assertEquals(failure.kind, "stream_cut");
      assertMatch(failure.message, /^the reply broke off: /);
    }
    const empty = await failsWith({ noFinish: true }, api);
    assertEquals(
      [empty.kind, empty.message],
      ["stream_cut", "the reply broke off: it ended before anything came"],
    );
  });

  Deno.test(`createOpenaiModel() says stalled when nothing more comes (${api})`, async () => {
    for (const stallAfter of [0, 2]) {
      const failure = await failsWith({ text: ["a", "b", "c"], stallAfter }, api);
      assertEquals(
        [failure.kind, failure.message],
        ["stalled", "the endpoint sent nothing for 0.06 s"],
      );
    }
  });
}

Deno.test("createOpenaiModel() throws the failed response of the Responses API", async () => {
  const failure = await failsWith({
    errorInStream: { message: "nope", code: "server_error" },
    errorEvent: "response.failed",
  }, "responses");
  assertEquals([failure.kind, failure.message], ["stream_error", "nope"]);
});

Deno.test("createOpenaiModel() does not take slow reading for a stall", async () => {
  const model = modelOf([sse(delta({ content: "a" }), delta({ content: "b" }, "stop"))], {
    stallTimeoutMs: 40,
  });
  let waits = 0;
  await model.reply(requestOf(), {
    signal: new AbortController().signal,
    sink: (event) => {
      if (event.type !== "text_delta") return undefined;
      waits++;
      return new Promise((resolve) => setTimeout(resolve, 100));
    },
  });
  assertEquals(waits, 2);
});

Deno.test("createOpenaiModel() keeps a finished reply when the connection breaks after it", async () => {
  let pulls = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      if (pulls++ > 0) return controller.error(new TypeError("reset"));
      const text = `data: ${JSON.stringify(delta({ content: "done" }, "stop"))}\n\n`;
      controller.enqueue(new TextEncoder().encode(text));
    },
  });
  const fetch = () => Promise.resolve(new Response(body));
  const { content, end } = await ask(modelOf([], { fetch }));
  assertEquals(content, [{ type: "text", text: "done" }]);
  assertEquals(end.stopReason, "stop");
});

Deno.test("createOpenaiModel() keeps a finished reply when the endpoint does not close", async () => {
  await using server = startModelServer();
  const raw = `data: ${JSON.stringify(delta({ content: "done" }, "stop"))}\n\n`;
  server.reply({ raw: [raw, ": never sent"], stallAfter: 1 });
  const { content } = await ask(testModel({ baseUrl: server.url, stallTimeoutMs: 60 }));
  assertEquals(content, [{ type: "text", text: "done" }]);
  await server.waitForAborted(1);
});

Deno.test("createOpenaiModel() refuses an answer that is no event stream", async () => {
  const html = await failsWith({ status: 200, body: "<html>Sign in</html>" });
  assertEquals(
    [html.kind, html.message],
    ["request", "the endpoint did not answer with an event stream (content type text/html)"],
  );
  const plain = await failsWith({ status: 200, body: "Hello" });
  assertEquals(
    [plain.kind, plain.message],
    ["request", "the endpoint did not answer with an event stream (content type text/plain)"],
  );
});

Deno.test("createOpenaiModel() throws stream_error for an event that is not JSON", async () => {
  const failure = await fails(
    modelOf([`data: {"choices": oops\n\n`, sse(delta({ content: "x" }))]),
  );
  assertEquals(
    [failure.kind, failure.message],
    ["stream_error", 'the endpoint sent an event that is not JSON: {"choices": oops'],
  );
  const half = await fails(modelOf([`data: {"choices": [`]));
  assertEquals(half.kind, "stream_cut");
});

Deno.test("createOpenaiModel() throws an error that comes as plain JSON with status 200", async () => {
  const failure = await failsWith({ status: 200, body: error("not today") });
  assertEquals([failure.kind, failure.message], ["stream_error", "not today"]);
});

Deno.test("createOpenaiModel() names the base URL when nothing answers there", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const baseUrl = `http://127.0.0.1:${listener.addr.port}/v1`;
  listener.close();
  const failure = await fails(testModel({ baseUrl }));
  assertEquals(failure.kind, "network");
  assertMatch(
    failure.message,
    /^Cannot reach http:\/\/127\.0\.0\.1:\d+\/v1: .*refused.*, check that the endpoint is running and that baseUrl is right$/,
  );
});

Deno.test("createOpenaiModel() says network when the connection is dropped without an answer", async () => {
  assertEquals((await failsWith({ drop: true })).kind, "network");
});

Deno.test("createOpenaiModel() says network when redirects never end", async () => {
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response(null, { status: 307, headers: { location: "/v1/chat/completions" } }),
  );
  const failure = await fails(testModel({ baseUrl: `http://127.0.0.1:${server.addr.port}/v1` }));
  assertEquals(failure.kind, "network");
});

Deno.test("createOpenaiModel() says how long it waited for an answer", async () => {
  await using server = startModelServer();
  server.reply({ gate: new Promise(() => {}) });
  const failure = await fails(testModel({ baseUrl: server.url, timeoutMs: 50 }));
  assertEquals([failure.kind, failure.message], ["network", "no answer within 0.05 s"]);
  await server.waitForAborted(1);
});

Deno.test("createOpenaiModel() gives up an error answer whose body never ends", async () => {
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode("half an err")),
  });
  const fetch = () => Promise.resolve(new Response(body, { status: 500 }));
  const failure = await fails(modelOf([], { fetch, stallTimeoutMs: 40 }));
  assertEquals([failure.kind, failure.message], ["server", "500 half an err"]);
});

Deno.test("createOpenaiModel() explains headers that cannot be sent", async () => {
  const failure = await fails(modelOf([], { headers: { "bad name": "x" } }));
  assertEquals(failure.kind, "request");
  assertMatch(
    failure.message,
    /^Cannot build the request: .*check the provider's baseUrl and headers$/,
  );
});
