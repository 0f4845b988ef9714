import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type ModelServer, startModelServer } from "./model_server.ts";
import type { Reply } from "./reply.ts";

type Json = Record<string, unknown>;
type Event = { event?: string; data: Json };

const USER = { role: "user", content: "hello" };

function post(server: ModelServer, path: string, body: unknown, signal?: AbortSignal) {
  return fetch(server.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer test-key" },
    body: typeof body === "string" ? body : JSON.stringify(body),
    signal,
  });
}

function chat(server: ModelServer, body: Json = {}, signal?: AbortSignal): Promise<Response> {
  const stream_options = { include_usage: true };
  const request = { model: "m", messages: [USER], stream: true, stream_options, ...body };
  return post(server, "/chat/completions", request, signal);
}

function responses(server: ModelServer, body: Json = {}): Promise<Response> {
  return post(server, "/responses", { model: "m", input: [USER], stream: true, ...body });
}

/** A plain reading of the event stream format, strict enough for what the server sends. */
function parseEvents(text: string): Event[] {
  return text.split(/\r?\n\r?\n/).filter((block) => block !== "").map((block) => {
    const fields = new Map(
      block.split(/\r?\n/).filter((line) => !line.startsWith(":"))
        .map((line) => line.split(/: (.*)/s, 2) as [string, string]),
    );
    const data = fields.get("data")!;
    return {
      event: fields.get("event"),
      data: data === "[DONE]" ? { done: true } : JSON.parse(data),
    };
  });
}

async function chatEvents(reply: Reply, body: Json = {}): Promise<Json[]> {
  await using server = startModelServer();
  server.reply(reply);
  const response = await chat(server, body);
  assertEquals(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  return parseEvents(await response.text()).map(({ data }) => data);
}

async function responsesEvents(reply: Reply): Promise<Event[]> {
  await using server = startModelServer();
  server.reply(reply);
  return parseEvents(await (await responses(server)).text());
}

function deltas(events: Json[]): Json[] {
  return events.flatMap(({ choices }) =>
    (choices as { delta: Json }[] ?? []).map(({ delta }) => delta)
  );
}

function toolDeltas(events: Json[]) {
  type ToolDelta = { index: number; id?: string; function: { name?: string; arguments: string } };
  return deltas(events).flatMap(({ tool_calls }) => (tool_calls ?? []) as ToolDelta[]);
}

Deno.test("ModelServer streams thinking, text pieces, finish and usage as Chat Completions", async () => {
  const usage = { input: 9, output: 4, cacheRead: 3, cacheWrite: 2, reasoning: 1 };
  const events = await chatEvents({ thinking: "hm", text: ["Hel", "lo"], usage, model: "m-2" });
  assertEquals(deltas(events), [
    { role: "assistant", content: "" },
    { reasoning_content: "hm" },
    { content: "Hel" },
    { content: "lo" },
    {},
  ]);
  const [finish, last, done] = events.slice(-3);
  assertEquals((finish.choices as Json[])[0].finish_reason, "stop");
  assertEquals(last.choices, []);
  assertEquals(last.model, "m-2");
  assertEquals(last.usage, {
    prompt_tokens: 9,
    completion_tokens: 4,
    total_tokens: 13,
    prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 2 },
    completion_tokens_details: { reasoning_tokens: 1 },
  });
  assertEquals(done, { done: true });
});

Deno.test("ModelServer streams tool calls in fragments", async () => {
  const args = { path: "a.txt", text: "grüße 😀😀😀" };
  const toolCalls = [{ name: "read", args }, { id: "mine", name: "ls", args: "not json" }];
  const events = await chatEvents({ toolCalls });
  const fragments = toolDeltas(events);
  const join = (wanted: number) =>
    fragments.filter(({ index }) => index === wanted).map((part) => part.function.arguments).join(
      "",
    );
  assertEquals(JSON.parse(join(0)), args);
  assertEquals(join(1), "not json");
  assertEquals(fragments.map(({ id }) => id).filter(Boolean), ["call_1_0", "mine"]);
  assertEquals(fragments.map((part) => part.function.name).filter(Boolean), ["read", "ls"]);
  assert(fragments.length > 6);
  assert(fragments.every((part) => part.function.arguments.isWellFormed()));
  assertEquals((events.at(-3)!.choices as Json[])[0].finish_reason, "tool_calls");
});

