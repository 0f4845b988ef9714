/** How a circle RPC process ends: by the end of its input, by signals, or because its client went away. */

import { assert, assertEquals } from "@std/assert";
import { prepareHome } from "../fakes/prepare_home.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { startWeir } from "../fakes/weir_process.ts";
import { calls, typesOf, withCircle } from "./_with_circle.ts";

const STOPPED = { type: "jobs_stopped", count: 0 };

Deno.test("circle end of input lets the turn and its follow-ups finish", async () => {
  await withCircle({ replies: [{ text: "a" }, { text: "b" }, { text: "c" }] }, async (circle) => {
    const { sessionId } = await circle.state();
    await circle.send({ type: "prompt", message: "one" });
    await circle.send({ type: "follow_up", message: "two" });
    await circle.end();
    const types = typesOf(circle.weir.records).filter((type) => type !== "response");
    const turn = ["turn_start", "assistant", "turn_end"];
    assertEquals(types, [...turn, ...turn, "agent_settled", "jobs_stopped"]);
    assertEquals(circle.weir.records.at(-1), STOPPED);
    await circle.start(["--session-id", String(sessionId)]);
    assertEquals((await circle.state()).messageCount, 4);
  });
});

Deno.test("circle end of input exits 0 also when a turn failed", async () => {
  const denied = { status: 401, body: { error: { message: "no" } } };
  await withCircle({ replies: [denied] }, async (circle) => {
    await circle.send({ type: "prompt", message: "one" });
    await circle.end({ code: 0 });
    assertEquals(typesOf(circle.weir.records).slice(-3), [
      "error",
      "agent_settled",
      "jobs_stopped",
    ]);
  });
});

Deno.test("circle end of input without any command writes one record", async () => {
  await withCircle({}, async (circle) => {
    await circle.end();
    assertEquals(circle.weir.records, [STOPPED]);
    assertEquals(circle.weir.stderr, "");
  });
});

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
  Deno.test(`circle ${signal} stops the turn as abort does and exits ${code}`, async () => {
    const command = "echo begun; sleep 60";
    const replies = [calls({ id: "c1", name: "bash", args: { command } }), { text: "never" }];
    await withCircle({ args: ["--yolo"], replies }, async (circle) => {
      await circle.data({ type: "set_event_detail", detail: "full" });
      await circle.begin("go");
      await circle.data({ type: "follow_up", message: "not any more" });
      await circle.weir.next("tool_output");
      const from = circle.weir.records.length;
      circle.weir.kill(signal);
      await circle.weir.next("jobs_stopped");
      assertEquals(circle.weir.records.slice(from), [
        { type: "tool_result", id: "c1", name: "bash", status: "error", output: "Interrupted" },
        { type: "turn_end", aborted: true },
        { type: "agent_settled" },
        STOPPED,
      ]);
      await circle.weir.waitForExit();
      await circle.end({ code });
      assertEquals(await circle.weir.livingProcesses(), []);
      assertEquals(circle.server.requests.length, 1);
    });
  });

  Deno.test(`circle ${signal} while nothing runs writes jobs_stopped and exits ${code}`, async () => {
    await withCircle({}, async (circle) => {
      const state = await circle.state();
      circle.weir.kill(signal);
      await circle.weir.next("jobs_stopped");
      await circle.weir.waitForExit();
      await circle.end({ code });
      assertEquals([state.messageCount, circle.weir.records.length], [0, 2]);
    });
  });
}

