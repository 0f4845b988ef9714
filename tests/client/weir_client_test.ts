/** WeirClient over streams and with stand-ins for the program. */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { CircleEvent } from "../../src/client/circle_records.ts";
import { CommandRefusedError, ConnectionEndedError } from "../../src/client/client_error.ts";
import { WeirClient } from "../../src/client/weir_client.ts";
import { startScript } from "./_programs.ts";

/** A client and the other side of its streams. */
function connect() {
  const up = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
  const down = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
  const client = WeirClient.connect({ readable: down.readable, writable: up.writable });
  const writer = down.writable.getWriter();
  return {
    client,
    sent: up.readable.pipeThrough(new TextDecoderStream()).getReader(),
    write: (text: string) => writer.write(new TextEncoder().encode(text)),
    writeBytes: (bytes: Uint8Array<ArrayBuffer>) => writer.write(bytes),
    end: () => writer.close(),
  };
}

const response = (id: number, more: Record<string, unknown> = {}) =>
  JSON.stringify({ type: "response", command: "x", success: true, id, ...more }) + "\n";

Deno.test("WeirClient settles results in the order in which responses arrive", async () => {
  const { client, sent, write, end } = connect();
  const order: string[] = [];
  const note = (name: string) => () => void order.push(name);
  const all = [
    client.getState().then(note("state")),
    client.listJobs().then(note("jobs")),
    client.abort().then(note("abort")),
  ];
  assertEquals((await sent.read()).value, '{"type":"get_state","id":1}\n');
  sent.read();
  await write(response(3) + response(1, { data: {} }) + response(2, { data: {} }));
  await Promise.all(all);
  assertEquals(order, ["abort", "state", "jobs"]);
  await end();
  sent.cancel();
  assertEquals(await client.close(), undefined);
});

Deno.test("WeirClient settles results while nobody reads the events before them", async () => {
  const { client, write, sent, end } = connect();
  const events = client.events();
  const state = client.getState();
  const delta = '{"type":"message_delta","id":"a","delta":"x"}\n';
  await write(delta.repeat(5000) + response(1, { data: { model: "m" } }));
  assertEquals((await state).model, "m");
  let count = 0;
  await end();
  for await (const event of events) if (event.type === "message_delta") count++;
  assertEquals(count, 5000);
  await sent.cancel();
  await client.close();
});

Deno.test("WeirClient.events() gives each reader everything from its start on", async () => {
  const { client, write, end, sent } = connect();
  const first = client.events();
  await write('{"type":"agent_settled"}\n');
  assertEquals((await first.next()).value, { type: "agent_settled" });
  const second = client.events();
  await write('{"type":"jobs_stopped","count":0}\n');
  await end();
  const rest: CircleEvent[] = [];
  for await (const event of second) rest.push(event);
  assertEquals(rest, [{ type: "jobs_stopped", count: 0 }]);
  assertEquals((await first.next()).value, rest[0]);
  assertEquals(await first.next(), { done: true, value: undefined });
  assertEquals(await client.events().next(), { done: true, value: undefined });
  await sent.cancel();
  await client.close();
});

Deno.test("WeirClient puts records together that come cut at every byte", async () => {
  const { client, writeBytes, end, sent } = connect();
  const answer = client.getLastAssistantText();
  const bytes = new TextEncoder().encode(response(1, { data: { text: "Grüße 🙂" } }));
  for (const byte of bytes) await writeBytes(new Uint8Array([byte]));
  assertEquals(await answer, { text: "Grüße 🙂" });
  await end();
  await sent.cancel();
  await client.close();
});

Deno.test("WeirClient rejects a refused command with the program's text", async () => {
  const { client, write, end, sent } = connect();
  const refused = client.setModel("");
  await write(response(1, { success: false, error: "model ID is required" }));
  const error = await assertRejects(() => refused, CommandRefusedError, "model ID is required");
  assertEquals(error.command, "set_model");
  await end();
  await sent.cancel();
  await client.close();
});

Deno.test("WeirClient says what it could not read", async () => {
  const { client, write, sent } = connect();
  const events = client.events();
  const state = client.getState();
  await write("Hello!\n");
  const text = 'Cannot get state: what Weir writes cannot be read: "Hello!" is no record, ' +
    "use --mode rpc";
  assertEquals((await assertRejects(() => state, ConnectionEndedError)).message, text);
  await assertRejects(() => events.next(), ConnectionEndedError, "Cannot read events: ");
  await assertRejects(() => client.getState(), ConnectionEndedError, text);
  await sent.cancel();
  await client.close();
});

