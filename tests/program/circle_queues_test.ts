/** Messages that come while a turn of a circle RPC process runs. */

import { assertEquals } from "@std/assert";
import { allOf, calls, type Circle, saidIn, typesOf, withCircle } from "./_with_circle.ts";

const DENIED = { status: 401, body: { error: { message: "bad key" } } };
const LOOK = { id: "k1", name: "ls", args: {} };

/** A scripted reply that waits until it is let go. */
function held(reply: Record<string, unknown> = { text: "held" }) {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { reply: { ...reply, gate: promise }, letGo: resolve };
}

function queue(circle: Circle, type: string, message: string) {
  return circle.data({ type, message });
}

Deno.test("circle prompt while a turn runs needs streamingBehavior", async () => {
  const first = held(calls(LOOK) as Record<string, unknown>);
  await withCircle({ replies: [first.reply, { text: "skipped" }] }, async (circle) => {
    await circle.begin("audit");
    for (const streamingBehavior of [undefined, null, "", "Steer", "follow_up", "followup", 1]) {
      assertEquals(
        await circle.error({ type: "prompt", message: "left", streamingBehavior }),
        "streamingBehavior must be steer or followUp",
      );
    }
    assertEquals((await circle.state()).pendingMessageCount, 0);
    assertEquals(
      await circle.data({ type: "prompt", message: "right", streamingBehavior: "steer" }),
      { disposition: "queued" },
    );
    assertEquals(
      await circle.error({ type: "prompt", message: " ", streamingBehavior: "steer" }),
      "message is required",
    );
    first.letGo();
    const records = await circle.weir.settled();
    assertEquals(typesOf(records), [
      "assistant",
      "tool_result",
      "steer",
      "assistant",
      "turn_end",
      "agent_settled",
    ]);
    assertEquals(records[2], { type: "steer", message: "right" });
    assertEquals(saidIn(circle.lastRequest).at(-1), "user: right");
    assertEquals(circle.lastRequest.messages.at(-2)!.role, "tool");
  });
});

Deno.test("circle steer and follow_up are read in this order, and one agent_settled closes all", async () => {
  const first = held(calls(LOOK) as Record<string, unknown>);
  const replies = [first.reply, { text: "two" }, { text: "three" }, { text: "four" }];
  await withCircle({ replies }, async (circle) => {
    await circle.begin("audit");
    assertEquals(await queue(circle, "follow_up", "risks"), { disposition: "queued" });
    assertEquals(
      await circle.data({ type: "prompt", message: "fixes", streamingBehavior: "followUp" }),
      { disposition: "queued" },
    );
    assertEquals(await queue(circle, "steer", "skip a"), { disposition: "queued" });
    assertEquals(
      await circle.data({ type: "steer", message: "skip b", streamingBehavior: "followUp" }),
      { disposition: "queued" },
    );
    assertEquals((await circle.state()).pendingMessageCount, 4);
    first.letGo();
    const records = await circle.weir.settled();
    const shown = records.map(({ type, message, answer }) => [type, message ?? answer ?? ""]);
    assertEquals(shown, [
      ["assistant", ""],
      ["tool_result", ""],
      ["steer", "skip a"],
      ["steer", "skip b"],
      ["assistant", ""],
      ["turn_end", "two"],
      ["turn_start", "risks"],
      ["assistant", ""],
      ["turn_end", "three"],
      ["turn_start", "fixes"],
      ["assistant", ""],
      ["turn_end", "four"],
      ["agent_settled", ""],
    ]);
    assertEquals(saidIn(circle.server.requests[1]).slice(-2), ["user: skip a", "user: skip b"]);
    assertEquals((await circle.state()).messageCount, 10);
    const stats = await circle.data({ type: "get_session_stats" });
    assertEquals([stats.userMessages, stats.assistantMessages], [5, 4]);
  });
});

Deno.test("circle steer and follow_up start a turn while nothing runs", async () => {
  await withCircle({ replies: [{ text: "a" }, { text: "b" }] }, async (circle) => {
    for (const type of ["steer", "follow_up"]) {
      assertEquals(await circle.data({ type, message: type }), { disposition: "started" });
      const records = await circle.weir.settled();
      assertEquals(typesOf(records), ["turn_start", "assistant", "turn_end", "agent_settled"]);
      assertEquals(records[0].message, type);
    }
  });
});

Deno.test("circle steer keeps a turn going whose model has just answered", async () => {
  const first = held({ text: "done already" });
  await withCircle({ replies: [first.reply, { text: "now done" }] }, async (circle) => {
    await circle.begin("go");
    await queue(circle, "steer", "one more thing");
    first.letGo();
    const records = await circle.weir.settled();
    assertEquals(typesOf(records), [
      "assistant",
      "steer",
      "assistant",
      "turn_end",
      "agent_settled",
    ]);
    assertEquals(records[3].answer, "now done");
    assertEquals(records[3].usage, {
      input_tokens: 20,
      output_tokens: 10,
      cache_read_tokens: 0,
    });
  });
});

Deno.test("circle steer during a follow-up belongs to that turn", async () => {
  const second = held();
  await withCircle({ replies: [{ text: "a" }, second.reply, { text: "c" }] }, async (circle) => {
    await circle.send({ id: 1, type: "prompt", message: "one" });
    await circle.send({ id: 2, type: "follow_up", message: "two" });
    await circle.request(2);
    await circle.weir.response(2);
    await queue(circle, "steer", "in two");
    second.letGo();
    const records = await circle.weir.settled();
    const tail = records.slice(records.findIndex(({ message }) => message === "two"));
    assertEquals(typesOf(tail), [
      "turn_start",
      "assistant",
      "steer",
      "assistant",
      "turn_end",
      "agent_settled",
    ]);
  });
});

