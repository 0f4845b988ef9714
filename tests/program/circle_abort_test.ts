/** How abort stops the work of a circle RPC process. */

import { assert, assertEquals } from "@std/assert";
import { allOf, calls, type Circle, saidIn, typesOf, withCircle } from "./_with_circle.ts";

const ABORTED = [{ type: "turn_end", aborted: true }, { type: "agent_settled" }];

/** Sends abort and checks what it writes: `before`, the end of the turn, its own response. */
async function abort(circle: Circle, before: Record<string, unknown>[] = []): Promise<void> {
  const from = circle.weir.records.length;
  const id = await circle.send({ type: "abort" });
  await circle.weir.settled();
  await circle.weir.response(id);
  assertEquals(circle.weir.records.slice(from), [
    ...before,
    ...ABORTED,
    { type: "response", command: "abort", success: true, id },
  ]);
  assertEquals((await circle.state()).isStreaming, false);
}

Deno.test("circle abort ends a running command and everything it started", async () => {
  const command = "trap '' TERM; sleep 60 & echo begun; wait; sleep 60";
  const replies = [
    calls(
      { id: "c8", name: "bash", args: { command } },
      { id: "c9", name: "bash", args: { command: "touch never" } },
      { id: "c10", name: "read", args: { path: "notes.txt" } },
    ),
    { text: "well" },
  ];
  await withCircle({ args: ["--yolo"], replies }, async (circle) => {
    await circle.data({ type: "set_event_detail", detail: "full" });
    await circle.begin("soak");
    await circle.weir.next("tool_output");
    assert((await circle.weir.livingProcesses()).length > 1);
    await abort(
      circle,
      [["c8", "bash"], ["c9", "bash"], ["c10", "read"]].map(([id, name]) => ({
        type: "tool_result",
        id,
        name,
        status: "error",
        output: "Interrupted",
      })),
    );
    assertEquals(await circle.weir.livingProcesses(), [circle.weir.pid]);
    assertEquals(await circle.file("never"), undefined);
    await circle.data({ type: "set_event_detail", detail: "standard" });
    assertEquals(typesOf(await circle.turn("again")), [
      "turn_start",
      "assistant",
      "turn_end",
      "agent_settled",
    ]);
    const results = circle.lastRequest.messages.filter(({ role }) => role === "tool");
    assertEquals(results.map(({ content }) => content), Array(3).fill("Interrupted"));
  });
});

Deno.test("circle abort does nothing while nothing runs", async () => {
  await withCircle({ replies: [{ text: "a" }] }, async (circle) => {
    await circle.ask({ id: "x", type: "abort" });
    assertEquals(circle.weir.records, [
      { type: "response", command: "abort", success: true, id: "x" },
    ]);
    await circle.turn("go");
    const count = circle.weir.records.length;
    await circle.ask({ type: "abort" });
    assertEquals(circle.weir.records.length, count + 1);
  });
});

Deno.test("circle abort cancels a model request that has not answered", async () => {
  const gate = Promise.withResolvers<void>();
  await withCircle({ replies: [{ text: "late", gate: gate.promise }] }, async (circle) => {
    await circle.begin("go");
    await circle.request(1);
    await abort(circle);
    await circle.server.waitForAborted(1);
    gate.resolve();
    assertEquals((await circle.state()).messageCount, 1);
  });
});