Deno.test("WeirClient refuses commands once it is closed", async () => {
  const { client, end, sent } = connect();
  const closing = client.close();
  const error = await assertRejects(() => client.getState(), ConnectionEndedError);
  assertEquals(error.message, "Cannot get state: the client is closed, start another one");
  await end();
  await sent.cancel();
  await closing;
  await client[Symbol.asyncDispose]();
});

Deno.test("WeirClient.close() gives up on streams that do not end", async () => {
  const { client, sent } = connect();
  const state = client.getState();
  const rejected = assertRejects(() => state, ConnectionEndedError, "has closed its output");
  await client.close({ timeoutMs: 0 });
  await rejected;
  await sent.cancel();
});

Deno.test("WeirClient tells how the process died, with its last words", async () => {
  await using client = await startScript(`
    await line();
    for (let i = 0; i < 100; i++) console.error("line " + i);
    process.exit(3);
  `);
  const events = client.events();
  const first = client.prompt("Hello");
  const second = client.abort();
  const error = await assertRejects(() => first, ConnectionEndedError);
  assertStringIncludes(error.message, "Cannot prompt: Weir has ended with exit code 3; the end");
  assert(error.message.endsWith("\nline 98\nline 99"), error.message);
  assert(!error.message.includes("line 79\n"), error.message);
  assertEquals(error.exit, { code: 3, signal: undefined });
  await assertRejects(() => second, ConnectionEndedError, "Cannot abort: ");
  await assertRejects(() => events.next(), ConnectionEndedError, "exit code 3");
  await assertRejects(() => client.getState(), ConnectionEndedError, "Cannot get state: ");
  assertEquals(await client.close(), { code: 3, signal: undefined });
});

Deno.test("WeirClient.close() lets a program end by itself", async () => {
  await using client = await startScript(`
    answer(await line(), { text: "done" });
    await input.next();
    write({ type: "jobs_stopped", count: 0 });
  `);
  const events = client.events();
  assertEquals(await client.getLastAssistantText(), { text: "done" });
  assertEquals(await client.close(), { code: 0, signal: undefined });
  assertEquals((await events.next()).value, { type: "jobs_stopped", count: 0 });
  assertEquals(await events.next(), { done: true, value: undefined });
});

Deno.test({
  name: "WeirClient.close() sends signals to a program that does not end",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using client = await startScript(`
      process.on("SIGTERM", () => { write({ type: "steer", message: "no" }); process.exit(143); });
      setInterval(() => {}, 1000);
      answer(await line());
    `);
    const events = client.events();
    await client.abort();
    assertEquals(await client.close({ timeoutMs: 10 }), { code: 143, signal: undefined });
    assertEquals((await events.next()).value, { type: "steer", message: "no" });
    assertEquals((await events.next()).done, true);
  },
});

Deno.test({
  name: "WeirClient ends a program that ignores SIGTERM",
  ignore: Deno.build.os === "windows",
  async fn() {
    const client = await startScript(`
      process.on("SIGTERM", () => {});
      setInterval(() => {}, 1000);
      answer(await line());
    `);
    await client.abort();
    await client[Symbol.asyncDispose]();
    await client[Symbol.asyncDispose]();
    assertEquals(await client.close(), { code: undefined, signal: "SIGKILL" });
  },
});

Deno.test("WeirClient.start() says what it could not start", async () => {
  const error = await assertRejects(() => WeirClient.start({ program: "/nowhere/weir" }), Error);
  assertEquals(
    error.message,
    'Cannot start "/nowhere/weir": there is no such program or folder, give the path of one',
  );
});

Deno.test("WeirClient.start() starts nothing once it is aborted, and stops what runs", async () => {
  const stop = new AbortController();
  await using client = await startScript("setInterval(() => {}, 1000);", { signal: stop.signal });
  const state = client.getState();
  const rejected = assertRejects(() => state, ConnectionEndedError, "Weir was ended by SIGTERM");
  stop.abort(new Error("enough"));
  await rejected;
  await assertRejects(() => startScript("", { signal: stop.signal }), Error, "enough");
});
