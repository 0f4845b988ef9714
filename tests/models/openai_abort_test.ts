import { assertEquals, assertStrictEquals } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { modelOf, requestOf, testModel } from "./_ask.ts";

/** What a promise was rejected with; the value itself may be anything. */
function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(() => "it was not rejected", (reason) => reason);
}

for (const api of ["chat", "responses"] as const) {
  Deno.test(`reply() of an aborted signal asks nothing (${api})`, async () => {
    await using server = startModelServer();
    const reason = new Error("enough");
    const model = testModel({ baseUrl: server.url, api });
    const signal = AbortSignal.abort(reason);
    const reply = model.reply(requestOf(), { signal, sink: () => undefined });
    assertStrictEquals(await reasonOf(reply), reason);
    assertEquals(server.requests.length, 0);
  });

  Deno.test(`reply() ends at once when aborted before an answer begins (${api})`, async () => {
    await using server = startModelServer();
    server.reply({ gate: new Promise(() => {}) });
    const controller = new AbortController();
    const reason = { any: "thing" };
    const model = testModel({ baseUrl: server.url, api });
    const reply = model.reply(requestOf(), { signal: controller.signal, sink: () => undefined });
    const rejected = reasonOf(reply);
    await server.waitForRequests(1);
    controller.abort(reason);
    assertStrictEquals(await rejected, reason);
    await server.waitForAborted(1);
  });

  Deno.test(`reply() ends at once when aborted between pieces (${api})`, async () => {
    await using server = startModelServer();
    server.reply({ text: ["a", "b", "c"], stallAfter: 2 });
    const controller = new AbortController();
    const reason = new Error("enough");
    let pieces = 0;
    const reply = testModel({ baseUrl: server.url, api }).reply(requestOf(), {
      signal: controller.signal,
      sink(event) {
        if (event.type === "text_delta" && ++pieces === 2) {
          setTimeout(() => controller.abort(reason));
        }
        return undefined;
      },
    });
    assertStrictEquals(await reasonOf(reply), reason);
    await server.waitForAborted(1);
  });
}

Deno.test("reply() takes no piece after the sink has aborted", async () => {
  await using server = startModelServer();
  server.reply({ text: "x", pieces: 50_000 });
  const controller = new AbortController();
  let pieces = 0;
  const reply = testModel({ baseUrl: server.url }).reply(requestOf(), {
    signal: controller.signal,
    sink(event) {
      if (event.type !== "text_delta") return undefined;
      if (++pieces === 3) controller.abort("stop");
      return undefined;
    },
  });
  assertEquals(await reasonOf(reply), "stop");
  assertEquals(pieces, 3);
  await server.waitForAborted(1);
});

Deno.test("reply() does not wait for a sink that never ends when aborted", async () => {
  await using server = startModelServer();
  server.reply({ text: "x", pieces: 50_000 });
  const controller = new AbortController();
  const reason = new Error("enough");
  const reply = testModel({ baseUrl: server.url }).reply(requestOf(), {
    signal: controller.signal,
    sink() {
      setTimeout(() => controller.abort(reason));
      return new Promise(() => {});
    },
  });
  assertStrictEquals(await reasonOf(reply), reason);
  await server.waitForAborted(1);
});

Deno.test("reply() ends when aborted although fetch knows no signals", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const never = modelOf([], { fetch: () => new Promise(() => {}) });
  const waiting = reasonOf(
    never.reply(requestOf(), { signal: controller.signal, sink: () => undefined }),
  );
  let cancelled: unknown;
  const body = new ReadableStream({ cancel: (why) => void (cancelled = why) });
  const silent = modelOf([], { fetch: () => Promise.resolve(new Response(body)) });
  const reading = reasonOf(
    silent.reply(requestOf(), { signal: controller.signal, sink: () => undefined }),
  );
  setTimeout(() => controller.abort(reason), 20);
  assertStrictEquals(await waiting, reason);
  assertStrictEquals(await reading, reason);
  assertStrictEquals(cancelled, reason);
});

Deno.test("reply() leaves no listener on the signal", async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args));
  signal.removeEventListener = (
    ...args: Parameters<typeof remove>
  ) => (listeners--, remove(...args));
  await modelOf(["data: [DONE]\n\n"]).reply(requestOf(), { signal, sink: () => undefined })
    .catch(() => {});
  assertEquals(listeners, 0);
});
