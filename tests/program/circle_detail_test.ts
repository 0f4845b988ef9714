/** The events that a circle RPC process writes only when a client asks for full detail. */

import { assert, assertEquals } from "@std/assert";
import { allOf, typesOf, withCircle } from "./_with_circle.ts";

const FULL_ONLY = ["message_delta", "thinking_delta", "tool_start", "tool_output"];

function joined(records: Record<string, unknown>[], type: string, id: unknown): string {
  return allOf(records, type).filter((record) => record.id === id).map(({ delta }) => delta).join(
    "",
  );
}

function script() {
  return [
    {
      text: ["Let me ", "look 😀."],
      thinking: ["first ", "think"],
      toolCalls: [
        { id: "c1", name: "bash", args: { command: "echo one; echo two >&2" } },
        { id: "c2", name: "read", args: { path: "notes.txt" } },
        { id: "c3", name: "bash", args: { command: "rm x" } },
        { id: "c4", name: "bash", args: { command: "sudo x" } },
        { id: "c5", name: "fly", args: {} },
        { id: "c6", name: "read", args: {} },
      ],
    },
    { text: ["All ", "", "done."] },
  ];
}

Deno.test("circle standard detail has no deltas and no starts", async () => {
  await withCircle({ args: ["--yolo"], replies: script() }, async (circle) => {
    const records = await circle.turn("go");
    for (const type of FULL_ONLY) assertEquals(allOf(records, type), [], type);
  });
});

Deno.test("circle full detail has the deltas of every reply and the starts of calls that ran", async () => {
  await withCircle({ args: ["--yolo"], replies: script() }, async (circle) => {
    await circle.data({ type: "set_event_detail", detail: "full" });
    const records = await circle.turn("go");
    const replies = allOf(records, "assistant");
    assertEquals(replies.map(({ text }) => text), ["Let me look 😀.", "All done."]);
    for (const { id, text } of replies) assertEquals(joined(records, "message_delta", id), text);
    assertEquals(joined(records, "thinking_delta", replies[0].id), "first think");
    const firstReply = records.indexOf(replies[0]);
    for (const [index, { type, id }] of records.entries()) {
      if (String(type).endsWith("_delta") && id === replies[0].id) assert(index < firstReply);
    }
    assertEquals(allOf(records, "tool_start"), [
      { type: "tool_start", id: "c1", name: "bash", args: { command: "echo one; echo two >&2" } },
      { type: "tool_start", id: "c2", name: "read", args: { path: "notes.txt" } },
    ]);
    const output = joined(records, "tool_output", "c1");
    assertEquals(output, "one\ntwo\n");
    const results = allOf(records, "tool_result");
    assertEquals(results[0].output, `${output}Exit code: 0`);
    const messages = await circle.messages();
    const stored = messages.map(({ data }) => (data as Record<string, unknown>).id);
    for (const { id } of replies) assert(stored.includes(id));
  });
});

Deno.test("circle detail lasts for the process and can be taken back", async () => {
  const reply = { text: ["a", "b"] };
  await withCircle({ replies: [reply, reply, reply] }, async (circle) => {
    await circle.data({ type: "set_event_detail", detail: "full" });
    await circle.turn("one");
    await circle.data({ type: "new_session" });
    const records = await circle.turn("two");
    assertEquals(typesOf(records), [
      "turn_start",
      "message_delta",
      "message_delta",
      "assistant",
      "turn_end",
      "agent_settled",
    ]);
    await circle.data({ type: "set_event_detail", detail: "standard" });
    assertEquals(typesOf(await circle.turn("three")).length, 4);
  });
});

Deno.test("circle detail can change in the middle of a reply", async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const pieceGate = gates.map(({ promise }, index) => ({ after: index * 2 + 1, gate: promise }));
  await withCircle({ replies: [{ text: [..."abcde"], pieceGate }] }, async (circle) => {
    await circle.begin("go");
    await circle.request(1);
    await circle.data({ type: "set_event_detail", detail: "full" });
    gates[0].resolve();
    await circle.weir.next(({ delta }) => delta === "c");
    await circle.data({ type: "set_event_detail", detail: "standard" });
    gates[1].resolve();
    const records = await circle.weir.settled();
    assertEquals(allOf(records, "message_delta"), []);
    assertEquals(allOf(records, "assistant")[0].text, "abcde");
  });
});

Deno.test("circle full detail leaves the deltas of a cut reply without an assistant event", async () => {
  const replies = [{ text: ["half", "x"], cutAfter: 1 }, { text: ["whole"] }];
  await withCircle({ replies }, async (circle) => {
    await circle.data({ type: "set_event_detail", detail: "full" });
    const records = await circle.turn("go");
    const [first, second] = allOf(records, "message_delta");
    assertEquals([first.delta, second.delta], ["half", "whole"]);
    assert(first.id !== second.id);
    assertEquals(allOf(records, "assistant").map(({ id }) => id), [second.id]);
  });
});

Deno.test("circle full detail of the demo model adds up", async () => {
  await withCircle({ args: ["--model", "demo"] }, async (circle) => {
    await circle.data({ type: "set_event_detail", detail: "full" });
    const records = await circle.turn("Read README.md please");
    for (const { id, text } of allOf(records, "assistant")) {
      assertEquals(joined(records, "message_delta", id), text);
    }
    assert(allOf(records, "tool_start").length > 0);
  });
});

Deno.test("circle client that stops reading for a while loses nothing, and can still abort", async () => {
  const piece = "0123456789".repeat(20);
  const replies = [{ text: piece, pieces: 60_000 }, {
    text: piece,
    pieces: 60_000,
    stallAfter: 59_000,
  }];
  await withCircle({ replies }, async (circle) => {
    await circle.data({ type: "set_event_detail", detail: "full" });
    await circle.begin("one");
    circle.weir.pauseReading();
    await circle.request(1);
    // Read while stdout is stuck: the answer comes when the client reads again.
    const id = await circle.send({ type: "get_state" });
    circle.weir.resumeReading();
    await circle.weir.response(id);
    const records = await circle.weir.settled({ timeoutMs: 60_000 });
    const [reply] = allOf(records, "assistant");
    assertEquals(reply.text === piece.repeat(60_000), true);

    await circle.begin("two");
    await circle.weir.next("message_delta");
    circle.weir.pauseReading();
    const abort = await circle.send({ type: "abort" });
    await circle.server.waitForAborted(1);
    circle.weir.resumeReading();
    await circle.weir.response(abort);
    assertEquals((await circle.state()).isStreaming, false);
  });
});