Deno.test("ModelServer applies the tolerance switches of Chat Completions", async () => {
  const toolCalls = [{ id: "a", name: "read", args: { x: 1 } }, { id: "b", name: "ls", args: {} }];
  const odd = await chatEvents({
    toolCalls,
    emptyChoicesFirst: true,
    nullContent: true,
    finishTwice: true,
    toolIdRepeated: true,
    toolFragmentsInterleaved: true,
    usageIn: "last-choice",
    crlf: true,
    comments: true,
  });
  assertEquals(odd[0].choices, []);
  assert(deltas(odd).every(({ content }) => content === null));
  const fragments = toolDeltas(odd);
  assert(fragments.every(({ id, index }) => id === "ab"[index]));
  assertEquals(fragments.slice(0, 4).map(({ index }) => index), [1, 1, 0, 0]);
  const finished = odd.filter(({ choices }) => (choices as Json[] ?? [])[0]?.finish_reason);
  assertEquals(finished.length, 2);
  assertEquals((finished[0].usage as Json).total_tokens, 15);
  assertEquals(odd.filter(({ choices, usage }) => usage && !(choices as Json[]).length), []);

  const open = await chatEvents({ text: "x", noFinish: true });
  assertEquals(open.length, 2);
  assertEquals((await chatEvents({ text: "x", usage: null })).filter(({ usage }) => usage), []);
  const unasked = await chatEvents({ text: "x" }, { stream_options: undefined });
  assertEquals(unasked.filter(({ usage }) => usage), []);
  const error = await chatEvents({ text: "x", errorInStream: { message: "overloaded" } });
  assertEquals(error.at(-1), { error: { message: "overloaded" } });
});

Deno.test("ModelServer writes CRLF, comments and chunks that end inside characters", async () => {
  await using server = startModelServer();
  server.reply({ text: "é😀", crlf: true, comments: true, splitUtf8: true });
  const body = (await chat(server)).body!;
  let broken = 0;
  let text = "";
  const whole = new TextDecoder("utf-8", { fatal: true });
  for await (const chunk of body) {
    if (new TextDecoder().decode(chunk).endsWith("\ufffd")) broken++;
    text += whole.decode(chunk, { stream: true });
  }
  assert(broken > 0);
  assertStringIncludes(text, ": keep-alive\r\ndata: {");
  assertEquals(text.replaceAll("\r\n", "").includes("\n"), false);
  assertEquals(deltas(parseEvents(text).map(({ data }) => data))[1], { content: "é😀" });
});

Deno.test("ModelServer streams the named events of the Responses API in their order", async () => {
  const toolCalls = [{ id: "c1", name: "read", args: { path: "a" } }];
  const events = await responsesEvents({ thinking: ["t"], text: ["a", "b"], toolCalls });
  assert(events.every(({ event, data }) => event === data.type));
  assertEquals(events.map(({ data }) => data.sequence_number), [...events.keys()]);
  const names = events.map(({ event }) => event!.replace("response.", ""));
  assertEquals(names.filter((name) => name !== "function_call_arguments.delta"), [
    "created",
    "in_progress",
    "output_item.added",
    "reasoning_summary_part.added",
    "reasoning_summary_text.delta",
    "reasoning_summary_text.done",
    "reasoning_summary_part.done",
    "output_item.done",
    "output_item.added",
    "content_part.added",
    "output_text.delta",
    "output_text.delta",
    "output_text.done",
    "content_part.done",
    "output_item.done",
    "output_item.added",
    "function_call_arguments.done",
    "output_item.done",
    "completed",
  ]);
  const fragments = events.filter(({ event }) => event!.endsWith("arguments.delta"));
  assert(fragments.length > 1);
  assertEquals(fragments.map(({ data }) => data.delta).join(""), '{"path":"a"}');
  const response = events.at(-1)!.data.response as { output: Json[]; usage: Json };
  assertEquals(response.output.map(({ type }) => type), ["reasoning", "message", "function_call"]);
  assertEquals(response.output[2].call_id, "c1");
  assertEquals(response.usage.total_tokens, 15);
});

