/** Subagents of a circle RPC process: what their client hears, what their model is told, and how they end. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { RecordedRequest } from "../fakes/model_server.ts";
import type { Reply } from "../fakes/reply.ts";
import { allOf, calls, typesOf, type WireRecord, withCircle } from "./_with_circle.ts";

type Json = Record<string, unknown>;

const PROMPT = "Find the parser.\n  Report its file. ";

function task(more: Json = {}, id = "t1") {
  return { id, name: "task", args: { description: "find parser", prompt: PROMPT, ...more } };
}

/** Answers the subagent (known by its prompt) from one script and the main agent from another. */
function answerBoth(main: Reply[], sub: Reply[]) {
  return ({ messages }: RecordedRequest): Reply => {
    const isSubagent = messages.some(({ role, content }) => role === "user" && content === PROMPT);
    const reply = (isSubagent ? sub : main).shift();
    if (reply === undefined) throw new Error(`the ${isSubagent ? "sub" : "main"} script is empty`);
    return reply;
  };
}

function offered({ body }: RecordedRequest): string[] {
  const tools = (body.tools ?? []) as { function: { name: string } }[];
  return tools.map((tool) => tool.function.name).sort();
}

function subagentEvents(records: readonly WireRecord[]): unknown[] {
  return allOf(records, "subagent_event").map(({ event }) => event);
}

Deno.test("circle subagent tells its steps and answers with the call's result", async () => {
  const sub = [
    {
      text: "Look.",
      toolCalls: [
        { id: "s1", name: "read", args: { path: "notes.txt" } },
        { id: "s2", name: "bash", args: { command: "make" } },
      ],
      usage: { input: 100, output: 10 },
    },
    { text: "In notes.txt.", usage: { input: 200, output: 20 } },
  ];
  const main = [{ ...calls(task()), usage: { input: 1000, output: 1 } }, {
    text: "Found.",
    usage: { input: 2000, output: 2 },
  }];
  await withCircle({ answer: answerBoth(main, sub) }, async (circle) => {
    const records = await circle.turn("go");
    const events = allOf(records, "subagent_event");
    const shown = events.filter(({ event }) => event !== "llm_token");
    assertEquals(
      shown.map(({ event, id, name }) => [event, id ?? name].filter(Boolean).join(" ")),
      [
        "run_start",
        "llm_start",
        "llm_end",
        "tool_call s1",
        "tool_start s1",
        "tool_result s1",
        "tool_end s1",
        "tool_call s2",
        "tool_waiting s2",
        "tool_result s2",
        "tool_end s2",
        "llm_start",
        "llm_end",
        "run_end",
      ],
    );
    const [tags] = new Set(events.map((event) => JSON.stringify(event.tags)));
    const { subagent, name, ...more } = JSON.parse(tags);
    assertEquals([name, more], ["general", {}]);
    assert(subagent !== "" && subagent !== (await circle.state()).sessionId);
    assertEquals(shown[0].message, PROMPT);
    const waiting = shown.find(({ event }) => event === "tool_waiting")!;
    assertEquals([waiting.args, waiting.reason], [{ command: "make" }, "runs a shell command"]);
    assertEquals(shown.at(-1)!.answer, "In notes.txt.");
    assertEquals(shown.at(-1)!.usage, {
      input_tokens: 300,
      output_tokens: 30,
      cache_read_tokens: 0,
    });
    const tokens = events.filter(({ event }) => event === "llm_token");
    assertEquals(tokens.map(({ text, thinking }) => [text, thinking]), [
      ["Look.", false],
      ["In notes.txt.", false],
    ]);
    const [result] = allOf(records, "tool_result");
    assertEquals(result, {
      type: "tool_result",
      id: "t1",
      name: "task",
      status: "success",
      output: "In notes.txt.",
    });
    // The turn's usage is that of its own replies; the conversation's is everything.
    assertEquals(allOf(records, "turn_end")[0].usage, {
      input_tokens: 3000,
      output_tokens: 3,
      cache_read_tokens: 0,
    });
    const stats = await circle.data({ type: "get_session_stats" });
    assertEquals(stats.tokens, { input: 3300, output: 33, total: 3333 });
    assertEquals((stats.costs as Json).calls, 4);
    assertEquals([stats.totalMessages, stats.toolCalls], [4, 1]);
    assertEquals(circle.server.requests[1].messages.at(-1)!.content, PROMPT);
  });
});

Deno.test("circle subagents are offered the tools of their kind, whatever --tools says", async () => {
  const sub = () => [{ text: "general" }, { text: "explore" }];
  const main = [calls(task()), calls(task({ subagent_type: "explore" }, "t2")), { text: "ok" }];
  await withCircle(
    { args: ["--tools", "task"], answer: answerBoth(main, sub()) },
    async (circle) => {
      const records = await circle.turn("go");
      assertEquals(allOf(records, "tool_result").map(({ output }) => output), [
        "general",
        "explore",
      ]);
      const [mainTools, general, , explore] = circle.server.requests.map(offered);
      assertEquals(mainTools, ["task"]);
      assertEquals(general, [
        "bash",
        "edit",
        "find",
        "grep",
        "list_jobs",
        "ls",
        "question",
        "read",
        "stop_job",
        "todo",
        "wait_jobs",
        "write",
      ]);
      assertEquals(explore, ["find", "grep", "list_jobs", "ls", "read", "stop_job", "wait_jobs"]);
    },
  );
});