Deno.test("circle second signal kills what runs and exits at once", async () => {
  const command = "trap '' TERM INT HUP; echo begun; while :; do sleep 0.1; done";
  const replies = [calls({ id: "c1", name: "bash", args: { command } })];
  await withCircle({ args: ["--yolo"], replies }, async (circle) => {
    await circle.data({ type: "set_event_detail", detail: "full" });
    await circle.begin("go");
    await circle.weir.next("tool_output");
    circle.weir.kill("SIGTERM");
    circle.weir.kill("SIGINT");
    const { code } = await circle.weir.waitForExit();
    // Two signals that arrive together may be seen in either order.
    assert(code === 130 || code === 143, `exit ${code}`);
    await circle.end({ code, state: "midway" });
    // Nobody waited for them: they were sent SIGKILL, which takes a moment.
    const deadline = Date.now() + 10_000;
    while ((await circle.weir.livingProcesses()).length > 0 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assertEquals(await circle.weir.livingProcesses(), []);
  });
});

Deno.test("circle signal cancels a turn that end of input had let go on", async () => {
  const gate = Promise.withResolvers<void>();
  await withCircle({ replies: [{ text: "late", gate: gate.promise }] }, async (circle) => {
    await circle.begin("go");
    await circle.weir.closeInput();
    await circle.request(1);
    circle.weir.kill("SIGINT");
    await circle.weir.waitForExit();
    await circle.end({ code: 130 });
    assertEquals(typesOf(circle.weir.records).slice(-3), [
      "turn_end",
      "agent_settled",
      "jobs_stopped",
    ]);
    gate.resolve();
  });
});

Deno.test("circle client that goes away ends the process, its commands and the turn", async () => {
  await using server = startModelServer();
  const command = "echo begun; while :; do sleep 0.05; echo more; done";
  server.reply(calls({ id: "c1", name: "bash", args: { command } }));
  await using home = await prepareHome({ server });
  await using weir = await startWeir({
    args: ["--mode", "rpc", "--yolo", "--session-id", "gone", home.workspace],
    home: home.home,
  });
  await weir.request({ type: "set_event_detail", detail: "full" });
  await weir.send({ type: "prompt", message: "go" });
  await weir.next("tool_output");
  await weir.closeOutput();
  const { signal } = await weir.waitForExit();
  assertEquals(signal, null);
  assertEquals(await weir.livingProcesses(), []);
  assertEquals(server.requests.length, 1);

  await using again = await startWeir({
    args: ["--mode", "rpc", "--session-id", "gone", home.workspace],
    home: home.home,
  });
  const { data } = await again.request({ type: "get_messages" });
  const { messages } = data as { messages: { type: string }[] };
  assertEquals(messages.map(({ type }) => type), ["human", "ai", "tool"]);
});

Deno.test("circle killed process leaves every record it had told in the session file", async () => {
  const gate = Promise.withResolvers<void>();
  const replies = [
    { text: "first answer" },
    calls({ id: "c1", name: "read", args: { path: "notes.txt" } }),
    { text: "late", gate: gate.promise },
    { text: "well" },
  ];
  await withCircle({ args: ["--session-id", "killed"], replies }, async (circle) => {
    await circle.turn("one");
    await circle.data({ type: "follow_up", message: "two" });
    await circle.weir.next("tool_result");
    await circle.kill();
    gate.resolve();
    await circle.start(["--session-id", "killed"]);
    const messages = await circle.messages();
    assertEquals(messages.map(({ type }) => type), ["human", "ai", "human", "ai", "tool"]);
    await circle.turn("again");
  });
});

Deno.test("circle killed process leaves calls that get an error result and are never run again", async () => {
  const command = "echo x >> ran; echo begun; sleep 60";
  const replies = [calls({ id: "c1", name: "bash", args: { command } }), { text: "well" }];
  await withCircle({ args: ["--yolo", "--session-id", "killed"], replies }, async (circle) => {
    await circle.data({ type: "set_event_detail", detail: "full" });
    await circle.begin("one");
    await circle.weir.next("tool_output");
    await circle.kill();
    await circle.start(["--yolo", "--session-id", "killed"]);
    await circle.turn("again");
    const [result] = circle.lastRequest.messages.filter(({ role }) => role === "tool");
    assert(String(result.content).startsWith("Interrupted before a tool result was saved"));
    const [, , stored] = await circle.messages();
    assertEquals((stored.data as Record<string, unknown>).status, "error");
    assertEquals(await circle.file("ran"), "x\n");
  });
});