Deno.test("circle clear_queue returns what waits and the model never sees it", async () => {
  const first = held();
  await withCircle({ replies: [first.reply] }, async (circle) => {
    await circle.begin("go");
    await queue(circle, "steer", "  s 1 ");
    await queue(circle, "follow_up", "f 1");
    await queue(circle, "steer", "s 2");
    await queue(circle, "follow_up", "f 2");
    assertEquals(await circle.data({ type: "clear_queue" }), {
      steering: ["  s 1 ", "s 2"],
      followUp: ["f 1", "f 2"],
    });
    assertEquals(await circle.data({ type: "clear_queue" }), { steering: [], followUp: [] });
    assertEquals((await circle.state()).pendingMessageCount, 0);
    first.letGo();
    assertEquals(typesOf(await circle.weir.settled()), ["assistant", "turn_end", "agent_settled"]);
    assertEquals(circle.server.requests.length, 1);
    assertEquals((await circle.state()).messageCount, 2);
  });
});

Deno.test("circle queues wait after an error for the next turn", async () => {
  const first = held(DENIED);
  const replies = [first.reply, { text: "two" }, { text: "three" }];
  await withCircle({ replies }, async (circle) => {
    await circle.begin("one");
    await queue(circle, "steer", "aside");
    await queue(circle, "follow_up", "after");
    first.letGo();
    assertEquals(typesOf(await circle.weir.settled()), ["error", "agent_settled"]);
    const state = await circle.state();
    assertEquals([state.isStreaming, state.pendingMessageCount], [false, 2]);
    const records = await circle.turn("two");
    assertEquals(records.map(({ type, message }) => [type, message]), [
      ["turn_start", "two"],
      ["steer", "aside"],
      ["assistant", undefined],
      ["turn_end", undefined],
      ["turn_start", "after"],
      ["assistant", undefined],
      ["turn_end", undefined],
      ["agent_settled", undefined],
    ]);
    assertEquals(saidIn(circle.server.requests[1]).slice(-2), ["user: two", "user: aside"]);
    assertEquals((await circle.state()).pendingMessageCount, 0);
  });
});

Deno.test("circle queues left by an error are emptied by abort, clear_queue and new_session", async () => {
  for (const type of ["abort", "clear_queue", "new_session"]) {
    const first = held(DENIED);
    await withCircle({ replies: [first.reply, { text: "two" }] }, async (circle) => {
      await circle.begin("one");
      await queue(circle, "steer", "aside");
      await queue(circle, "follow_up", "after");
      first.letGo();
      await circle.weir.settled();
      const { data } = await circle.ask({ type });
      if (type === "clear_queue") {
        assertEquals(data, { steering: ["aside"], followUp: ["after"] });
      }
      assertEquals((await circle.state()).pendingMessageCount, 0, type);
      assertEquals(typesOf(await circle.turn("two")).length, 4, type);
    });
  }
});

Deno.test("circle queues left by an error are dropped at the end of input", async () => {
  const first = held(DENIED);
  await withCircle({ replies: [first.reply] }, async (circle) => {
    await circle.begin("one");
    await queue(circle, "follow_up", "after");
    first.letGo();
    await circle.weir.settled();
    await circle.end();
    assertEquals(circle.server.requests.length, 1);
  });
});

Deno.test("circle follow_up commands in one write run one after another", async () => {
  const answer = (_: unknown, n: number) => ({ text: `answer ${n}` });
  await withCircle({ answer }, async (circle) => {
    const commands = Array.from({ length: 20 }, (_, n) => ({
      id: n,
      type: n === 0 ? "prompt" : "follow_up",
      message: `message ${n}`,
    }));
    const text = commands.map((command) => JSON.stringify(command) + "\n").join("");
    await circle.sendText(text, commands);
    await circle.end();
    const { records } = circle.weir;
    const messages = commands.map(({ message }) => message);
    assertEquals(allOf(records, "turn_start").map(({ message }) => message), messages);
    assertEquals(allOf(records, "agent_settled").length, 1);
    const told = allOf(records, "response").map(({ data }) =>
      (data as Record<string, unknown>).disposition
    );
    assertEquals(told, ["started", ...Array(19).fill("queued")]);
  });
});

Deno.test("circle messages at the very end of a turn are never lost", async () => {
  const answer = (_: unknown, n: number) => ({ text: `answer ${n}` });
  await withCircle({ answer }, async (circle) => {
    await circle.send({ type: "prompt", message: "first" });
    for (let n = 0; n < 30; n++) {
      await circle.weir.next("assistant");
      const { disposition } = await circle.data({ type: "steer", message: `steer ${n}` });
      if (n === 0) assertEquals(["started", "queued"].includes(String(disposition)), true);
    }
    await circle.end();
    const { records } = circle.weir;
    const steered = records.filter(({ type, message }) =>
      (type === "steer" || type === "turn_start") && String(message).startsWith("steer")
    );
    assertEquals(
      steered.map(({ message }) => message),
      Array.from({ length: 30 }, (_, n) => `steer ${n}`),
    );
  });
});
