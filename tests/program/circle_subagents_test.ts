/** Subagents of a circle RPC process that are waited for. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { backgroundCall, jobOf, outline } from "./_jobs.ts";
import { answerFrom, requestsOf, subagentEvents, task, toolNames } from "./_subagents.ts";
import { allOf, calls, onlyOutput, saidIn, typesOf, withCircle } from "./_with_circle.ts";

type Json = Record<string, unknown>;

const YOLO = ["--yolo"];

Deno.test("circle subagent works in a conversation of its own and answers its call", async () => {
  const todos = [{ text: "read", status: "pending" }];
  const answer = answerFrom({
    "go": [calls(task("t1", "  Read notes.txt\n")), { text: "It says first." }],
    "  Read notes.txt\n": [
      {
        thinking: "hm",
        text: "Reading.",
        toolCalls: [
          { id: "r1", name: "read", args: { path: "notes.txt", limit: 1 } },
          { id: "d1", name: "todo", args: { items: todos } },
        ],
        usage: { input: 1000, output: 100 },
      },
      { text: "first", usage: { input: 2000, output: 200, cacheRead: 500 } },
    ],
  });
  await withCircle({ args: ["--session-id", "s-1"], answer }, async (circle) => {
    const records = await circle.turn("go");
    const told = allOf(records, "subagent_event");
    const name = "general";
    const { subagent } = told[0].tags as Json;
    assert(subagent !== "s-1");
    for (const record of told) assertEquals(record.tags, { subagent, name });
    const facts = told.map(({ type: _type, tags: _tags, ...rest }) => rest);
    const read = { id: "r1", name: "read", args: { path: "notes.txt", limit: 1 } };
    const todo = { id: "d1", name: "todo", args: { items: todos } };
    assertEquals(facts.filter(({ event }) => event !== "llm_end" && event !== "tool_result"), [
      { event: "run_start", message: "  Read notes.txt\n" },
      { event: "llm_start" },
      { event: "llm_token", text: "hm", thinking: true },
      { event: "llm_token", text: "Reading.", thinking: false },
      { event: "tool_call", ...read },
      { event: "tool_start", ...read },
      { event: "tool_end", id: "r1", status: "success" },
      { event: "tool_call", ...todo },
      { event: "tool_start", ...todo },
      { event: "tool_end", id: "d1", status: "success" },
      { event: "todo_list", todos },
      { event: "llm_start" },
      { event: "llm_token", text: "first", thinking: false },
      {
        event: "run_end",
        answer: "first",
        usage: { input_tokens: 3000, output_tokens: 300, cache_read_tokens: 500 },
      },
    ]);
    const ends = facts.filter(({ event }) => event === "llm_end");
    assertEquals(ends[1].usage, {
      input_tokens: 2000,
      output_tokens: 200,
      cache_read_tokens: 500,
    });
    const { role, content, thinking, cost } = ends[0].message as Json;
    assertEquals([role, content, thinking], ["assistant", "Reading.", "hm"]);
    assertEquals((cost as Json).amount, 0.0012);
    assertEquals(onlyOutput(records), "first");
    assertEquals(outline(records).slice(0, 3), ["turn_start", "assistant", "subagent run_start"]);
    assertEquals(outline(records).slice(-5), [
      "subagent run_end",
      "tool_result t1",
      "assistant",
      "turn_end",
      "agent_settled",
    ]);
    assertEquals(records.at(-2)!.usage, {
      input_tokens: 20,
      output_tokens: 10,
      cache_read_tokens: 0,
    });
    const stats = await circle.data({ type: "get_session_stats" });
    assertEquals(stats.totalMessages, 4);
    assertEquals(stats.tokens, { input: 3020, output: 310, total: 3330 });
    assertEquals((stats.costs as Json).calls, 4);
    await circle.start(["--session-id", "s-1"]);
    assertEquals(await circle.data({ type: "get_session_stats" }), stats);
    assertEquals((await circle.messages()).length, 4);
  });
});

Deno.test("circle subagents have their own tools, whatever the main agent is offered", async () => {
  const answer = answerFrom({
    go: [
      calls(task("g", "general"), task("e", "explore", { subagent_type: "explore" })),
      { text: "done" },
    ],
    general: [calls({ id: "x", name: "task", args: {} }), { text: "no task" }],
    explore: [calls({ id: "x", name: "bash", args: { command: "true" } }), { text: "no bash" }],
  });
  await withCircle({ args: ["--yolo", "--tools", "read,task"], answer }, async (circle) => {
    const records = await circle.turn("go");
    assertEquals(toolNames(circle.server.requests[0]), ["read", "task"]);
    assertEquals(
      toolNames(requestsOf(circle, "general")[0]),
      "bash edit find grep list_jobs ls question read stop_job todo wait_jobs write".split(" "),
    );
    assertEquals(
      toolNames(requestsOf(circle, "explore")[0]),
      "find grep list_jobs ls read stop_job wait_jobs".split(" "),
    );
    assertEquals(
      subagentEvents(records, "tool_result").map(({ output }) => output).sort(),
      ["tool is not available: bash", "tool is not available: task"],
    );
    assertEquals(subagentEvents(records, "tool_start"), []);
    assertEquals(subagentEvents(records, "tool_end").map(({ status }) => status), [
      "error",
      "error",
    ]);
    assertEquals(allOf(records, "tool_result").map(({ id, output }) => [id, output]), [
      ["g", "no task"],
      ["e", "no bash"],
    ]);
  });
});

Deno.test("circle subagents of one reply run at the same time, and one may fail", async () => {
  const gates = [0, 1, 2].map(() => Promise.withResolvers<void>());
  const answer = answerFrom({
    go: [calls(task("a", "one"), task("b", "two"), task("c", "three")), { text: "done" }],
    one: [{ text: "1", gate: gates[0].promise }],
    two: [{ status: 401, body: { error: { message: "no such key" } }, gate: gates[1].promise }],
    three: [{ text: "3", gate: gates[2].promise }],
  });
  await withCircle({ answer }, async (circle) => {
    await circle.begin("go");
    await circle.request(4);
    for (const index of [2, 1, 0]) {
      gates[index].resolve();
      await circle.weir.next(({ event }) => event === "run_end" || event === "run_error");
    }
    const records = await circle.weir.settled();
    assertEquals(allOf(records, "tool_result").map(({ id, status }) => [id, status]), [
      ["a", "success"],
      ["b", "error"],
      ["c", "success"],
    ]);
    const failed = String(allOf(records, "tool_result")[1].output);
    assertStringIncludes(failed, "no such key");
    const [{ message, interrupted }] = subagentEvents(circle.weir.records, "run_error");
    assertStringIncludes(String(message), "no such key");
    assertEquals(interrupted, false);
  });
});

for (
  const [args, command, reason, output] of [
    [[], "make", "runs a shell command", "not run: needs --yolo or approval"],
    [YOLO, "rm notes.txt", "deletes files", "not run: this operation always asks"],
  ] as const
) {
  Deno.test(`circle subagent is not allowed more than the main agent: ${command}`, async () => {
    const answer = answerFrom({
      go: [calls(task("t", "work")), { text: "done" }],
      work: [calls({ id: "c1", name: "bash", args: { command } }), { text: "could not" }],
    });
    await withCircle({ args, answer }, async (circle) => {
      const records = await circle.turn("go");
      const call = { id: "c1", name: "bash", args: { command } };
      const told = allOf(records, "subagent_event")
        .filter(({ event }) => String(event).startsWith("tool_"))
        .map(({ type: _type, tags: _tags, ...rest }) => rest);
      assertEquals(told, [
        { event: "tool_call", ...call },
        { event: "tool_waiting", ...call, reason },
        { event: "tool_result", id: "c1", name: "bash", status: "error", output },
        { event: "tool_end", id: "c1", status: "error" },
      ]);
      assertEquals(allOf(records, "not_run"), []);
      assertEquals(onlyOutput(records), "could not");
      assert(await circle.file("notes.txt") !== undefined);
    });
  });
}

Deno.test("circle abort stops subagents with their commands and jobs by one turn_end", async () => {
  const answer = answerFrom({
    go: [calls(task("a", "one"), task("b", "two"))],
    one: [calls(backgroundCall("j", "sleep 300"), {
      id: "c",
      name: "bash",
      args: { command: "trap '' TERM; touch begun; sleep 300; sleep 300" },
    })],
    two: [{ text: "late", delayMs: 60_000 }],
  });
  await withCircle({ args: YOLO, answer }, async (circle) => {
    await circle.begin("go");
    await circle.weir.next(({ event, id }) => event === "tool_start" && id === "c");
    const from = circle.weir.records.length;
    await circle.ask({ type: "abort" });
    const records = circle.weir.records.slice(from);
    assertEquals(await circle.weir.livingProcesses(), [circle.weir.pid]);
    assertEquals(subagentEvents(records, "run_error").map((record) => record.interrupted), [
      true,
      true,
    ]);
    const own = records.filter(({ type }) => type !== "subagent_event" && type !== "job");
    assertEquals(typesOf(own), [
      "tool_result",
      "tool_result",
      "turn_end",
      "agent_settled",
      "response",
    ]);
    assertEquals(own.slice(0, 2).map(({ output }) => output), ["Interrupted", "Interrupted"]);
    const [job] = allOf(records, "job").map(jobOf);
    assertEquals([job.status, job.reason, job.exitCode], ["stopped", "parent ended", 130]);
  });
});

Deno.test("circle result of more than 80,000 characters is a file with an excerpt", async () => {
  const short = "s".repeat(80_000);
  const long = `begin ${"x".repeat(40_000)}🎈${"y".repeat(40_000)} end`;
  const answer = answerFrom({
    go: [calls(task("a", "one"), task("b", "two")), { text: "done" }],
    one: [{ text: short }],
    two: [{ text: long }],
  });
  await withCircle({ answer, args: ["--session-id", "s-1"] }, async (circle) => {
    const [first, second] = allOf(await circle.turn("go"), "tool_result");
    assertEquals(first.output, short);
    const output = String(second.output);
    assert(output.length < 21_000, `${output.length} characters`);
    assertMatch(output, /^\[80012 characters, [^\n]*\]\nbegin x+\n\[…\]\ny+ end$/);
    const path = /; all of it is in ([^\n]*)\]/.exec(output)![1];
    assert(path.startsWith(`${circle.home.home}/jobs/${circle.weir.pid}-`));
    assertEquals(await Deno.readTextFile(path), long);
    assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
    assertEquals(saidIn(circle.lastRequest).at(-1), `tool: ${output}`);
    // The whole answer was told once, as the subagent's; which of the two ends first is open.
    const answers = subagentEvents(circle.weir.records, "run_end").map(({ answer }) => answer);
    assertEquals(answers.filter((answer) => answer === long).length, 1);
  });
});
