/** WeirClient with the real program. */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { CommandRefusedError, ConnectionEndedError } from "../../src/client/client_error.ts";
import type { CircleEvent } from "../../src/client/circle_records.ts";
import { WeirClient } from "../../src/client/weir_client.ts";
import { makeFolder, startDemo } from "./_programs.ts";

async function untilSettled(events: AsyncIterable<CircleEvent>): Promise<CircleEvent[]> {
  const seen: CircleEvent[] = [];
  for await (const event of events) {
    seen.push(event);
    if (event.type === "agent_settled") break;
  }
  return seen;
}

Deno.test("WeirClient drives a whole conversation", async () => {
  await using folder = await makeFolder();
  await using client = await startDemo(folder.path);
  await Deno.writeTextFile(`${folder.path}/workspace/README.md`, "# Kettle\n");
  const { sessionId, ...state } = await client.getState();
  assertEquals(state, {
    model: "demo",
    thinkingLevel: "",
    isStreaming: false,
    sessionName: "",
    messageCount: 0,
    pendingMessageCount: 0,
  });
  await client.setEventDetail("full");
  const events = client.events();
  assertEquals(await client.prompt("What is this?"), { disposition: "started" });
  assertEquals(await client.steer("Only README.md"), { disposition: "queued" });
  assertEquals(await client.followUp("And now?"), { disposition: "queued" });
  await assertRejects(
    () => client.prompt("No"),
    CommandRefusedError,
    "streamingBehavior must be steer or followUp",
  );
  const seen = await untilSettled(events);
  const types = new Set(seen.map(({ type }) => type));
  for (const type of ["turn_start", "thinking_delta", "message_delta", "tool_result", "steer"]) {
    assert(types.has(type as CircleEvent["type"]), `no ${type}`);
  }
  assertEquals(seen.filter(({ type }) => type === "turn_end").length, 2);
  assertStringIncludes((await client.getLastAssistantText()).text, 'You asked: "And now?"');
  const { messages } = await client.getMessages();
  const native = await client.getNativeMessages();
  assertEquals(messages.length, native.messages.length);
  assertEquals((await client.getSessionStats()).totalMessages, messages.length);
  await client.setSessionName("  A   name ");
  assertEquals((await client.getState()).sessionName, "A name");
  assertEquals(await client.getAvailableModels(), { models: ["demo"] });
  assertEquals(await client.setThinkingLevel("high"), { thinkingLevel: "high" });
  assertEquals(await client.clearQueue(), { steering: [], followUp: [] });
  assertEquals(await client.listJobs(), { jobs: [] });
  assertEquals(await client.background(), { moved: 0 });
  await assertRejects(() => client.stopJob("j1"), CommandRefusedError, "No running job j1");
  await client.setModel("demo/demo");
  const page = await client.exportHtml("page.html");
  assertEquals(page, { path: `${folder.path}/workspace/page.html` });
  assert((await client.newSession()).sessionId !== sessionId);
  assertEquals(await client.close(), { code: 0, signal: undefined });
});

Deno.test("WeirClient.abort() stops a turn and resolves when it has stopped", async () => {
  await using folder = await makeFolder();
  await using client = await startDemo(folder.path);
  const events = client.events();
  await client.prompt("What is this?");
  assertEquals(await client.abort(), undefined);
  assertEquals((await client.getState()).isStreaming, false);
  const types = (await untilSettled(events)).map(({ type }) => type);
  assertEquals(types.slice(-2), ["turn_end", "agent_settled"]);
});

Deno.test("WeirClient.close() lets the turn finish", async () => {
  await using folder = await makeFolder();
  await using client = await startDemo(folder.path);
  const events = client.events();
  await client.prompt("What is this?");
  assertEquals(await client.close(), { code: 0, signal: undefined });
  const types: string[] = [];
  for await (const event of events) types.push(event.type);
  assertEquals(types.slice(-3), ["turn_end", "agent_settled", "jobs_stopped"]);
});

Deno.test({
  name: "WeirClient stops the turn and lets the program save when it is disposed",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using folder = await makeFolder();
    const client = await startDemo(folder.path);
    const events = client.events();
    await client.prompt("What is this?");
    await client[Symbol.asyncDispose]();
    assertEquals(await client.close(), { code: 143, signal: undefined });
    const types: string[] = [];
    for await (const event of events) types.push(event.type);
    assertEquals(types.slice(-3), ["turn_end", "agent_settled", "jobs_stopped"]);
  },
});

Deno.test("WeirClient tells why the program did not start", async () => {
  await using folder = await makeFolder();
  await using client = await startDemo(folder.path, { args: ["--no-such-option"] });
  const error = await assertRejects(() => client.getState(), ConnectionEndedError);
  assertStringIncludes(error.message, "Cannot get state: Weir has ended with exit code 2; the end");
  assertStringIncludes(error.message, "✖ ");
  assertStringIncludes(error.message, "--no-such-option");
});

Deno.test("WeirClient.start() runs a script by its URL", async () => {
  await using folder = await makeFolder();
  const script = `${folder.path}/a program.ts`;
  await Deno.writeTextFile(
    script,
    `import ${JSON.stringify(new URL("./_echo.ts", import.meta.url).href)};\n`,
  );
  const url = new URL(`file://${encodeURI(script)}`);
  for (const program of [url, url.href, script]) {
    await using client = await WeirClient.start({ program, args: ["."] });
    const state = await client.getState() as unknown;
    assertEquals(state, { args: ["--mode", "rpc", "--dialect", "circle", "."] });
    assertEquals(await client.close(), { code: 0, signal: undefined });
  }
});