Deno.test("circle neighbouring task calls run in parallel and answer in call order", async () => {
  const both = Promise.withResolvers<void>();
  let running = 0;
  const answer = async ({ messages }: RecordedRequest): Promise<Reply> => {
    const said = String(messages.findLast(({ role }) => role === "user")!.content);
    if (said === "go") {
      return messages.some(({ role }) => role === "tool")
        ? { text: "ok" }
        : calls(task({ prompt: "one" }, "t1"), task({ prompt: "two" }, "t2"));
    }
    if (++running === 2) both.resolve();
    await both.promise;
    return { text: `answer ${said}`, delayMs: said === "one" ? 50 : 0 };
  };
  await withCircle({ answer }, async (circle) => {
    const records = await circle.turn("go");
    assertEquals(allOf(records, "tool_result").map(({ id, output }) => [id, output]), [
      ["t1", "answer one"],
      ["t2", "answer two"],
    ]);
    const tags = allOf(records, "subagent_event").map(({ tags }) => (tags as Json).subagent);
    assertEquals(new Set(tags).size, 2);
  });
});

Deno.test("circle subagent that fails leaves an error result, and the turn goes on", async () => {
  const denied = { status: 401, body: { error: { message: "no such key" } } };
  await withCircle(
    { answer: answerBoth([calls(task()), { text: "ok" }], [denied]) },
    async (circle) => {
      const records = await circle.turn("go");
      const last = allOf(records, "subagent_event").at(-1)!;
      assertEquals([last.event, last.interrupted], ["run_error", false]);
      assertStringIncludes(String(last.message), "no such key");
      assertEquals(allOf(records, "tool_result")[0].status, "error");
      assertEquals(typesOf(records).at(-2), "turn_end");
    },
  );
});

Deno.test("circle abort stops a subagent and writes one turn_end", async () => {
  const sub = [calls({ id: "s1", name: "bash", args: { command: "sleep 600" } })];
  await withCircle(
    { args: ["--yolo"], answer: answerBoth([calls(task())], sub) },
    async (circle) => {
      await circle.begin("go");
      await circle.weir.next(({ event }) => event === "tool_start");
      await circle.ask({ type: "abort" });
      const records = await circle.weir.settled();
      assertEquals(allOf(records, "turn_end"), [{ type: "turn_end", aborted: true }]);
      const [result] = allOf(records, "tool_result");
      assertEquals([result.id, result.status, result.output], ["t1", "error", "Interrupted"]);
      const last = allOf(records, "subagent_event").at(-1)!;
      assertEquals([last.event, last.interrupted], ["run_error", true]);
      assertEquals(await circle.weir.livingProcesses(), [circle.weir.pid]);
    },
  );
});

Deno.test("circle approvals hold for subagents", async () => {
  const remove = { id: "s1", name: "bash", args: { command: "rm notes.txt" } };
  const sub = [calls(remove, { id: "s2", name: "read", args: { path: ".env" } }), {
    text: "could not",
  }];
  const answer = answerBoth([calls(task()), { text: "ok" }], sub);
  await withCircle({ args: ["--yolo"], answer }, async (circle) => {
    const records = await circle.turn("go");
    const results = allOf(records, "subagent_event").filter(({ event }) => event === "tool_result");
    assertEquals(results.map(({ output }) => output), [
      "not run: this operation always asks",
      "Denied by approval policy: .env is a credential file",
    ]);
    assertEquals(allOf(records, "not_run"), []);
    assert(await circle.file("notes.txt") !== undefined);
  });
});

Deno.test("circle subagent in the background is a job whose answer is its notice", async () => {
  const gate = Promise.withResolvers<void>();
  const sub = [{ text: "It is src/main.ts.", gate: gate.promise }];
  const main = [calls(task({ background: true, subagent_type: "explore" })), { text: "Started." }, {
    text: "Found it.",
  }];
  await withCircle({ answer: answerBoth(main, sub) }, async (circle) => {
    const records = await circle.turn("go");
    const [{ job }] = allOf(records, "job") as unknown as { job: Json }[];
    assertEquals([job.id, job.kind, job.title, job.exitCode], [
      "j1",
      "agent",
      "explore: find parser",
      null,
    ]);
    assertStringIncludes(
      String(allOf(records, "tool_result")[0].output),
      "In background: j1 · agent · running · ",
    );
    gate.resolve();
    const notice = await circle.weir.settled();
    const ended = allOf(notice, "job").at(-1)!.job as Json;
    assertEquals([ended.status, ended.reason, ended.exitCode], ["done", "exit", null]);
    for (const { tags } of allOf(circle.weir.records, "subagent_event")) {
      assertEquals((tags as Json).job_id, "j1");
    }
    assertEquals(subagentEvents(circle.weir.records).at(-1), "run_end");
    assertStringIncludes(String(circle.lastRequest.messages.at(-1)!.content), "It is src/main.ts.");
  });
});