Deno.test("ModelServer ends Responses streams as incomplete, failed, in error or not at all", async () => {
  const last = async (reply: Reply) => (await responsesEvents(reply)).at(-1)!;
  const incomplete = await last({ text: "x", finish: "length" });
  assertEquals(incomplete.event, "response.incomplete");
  const details = (incomplete.data.response as Json).incomplete_details;
  assertEquals(details, { reason: "max_output_tokens" });
  const errorInStream = { code: "server_error", message: "no" };
  const failed = await last({ errorInStream, errorEvent: "response.failed" });
  assertEquals(failed.event, "response.failed");
  assertEquals((failed.data.response as Json).error, errorInStream);
  const error = await last({ text: "x", errorInStream: { ...errorInStream, type: "odd" } });
  assertEquals([error.event, error.data.type, error.data.message], ["error", "error", "no"]);
  assertEquals((await last({ text: "x", noFinish: true })).event, "response.output_item.done");
});

Deno.test("ModelServer interleaves calls in the Responses API", async () => {
  const toolCalls = [{ name: "a", args: { n: 1 } }, { name: "b", args: { n: 2 } }];
  const events = await responsesEvents({ toolCalls, toolFragmentsInterleaved: true });
  const fragments = events.filter(({ event }) => event?.endsWith("arguments.delta"));
  assertEquals(fragments.slice(0, 4).map(({ data }) => data.output_index), [1, 0, 1, 0]);
});

Deno.test("ModelServer answers whole when no stream is asked for", async () => {
  await using server = startModelServer();
  const reply = { text: ["a", "b"], toolCalls: [{ id: "c", name: "ls", args: {} }] };
  server.reply(reply, reply);
  const completion = await (await chat(server, { stream: false })).json();
  assertEquals(completion.choices[0].message.content, "ab");
  assertEquals(completion.choices[0].message.tool_calls[0].function.arguments, "{}");
  const response = await (await responses(server, { stream: undefined })).json();
  assertEquals(response.output.map(({ type }: Json) => type), ["message", "function_call"]);
});

Deno.test("ModelServer lists models, answers 404 elsewhere and takes a reply for the list", async () => {
  await using server = startModelServer({ models: ["a", "b"] });
  const list = await (await fetch(`${server.url}/models`)).json();
  assertEquals(list.data.map(({ id }: Json) => id), ["a", "b"]);
  server.models = { status: 200, body: {} };
  assertEquals(await (await fetch(`${server.url}/models`)).json(), {});
  const missing = await fetch(`${server.origin}/models`);
  assertEquals([missing.status, (await missing.json()).error.message], [
    404,
    "no such endpoint: GET /models",
  ]);
});

Deno.test("ModelServer records requests and hands them out in order", async () => {
  await using server = startModelServer();
  server.answer((request, n) => ({ text: `${n}: ${request.messages.length}` }));
  const first = server.nextRequest();
  const both = server.waitForRequests(2);
  await (await chat(server)).text();
  assertStringIncludes(await (await chat(server, { messages: [USER, USER] })).text(), "2: 2");
  const { path, method, headers, body } = await first;
  assertEquals([path, method], ["/v1/chat/completions", "POST"]);
  assertEquals([headers.authorization, body.model], ["Bearer test-key", "m"]);
  assertEquals((await both).length, 2);
  assertEquals((await server.nextRequest()).messages.length, 2);
  const late = () => server.waitForRequests(3, { timeoutMs: 1 });
  await assertRejects(late, Error, "2 of 3 requests arrived in 1 ms");
});

Deno.test("ModelServer uses the script before the function and explains an empty script", async () => {
  await using server = startModelServer();
  server.reply({ text: "one" });
  assertEquals(server.unused, 1);
  assertStringIncludes(await (await chat(server)).text(), "one");
  const response = await chat(server);
  const message =
    "Cannot answer model request 2: the script of the model server is empty, add a reply with reply()";
  assertEquals([response.status, (await response.json()).error.message], [500, message]);
  assertEquals(server.complaints, [message]);
});

Deno.test("ModelServer sends scripted HTTP errors as JSON, text or HTML", async () => {
  await using server = startModelServer();
  server.reply(
    { status: 429, headers: { "retry-after": "1" } },
    { status: 502, body: "<html>bad</html>" },
    { status: 503, body: "busy" },
    { status: 400, body: { error: { message: "too long" } } },
  );
  const limited = await chat(server);
  assertEquals([limited.status, limited.headers.get("retry-after")], [429, "1"]);
  assertEquals((await limited.json()).error.message, "scripted status 429");
  const html = await chat(server);
  assertEquals([html.status, html.headers.get("content-type")], [502, "text/html; charset=utf-8"]);
  assertEquals(await html.text(), "<html>bad</html>");
  const text = await chat(server);
  assertEquals([text.headers.get("content-type"), await text.text()], [
    "text/plain; charset=utf-8",
    "busy",
  ]);
  assertEquals((await (await chat(server)).json()).error.message, "too long");
});

