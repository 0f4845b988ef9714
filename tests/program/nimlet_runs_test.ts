/** What a run of a nimlet RPC process writes: steps, tools, deliveries, empty and cut answers, broken streams, mentions. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  allOf,
  calls,
  isEnd,
  kindsOf,
  saidIn,
  waitForGo,
  type WireRecord,
  withNimlet,
} from "./_with_nimlet.ts";

const ANSWERED = ["step_start", "message_delta", "assistant", "step_end", "run_end"];

Deno.test("nimlet prompt gives response, message, run_start, step, answer and run_end", async () => {
  const replies = [
    { thinking: "Hm.", text: ["Hel", "lo"], usage: { input: 9, output: 2, cacheRead: 4 } },
    { text: "no usage", usage: null },
  ];
  await withNimlet({ replies }, async (nimlet) => {
    const records = await nimlet.run("/help");
    assertEquals(kindsOf(records), [
      "session_start",
      "user",
      "run_start",
      "step_start",
      "thinking_delta",
      "message_delta",
      "message_delta",
      "assistant",
      "step_end",
      "run_end",
    ]);
    const [, user, start] = records;
    assertEquals([user.content, start.prompt, start.run_id], ["/help", "/help", "s1:turn:1"]);
    assertEquals(records.at(-2)!.usage, {
      input_tokens: 9,
      output_tokens: 2,
      cache_read_tokens: 4,
      cache_write_tokens: 0,
      cache_reported: true,
    });
    assertEquals(await nimlet.ask({ type: "get_state" }).then(({ busy }) => busy), false);
    const [, , , , , end] = await nimlet.run("again");
    assertEquals([end.type, "usage" in end], ["step_end", false]);
  });
});

Deno.test("nimlet delivers steering one at a time, then follow-ups, in one run", async () => {
  const replies = [
    calls(waitForGo()),
    calls({ name: "ls", args: {} }),
    { text: "first" },
    { text: "second" },
    { text: "third" },
  ];
  await withNimlet({ replies }, async (nimlet) => {
    await nimlet.begin("go");
    await nimlet.weir.next("tool_call");
    await nimlet.send(
      { type: "follow_up", message: "later @README.md" },
      { type: "steer", message: "one" },
      { type: "steer", message: "two" },
      { type: "steer", message: "three" },
    );
    await nimlet.touch("go");
    const records = await nimlet.weir.until(isEnd);
    const said = records.filter(({ type, action }) =>
      type === "message" || type === "step_start" || type === "run_end" || action === "dequeue"
    ).map((record) => record.content ?? kindsOf([record])[0]);
    assertEquals(said, [
      ...["dequeue 3", "one", "step_start", "dequeue 2", "two", "step_start"],
      ...["first", "dequeue 1", "three", "step_start"],
      ...["second", "dequeue 0", "later @README.md", "step_start", "third", "run_end"],
    ]);
    assertEquals(allOf(records, "message").at(-1)!.final, true);
    assertEquals(nimlet.server.requests.length, 5);
  });
});

Deno.test("nimlet bash output comes in deltas that join, and an exit code is an error", async () => {
  const replies = [
    calls(
      { name: "bash", args: { command: "echo out; echo err >&2; printf x" } },
      { name: "bash", args: { command: "exit 3" } },
      { name: "bash", args: { command: "rm -rf gone; echo gone" } },
    ),
    { text: "ok" },
  ];
  await withNimlet({ replies }, async (nimlet) => {
    const records = await nimlet.run("go");
    const results = allOf(records, "tool_result");
    assertEquals(results.map(({ is_error }) => is_error), [false, true, false]);
    const [{ tool_id, output }] = results;
    const deltas = allOf(records, "tool_output_delta").filter((delta) => delta.tool_id === tool_id);
    assertEquals(deltas.map(({ delta }) => delta).join(""), "out\nerr\nx");
    assertStringIncludes(String(output), "out\nerr\nx");
    assertEquals(allOf(records, "tool_call")[0].input, {
      command: "echo out; echo err >&2; printf x",
    });
  });
});

Deno.test("nimlet runs neighbouring reads as a group and every other call alone", async () => {
  const replies = [
    calls(
      { id: "a", name: "read", args: { path: "notes.txt" } },
      { id: "b", name: "ls", args: {} },
      { id: "c", name: "bash", args: { command: "true" } },
      { id: "d", name: "read", args: "[1" },
      { id: "e", name: "grep", args: { pattern: "x" } },
      { id: "f", name: "nothing", args: {} },
      { id: "g", name: "question", args: { questions: [{ question: "Which?" }] } },
    ),
    { text: "ok" },
  ];
  await withNimlet({ replies }, async (nimlet) => {
    const records = await nimlet.run("go");
    const order = records.filter(({ type }) => type === "tool_call" || type === "tool_result")
      .map(({ type, tool_id }) => `${type === "tool_call" ? "+" : "-"}${tool_id}`);
    assertEquals(order.join(""), "+a+b-a-b+c-c+d-d+e-e+f-f+g-g");
    const call = (id: string) => allOf(records, "tool_call").find(({ tool_id }) => tool_id === id)!;
    const result = (id: string) =>
      allOf(records, "tool_result").find(({ tool_id }) => tool_id === id)!;
    assertEquals(["input" in call("d"), call("e").input], [false, { pattern: "x" }]);
    assertEquals([result("d").is_error, result("a").is_error], [true, false]);
    assertEquals([result("f").output, result("f").is_error], ["Unknown tool: nothing", true]);
    assertEquals([result("g").output, result("g").is_error], [
      "User questions are unavailable in this interface.",
      true,
    ]);
  });
});

Deno.test("nimlet refuses calls with --approvals deny and says why", async () => {
  const replies = [
    calls({ name: "bash", args: { command: "touch x" } }, {
      name: "read",
      args: { path: "notes.txt" },
    }),
    { text: "ok" },
  ];
  const args = ["--approvals", "ask"];
  await withNimlet({ replies, args }, async (nimlet) => {
    const records = await nimlet.run("go");
    assertEquals(allOf(records, "tool_result").map(({ is_error }) => is_error), [true, false]);
    assertEquals(records.at(-1)!.type, "run_end");
    assertEquals([...Deno.readDirSync(nimlet.workspace)].some(({ name }) => name === "x"), false);
  });
});

Deno.test("nimlet asks once more after an empty answer; a second one is an error that ends nothing", async () => {
  const empty = { text: "" };
  const replies = [empty, { text: "here" }, empty, empty, { text: "more" }];
  await withNimlet({ replies }, async (nimlet) => {
    const first = await nimlet.run("go");
    assertEquals(kindsOf(first).slice(1), [
      ...["user", "run_start", "step_start", "assistant", "step_end", "diagnostic"],
      ...ANSWERED,
    ]);
    const warning = allOf(first, "diagnostic")[0];
    assertEquals(warning, {
      version: 1,
      type: "diagnostic",
      level: "warning",
      message: "The model returned no user-facing answer; asking it to finish…",
    });
    assertEquals(allOf(first, "message")[1].final, true);
    const [, asked] = nimlet.server.requests;
    assertEquals(asked.messages.at(-1)!.role, "user");
    const second = await nimlet.run("again");
    assertEquals(kindsOf(second).slice(-4), ["assistant", "step_end", "error", "run_end"]);
    assertEquals(second.at(-2)!.message, "The model stopped without a user-facing answer.");
    assert(!JSON.stringify(nimlet.server.requests[2].messages).includes("had no text"));
    await nimlet.run("third");
    await nimlet.send({ type: "shutdown" });
    assertEquals((await nimlet.weir.next("session_end")).success, false);
  });
});

Deno.test("nimlet goes on after the output limit, eight times at most", async () => {
  const cut = { text: "part ", finish: "length" };
  const replies = [cut, { text: "end" }, ...Array(8).fill(cut), { text: "queued" }];
  await withNimlet({ replies }, async (nimlet) => {
    const first = await nimlet.run("go");
    assertEquals(allOf(first, "message").map(({ final }) => final), [undefined, false, true]);
    const second = await nimlet.run("again");
    assertEquals(kindsOf(second).slice(-4), ["step_end", "error", "diagnostic", "run_end"]);
    assertEquals(second.slice(-3, -1).map(({ message }) => message), [
      "Stopped after repeated output-token limits.",
      "Stopped after repeated output-token limits; ask the agent to continue.",
    ]);
    assertEquals(allOf(second, "step_start").length, 8);
    await nimlet.run("third");
  });
});

Deno.test("nimlet repeats a stream that broke off, once, and says nothing of other retries", async () => {
  const replies = [
    { drop: true },
    { text: ["one", "two"], cutAfter: 1 },
    { text: "whole" },
    { text: ["a", "b"], cutAfter: 1 },
    { text: ["c", "d"], errorInStream: { message: "overloaded" } },
    { text: "fine" },
  ];
  await withNimlet({ replies }, async (nimlet) => {
    const records = await nimlet.run("go");
    assertEquals(kindsOf(records).slice(3), [
      ...["step_start", "message_delta", "diagnostic"],
      ...ANSWERED,
    ]);
    assertEquals(allOf(records, "diagnostic")[0].message, "Model stream broke off; retrying…");
    assertEquals(allOf(records, "step_start").map(({ step }) => step), [0, 1]);
    const failed = await nimlet.run("again");
    assertEquals(failed.at(-1)!.type, "error");
    assertEquals(failed.at(-1)!.step, 1);
    assertStringIncludes(String(failed.at(-1)!.message), "overloaded");
    await nimlet.run("third");
  });
});

Deno.test("nimlet compacts when the endpoint says that the request is too long", async () => {
  const tooLong = {
    status: 400,
    body: {
      error: { message: "maximum context length exceeded", code: "context_length_exceeded" },
    },
  };
  const replies = [
    { text: "long ".repeat(2000), usage: { input: 500, output: 2500 } },
    tooLong,
  ];
  await withNimlet({ replies, answer: () => ({ text: "short" }) }, async (nimlet) => {
    await nimlet.run("first");
    const records = await nimlet.run("second");
    assertEquals(kindsOf(records), [
      "user",
      "run_start",
      "step_start",
      "diagnostic",
      ...ANSWERED,
    ]);
    assertEquals(
      allOf(records, "diagnostic")[0].message,
      "Context overflow — compacting and retrying…",
    );
  });
});

Deno.test("nimlet serves input while it compacts before the first request of a run", async () => {
  const gate = Promise.withResolvers<void>();
  const replies = [
    { text: "long ".repeat(200), usage: { input: 900, output: 90 } },
    { gate: gate.promise, text: "summary" },
  ];
  const options = { replies, contextWindow: 1000, answer: () => ({ text: "short" }) };
  await withNimlet(options, async (nimlet) => {
    await nimlet.run("first");
    await nimlet.send({ type: "prompt", message: "second" }, { id: "g", type: "get_state" });
    assertEquals((await nimlet.weir.response("g")).busy, true);
    gate.resolve();
    const records = await nimlet.weir.until(isEnd);
    assertEquals(kindsOf(records).filter((kind) => kind !== "response"), [
      "user",
      "run_start",
      "diagnostic",
      ...ANSWERED,
    ]);
    assertEquals(allOf(records, "diagnostic")[0].message, "Auto-compacted context");
  });
});

Deno.test("nimlet expands the mentions of a message that opens a run, and of no other", async () => {
  const replies = [calls(waitForGo()), { text: "a" }, { text: "b" }, { text: "c" }];
  const files = { "a.txt": "one\n", ".env": "SECRET=1\n", "src/b.txt": "two" };
  const pixel = Uint8Array.fromBase64(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  );
  await withNimlet({
    replies,
    files,
    prepare: ({ workspace }) => Deno.writeFile(`${workspace}/p.png`, pixel),
  }, async (nimlet) => {
    const sent = "See @p.png, @a.txt. and @src @.env @../x a@a.txt";
    const first = nimlet.run(sent);
    await nimlet.weir.next("tool_call");
    await nimlet.send({ type: "steer", message: "and @a.txt" });
    await nimlet.touch("go");
    const shown = `${sent}\n\n<file path="a.txt">\none\n\n</file>` +
      `\n\n<folder path="src">\nb.txt\n</folder>\n[image]`;
    await first;
    const { records } = nimlet.weir;
    assertEquals(allOf(records, "run_start")[0].prompt, shown);
    const users = records.filter(({ role }) => role === "user").map(({ content }) => content);
    assertEquals(users, [shown, "and @a.txt"]);
    assertEquals(saidIn(nimlet.server.requests[1]).at(-1), "user: and @a.txt");
    assertStringIncludes(JSON.stringify(nimlet.server.requests[0].messages), "data:image/png");
  });
});

Deno.test("nimlet leaves out a model that the endpoint does not name", async () => {
  const raw = [
    'data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"hi"}}]}\n\n',
    'data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    "data: [DONE]\n\n",
  ];
  await withNimlet({ replies: [{ raw }] }, async (nimlet) => {
    const records = await nimlet.run("go");
    const models = (record: WireRecord) => [record.type, record.model];
    assertEquals(records.slice(-5).map(models), [
      ["step_start", "test-model"],
      ["message_delta", "test-model"],
      ["message", undefined],
      ["step_end", undefined],
      ["run_end", undefined],
    ]);
  });
});