Deno.test("circle abort keeps what a reply had streamed, and the model never sees it", async () => {
  const gate = Promise.withResolvers<void>();
  const replies = [
    {
      text: ["partly ", "said"],
      thinking: "hm",
      toolCalls: [{ name: "ls", args: {} }],
      pieceGate: { after: 4, gate: gate.promise },
    },
    { text: "well" },
  ];
  await withCircle({ replies }, async (circle) => {
    await circle.data({ type: "set_event_detail", detail: "full" });
    await circle.begin("go");
    await circle.weir.next(({ delta }) => delta === "said");
    await abort(circle);
    gate.resolve();
    await circle.data({ type: "set_event_detail", detail: "standard" });
    const [, partial] = await circle.messages("get_native_messages");
    assertEquals([partial.role, partial.content, partial.truncated, partial.tool_calls], [
      "assistant",
      "partly said",
      true,
      undefined,
    ]);
    assertEquals(allOf(circle.weir.records, "assistant"), []);
    assertEquals(await circle.data({ type: "get_last_assistant_text" }), { text: "" });
    assertEquals((await circle.state()).messageCount, 2);
    await circle.turn("again");
    assertEquals(saidIn(circle.lastRequest), ["user: go", "user: again"]);
  });
});

Deno.test("circle abort cancels a request that waits for its retry", async () => {
  const busy = { status: 503, body: "busy", headers: { "retry-after": "60" } };
  await withCircle({ replies: [busy, { text: "well" }] }, async (circle) => {
    await circle.begin("go");
    await circle.request(1);
    await abort(circle);
    assertEquals(typesOf(await circle.turn("again")).length, 4);
    assertEquals(circle.server.requests.length, 2);
  });
});

Deno.test("circle abort drops what waits", async () => {
  const gate = Promise.withResolvers<void>();
  await withCircle(
    { replies: [{ text: "a", gate: gate.promise }, { text: "b" }] },
    async (circle) => {
      await circle.begin("go");
      await circle.request(1);
      await circle.data({ type: "steer", message: "left" });
      await circle.data({ type: "follow_up", message: "then" });
      await abort(circle);
      assertEquals((await circle.state()).pendingMessageCount, 0);
      assertEquals(await circle.data({ type: "clear_queue" }), { steering: [], followUp: [] });
      await circle.turn("again");
      assertEquals(saidIn(circle.lastRequest), ["user: go", "user: again"]);
    },
  );
});

Deno.test("circle abort is taken right behind the prompt, and twice in a row", async () => {
  await withCircle({ answer: () => ({ text: "slow", delayMs: 60_000 }) }, async (circle) => {
    for (let round = 0; round < 5; round++) {
      const commands = [
        { id: `p${round}`, type: "prompt", message: `round ${round}` },
        { id: `a${round}`, type: "abort" },
        { id: `b${round}`, type: "abort" },
        { id: `n${round}`, type: "new_session" },
      ];
      const text = commands.map((command) => JSON.stringify(command) + "\n").join("");
      await circle.sendText(text, commands);
      const { success } = await circle.weir.response(`n${round}`);
      assertEquals(success, true);
    }
    const { records } = circle.weir;
    assertEquals(typesOf(records.slice(0, 7)), [
      "response",
      "turn_start",
      "turn_end",
      "agent_settled",
      "response",
      "response",
      "response",
    ]);
    assertEquals(allOf(records, "turn_end"), Array(5).fill({ type: "turn_end", aborted: true }));
  });
});

Deno.test("circle abort delays the commands behind it", async () => {
  const command = "trap '' TERM; echo begun; while :; do sleep 0.1; done";
  const replies = [calls({ id: "c1", name: "bash", args: { command } })];
  await withCircle({ args: ["--yolo"], replies }, async (circle) => {
    await circle.data({ type: "set_event_detail", detail: "full" });
    await circle.begin("go");
    await circle.weir.next("tool_output");
    const from = circle.weir.records.length;
    const commands = [{ id: 1, type: "abort" }, { id: 2, type: "get_state" }];
    await circle.sendText(commands.map((c) => JSON.stringify(c) + "\n").join(""), commands);
    const state = await circle.weir.response(2);
    assertEquals((state.data as Record<string, unknown>).isStreaming, false);
    const ids = circle.weir.records.slice(from).map(({ type, id }) => `${type} ${id}`);
    assertEquals(ids, [
      "tool_result c1",
      "turn_end undefined",
      "agent_settled undefined",
      "response 1",
      "response 2",
    ]);
  });
});