Deno.test("ModelServer sends raw bytes as they are", async () => {
  await using server = startModelServer();
  server.reply({ raw: ["data: {", new Uint8Array([0xc3]), new Uint8Array([0xa9]), "}\n\n"] });
  assertEquals(await (await chat(server)).text(), "data: {é}\n\n");
});

Deno.test("ModelServer cuts the connection after so many pieces", async () => {
  await using server = startModelServer();
  for (const cutAfter of [0, 1, 99]) {
    server.reply({ text: ["one", "two"], cutAfter });
    let text = "";
    await assertRejects(async () => {
      for await (const chunk of (await chat(server)).body!.pipeThrough(new TextDecoderStream())) {
        text += chunk;
      }
    });
    assertEquals([text.includes("one"), text.includes("two")], [cutAfter > 0, cutAfter > 1]);
  }
  server.reply({ drop: true });
  await assertRejects(() => chat(server), TypeError);
  assertEquals(server.aborted, 0);
});

Deno.test("ModelServer stalls until the client goes, and counts it", async () => {
  await using server = startModelServer();
  server.reply({ text: ["one", "two"], stallAfter: 1 }, { text: "after" });
  const controller = new AbortController();
  const response = await chat(server, {}, controller.signal);
  let text = "";
  await assertRejects(
    async () => {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        if (text.includes("one")) controller.abort(new Error("enough"));
      }
    },
    Error,
    "enough",
  );
  await server.waitForAborted(1);
  assertEquals([server.aborted, text.includes("two")], [1, false]);
  assertStringIncludes(await (await chat(server)).text(), "after");
});

Deno.test("ModelServer waits at gates before the answer and between pieces", async () => {
  await using server = startModelServer();
  const [before, between] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const pieceGate = { after: 1, gate: between.promise };
  server.reply({
    text: ["one", "two"],
    gate: before.promise,
    pieceGate,
    delayMs: 1,
    pieceDelayMs: 1,
  });
  let answered = false;
  const request = chat(server).finally(() => answered = true);
  await server.nextRequest();
  assertEquals(answered, false);
  before.resolve();
  let text = "";
  for await (const chunk of (await request).body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (!text.includes("one")) continue;
    if (!text.includes("two")) between.resolve();
  }
  assertStringIncludes(text, "[DONE]");
});

Deno.test("ModelServer counts a client that goes while a gate is closed", async () => {
  await using server = startModelServer();
  server.reply({ text: "x", gate: new Promise(() => {}) });
  const controller = new AbortController();
  const request = assertRejects(() => chat(server, {}, controller.signal), Error, "gone");
  await server.nextRequest();
  controller.abort(new Error("gone"));
  await request;
  await server.waitForAborted(1);
});

Deno.test("ModelServer generates many pieces while they are read", async () => {
  await using server = startModelServer();
  const reply = { text: "word ", pieces: 20_000 };
  server.reply(reply, reply);
  for (const [ask, name] of [[chat, '"content":"word '], [responses, '"delta":"word ']] as const) {
    let count = 0;
    let rest = "";
    for await (const chunk of (await ask(server)).body!.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop()!;
      count += lines.filter((line) => line.includes(name)).length;
    }
    assertEquals(count, 20_000);
  }
});

Deno.test("ModelServer sends no more than the client reads", async () => {
  await using server = startModelServer();
  let taken = 0;
  const raw = {
    *[Symbol.iterator]() {
      for (; taken < 10_000; taken++) yield "x".repeat(65_536);
    },
  };
  // The list is never asked for anything but its iterator.
  server.reply({ text: raw as unknown as string[] });
  const response = await chat(server);
  const reader = response.body!.getReader();
  await reader.read();
  assert(taken < 10_000);
  await reader.cancel();
  await server.waitForAborted(1);
  assert(taken < 5_000, `${taken} pieces left the server`);
});

Deno.test("ModelServer closes open answers when it is disposed", async () => {
  const server = startModelServer();
  server.reply({ text: ["one"], stallAfter: 1 });
  const response = await chat(server);
  const waiting = assertRejects(() => server.waitForRequests(2), Error, "it was disposed");
  await server[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await waiting;
  await assertRejects(() => response.text());
  assertEquals(server.aborted, 0);
});
