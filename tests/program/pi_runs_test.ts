/** Runs of a pi RPC process: the order of events, tools, queues, abort. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { allOf, calls, held, type Json, saidIn, textOf, typesOf, withPi } from "./_with_pi.ts";

const PLAIN = [
  "agent_start",
  "turn_start",
  "message_start",
  "message_end",
  "message_start",
  "message_end",
  "turn_end",
  "agent_end",
  "agent_settled",
];

Deno.test("pi plain run has its events in order", async () => {
  const replies = [{ thinking: ["hm", "m"], text: ["Hel", "lo"] }];
  await withPi({ replies }, async (pi) => {
    const records = await pi.run("hi");
    assertEquals(typesOf(records), PLAIN);
    assertEquals(records.at(-1), { type: "agent_settled", aborted: false });
    const updates = allOf(records, "message_update")
      .map(({ assistantMessageEvent }) => assistantMessageEvent as Json);
    assertEquals(
      updates.filter(({ type }) => type !== "x").map((
        { type, contentIndex },
      ) => [type, contentIndex]),
      [
        ["thinking_start", 0],
        ["thinking_delta", 0],
        ["thinking_delta", 0],
        ["thinking_end", 0],
        ["text_start", 1],
        ["text_delta", 1],
        ["text_delta", 1],
        ["text_end", 1],
      ],
    );
    const message = allOf(records, "message_end")[1].message as Json;
    assertEquals(textOf(message), "Hello");
    assertEquals(Object.keys(message), [
      "role",
      "content",
      "api",
      "provider",
      "model",
      "usage",
      "stopReason",
      "timestamp",
      "responseId",
      "rawStopReason",
      "durationMs",
    ]);
    assertEquals(message.usage, {
      input: 10,
      output: 5,
      cacheRead: 0,
      cacheWrite: 0,
      reasoning: 0,
      totalTokens: 15,
      cost: { input: 0.00001, output: 0.00001, cacheRead: 0, cacheWrite: 0, total: 0.00002 },
    });
    const { messages } = records.at(-2) as { messages: Json[] };
    assertEquals(messages.map(({ role }) => role), ["user", "assistant"]);
    assertEquals(await pi.data({ type: "get_last_assistant_text" }), { text: "Hello" });
    assertEquals((await pi.messages()).length, 2);
    assertEquals((await pi.state()).messageCount, 2);
  });
});

Deno.test("pi calls are all announced before the first result, and results come in call order", async () => {
  const look = { id: "k1", name: "bash", args: { command: "sleep 0.05; echo slow" } };
  const other = { id: "k2", name: "read", args: { path: "notes.txt", limit: 1 } };
  await withPi({ replies: [calls(look, other), { text: "done" }] }, async (pi) => {
    const records = await pi.run("go");
    const types = typesOf(records);
    assertEquals(types.filter((type) => String(type).startsWith("tool_execution_start")).length, 2);
    assertEquals(types.slice(6, 8), ["tool_execution_start", "tool_execution_start"]);
    const [end] = allOf(records, "turn_end");
    assertEquals((end.toolResults as Json[]).map(({ toolCallId }) => toolCallId), ["k1", "k2"]);
    const ended = allOf(records, "tool_execution_end")[0];
    assertEquals(ended.result, {
      content: [{ type: "text", text: "slow\n" }],
      details: { exitCode: 0 },
    });
    assert(Number(ended.durationMs) > 0);
    const [update] = allOf(records, "tool_execution_update");
    assertEquals(update.partialResult, { content: [{ type: "text", text: "slow\n" }] });
  });
});

Deno.test("pi calls that cannot run get error results and the run goes on", async () => {
  const replies = [
    calls(
      { id: "k1", name: "fly", args: {} },
      { id: "k2", name: "read", args: "{oops" },
      { id: "k3", name: "read", args: { path: 5 } },
      { id: "k4", name: "bash", args: { command: "echo out; exit 3" } },
    ),
    { text: "done" },
  ];
  await withPi({ replies }, async (pi) => {
    const records = await pi.run("go");
    const ends = allOf(records, "tool_execution_end");
    const texts = ends.map(({ result }) => textOf(result));
    assertEquals(texts[0], "Tool fly not found");
    assert(texts[1].startsWith('Invalid arguments for tool "read": '), texts[1]);
    assert(texts[2].startsWith('Validation failed for tool "read": '), texts[2]);
    assertEquals(texts[3], "out\n\nCommand exited with code 3");
    assertEquals(ends.map(({ isError }) => isError), [true, true, true, true]);
    assertEquals(ends.map(({ durationMs }) => durationMs === undefined), [true, true, true, false]);
    assertEquals((ends[3].result as Json).details, { exitCode: 3 });
    const types = typesOf(records).filter((type) => String(type).startsWith("tool_execution"));
    assertEquals(types.slice(0, 7), [
      "tool_execution_start",
      "tool_execution_end",
      "tool_execution_start",
      "tool_execution_end",
      "tool_execution_start",
      "tool_execution_end",
      "tool_execution_start",
    ]);
  });
});

Deno.test("pi texts of commands", async () => {
  const run = (id: string, args: Json) => ({ id, name: "bash", args });
  const replies = [
    calls(run("a", { command: "true" }), run("b", { command: "echo x; sleep 9", timeout: 0.2 })),
    calls({ id: "c", name: "edit", args: { path: "notes.txt", oldText: "first", newText: "1st" } }),
    { text: "done" },
  ];
  await withPi({ replies }, async (pi) => {
    const records = await pi.run("go");
    const ends = allOf(records, "tool_execution_end");
    assertEquals(textOf(ends[0].result), "(no output)");
    assertEquals(textOf(ends[1].result), "x\n\nCommand timed out after 0.2 seconds");
    const { details } = ends[2].result as { details: Json };
    assertEquals(Object.keys(details), ["diff", "patch", "firstChangedLine"]);
  });
});

Deno.test("pi second prompt in one write is refused, and get_state sees the run", async () => {
  await withPi({ replies: [{ text: "one" }] }, async (pi) => {
    const [one, two, state] = await pi.sendAll(
      { type: "prompt", message: "one" },
      { type: "prompt", message: "two" },
      { type: "get_state" },
    );
    assertEquals((await pi.weir.response(one)).data, { disposition: "started" });
    assertEquals(
      (await pi.weir.response(two)).error,
      "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.",
    );
    assertEquals(((await pi.weir.response(state)).data as Json).isStreaming, true);
    await pi.weir.settled();
    assertEquals(allOf(pi.weir.records, "agent_settled").length, 1);
  });
});

Deno.test("pi abort right behind prompt ends that run", async () => {
  const first = held({ text: "never" });
  await withPi({ replies: [first.reply] }, async (pi) => {
    const [, abort] = await pi.sendAll(
      { type: "prompt", message: "one" },
      { type: "abort" },
    );
    assertEquals((await pi.weir.response(abort)).success, true);
    const types = pi.weir.records.map(({ type }) => type);
    assertEquals(types, ["response", ...PLAIN, "response"]);
    assertEquals(pi.weir.records.at(-2), { type: "agent_settled", aborted: true });
    const reply = allOf(pi.weir.records, "message_end")[1].message as Json;
    assertEquals([reply.content, reply.stopReason, reply.errorMessage], [
      [],
      "aborted",
      "Request was aborted",
    ]);
    await pi.weir.settled();
    first.letGo();
    await pi.run("two");
    assertEquals(saidIn(pi.lastRequest), ["user: one", "user: two"]);
  });
});

Deno.test("pi abort in an answer closes its blocks and keeps its text; queued messages wait", async () => {
  const replies = [{ text: ["part", "never"], stallAfter: 1 }, { text: "fine" }, { text: "last" }];
  await withPi({ replies }, async (pi) => {
    await pi.data({ type: "prompt", message: "go" });
    await pi.weir.next(({ assistantMessageEvent }) =>
      (assistantMessageEvent as Json)?.type === "text_delta"
    );
    await pi.data({ type: "follow_up", message: "later" });
    const id = await pi.send({ type: "abort" });
    const rest = await pi.weir.settled();
    await pi.weir.response(id);
    const types = rest.map((record) => (record.assistantMessageEvent as Json)?.type ?? record.type);
    assertEquals(types, [
      "queue_update",
      "text_end",
      "message_end",
      "turn_end",
      "agent_end",
      "agent_settled",
    ]);
    assertEquals((await pi.state()).pendingMessageCount, 1);
    const [, partial] = await pi.messages();
    assertEquals([textOf(partial), partial.stopReason], ["part", "aborted"]);
    await pi.run("again");
    assertEquals(saidIn(pi.lastRequest), [
      "user: go",
      "assistant: part",
      "user: again",
      "assistant: fine",
      "user: later",
    ]);
  });
});

Deno.test("pi abort in a command ends it and all it started", async () => {
  const command = "(sleep 77 & sleep 77) & echo begun; sleep 77";
  const replies = [
    calls({ id: "k1", name: "bash", args: { command } }, {
      id: "k2",
      name: "bash",
      args: { command: "echo never" },
    }),
  ];
  await withPi({ replies }, async (pi) => {
    await pi.data({ type: "prompt", message: "go" });
    await pi.weir.next("tool_execution_update");
    const id = await pi.send({ type: "abort" });
    const records = await pi.weir.settled();
    await pi.weir.response(id);
    const ends = allOf(records, "tool_execution_end").map(({ result }) => textOf(result));
    assertEquals(ends, ["begun\n\nCommand aborted", "Not run: aborted"]);
    assertEquals(typesOf(records).slice(-7), [
      "turn_end",
      "turn_start",
      "message_start",
      "message_end",
      "turn_end",
      "agent_end",
      "agent_settled",
    ]);
    assertEquals((await pi.weir.livingProcesses()).length, 1);
    const last = (await pi.messages()).at(-1)!;
    assertEquals([last.stopReason, last.content], ["aborted", []]);
  });
});

Deno.test("pi messages during a run wait for their place", async () => {
  const first = held(calls({ id: "k1", name: "ls", args: {} }));
  const replies = [first.reply, { text: "two" }, { text: "three" }];
  await withPi({ replies }, async (pi) => {
    await pi.begin("go");
    assertEquals(
      await pi.error({ type: "prompt", message: "x", streamingBehavior: "both" }),
      'prompt: streamingBehavior must be "steer" or "followUp"',
    );
    const queued = { disposition: "queued" };
    assertEquals(await pi.data({ type: "follow_up", message: "later" }), queued);
    assertEquals(
      await pi.data({ type: "prompt", message: "now", streamingBehavior: "steer" }),
      queued,
    );
    const told = pi.weir.records.slice(-4);
    assertEquals(told.map(({ type }) => type), [
      "queue_update",
      "response",
      "queue_update",
      "response",
    ]);
    assertEquals(told[2], { type: "queue_update", steering: ["now"], followUp: ["later"] });
    first.letGo();
    const records = await pi.weir.settled();
    assertEquals(saidIn(pi.lastRequest).slice(-3), ["user: now", "assistant: two", "user: later"]);
    assertEquals(allOf(records, "agent_end").length, 1);
    const at = records.findIndex(({ type }) => type === "turn_end");
    assertEquals(typesOf(records.slice(at, at + 5)), [
      "turn_end",
      "turn_start",
      "queue_update",
      "message_start",
      "message_end",
    ]);
  });
});

Deno.test("pi steering with mode all delivers everything before one request", async () => {
  const first = held(calls({ id: "k1", name: "ls", args: {} }));
  await withPi({ replies: [first.reply, { text: "two" }] }, async (pi) => {
    await pi.ask({ type: "set_steering_mode", mode: "all" });
    await pi.begin("go");
    await pi.data({ type: "steer", message: "a" });
    await pi.data({ type: "steer", message: "b" });
    first.letGo();
    await pi.weir.settled();
    assertEquals(pi.server.requests.length, 2);
    assertEquals(saidIn(pi.lastRequest).slice(-2), ["user: a", "user: b"]);
  });
});

Deno.test("pi clear_queue gives the texts back after telling of it", async () => {
  const first = held();
  await withPi({ replies: [first.reply] }, async (pi) => {
    await pi.begin("go");
    await pi.data({ type: "steer", message: "a" });
    await pi.data({ type: "follow_up", message: "b" });
    assertEquals(await pi.data({ type: "clear_queue" }), { steering: ["a"], followUp: ["b"] });
    assertEquals(pi.weir.records.at(-2), { type: "queue_update", steering: [], followUp: [] });
    const count = pi.weir.records.length;
    assertEquals(await pi.data({ type: "clear_queue" }), { steering: [], followUp: [] });
    assertEquals(pi.weir.records.length, count + 1);
    first.letGo();
    await pi.weir.settled();
  });
});

Deno.test("pi steer while idle waits for the next prompt", async () => {
  await withPi({ replies: [{ text: "fine" }] }, async (pi) => {
    assertEquals(await pi.data({ type: "steer", message: "too" }), { disposition: "queued" });
    assertEquals((await pi.ask({ type: "abort" })).success, true);
    const { isStreaming, pendingMessageCount } = await pi.state();
    assertEquals([isStreaming, pendingMessageCount], [false, 1]);
    const records = await pi.run("go");
    assertEquals(saidIn(pi.lastRequest), ["user: go", "user: too"]);
    assertEquals(allOf(records, "turn_start").length, 1);
    assertEquals(typesOf(records).slice(1, 8), [
      "agent_start",
      "turn_start",
      "message_start",
      "message_end",
      "queue_update",
      "message_start",
      "message_end",
    ]);
  });
});

Deno.test("pi answer that is cut by its length does not run its calls", async () => {
  const cut = { ...calls({ id: "k1", name: "ls", args: {} }), finish: "length" };
  await withPi({ replies: [cut, { text: "fine" }] }, async (pi) => {
    const records = await pi.run("go");
    const [end] = allOf(records, "tool_execution_end");
    assertEquals(end.isError, true);
    assertStringIncludes(textOf(end.result), "cut off");
    assertEquals((allOf(records, "turn_end")[0].message as Json).stopReason, "length");
  });
});

Deno.test("pi images go to the model or are named to it", async () => {
  const images = [{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }];
  const models = { "test-model": { input: ["text"] } };
  const extraConfig = { providers: { local: { models } } };
  await withPi({ extraConfig, replies: [{ text: "fine" }] }, async (pi) => {
    await pi.run("look", { images });
    assertStringIncludes(
      JSON.stringify(pi.lastRequest.messages.at(-1)),
      "[image omitted: test-model reads text only]",
    );
    const [user] = await pi.messages();
    assertEquals((user.content as Json[])[1], images[0]);
  });
});

Deno.test("pi task tells what its subagent says", async () => {
  const replies = [
    calls({ id: "k1", name: "task", args: { description: "look", prompt: "look around" } }),
    { text: ["I ", "looked"] },
    { text: "done" },
  ];
  await withPi({ replies }, async (pi) => {
    const records = await pi.run("go");
    const [update] = allOf(records, "tool_execution_update");
    assertEquals(textOf(update.partialResult), "I ");
    assertEquals(textOf(allOf(records, "tool_execution_end")[0].result), "I looked");
    const stats = await pi.data({ type: "get_session_stats" });
    assertEquals([stats.assistantMessages, (stats.tokens as Json).output], [2, 15]);
  });
});
