/** Jobs of subagents, and the limits of the turns that jobs start, in a circle RPC process. */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { RecordedRequest } from "../fakes/model_server.ts";
import type { Reply } from "../fakes/reply.ts";
import { allOf, calls, withCircle } from "./_with_circle.ts";

type Json = Record<string, unknown>;

const PROMPT = "Watch the build.";

function task(id: string, more: Json = {}) {
  return { id, name: "task", args: { description: "watch", prompt: PROMPT, ...more } };
}

function bash(id: string, command: string, more: Json = {}) {
  return { id, name: "bash", args: { command, ...more } };
}

/** Answers subagents (known by their prompt) from one script and the main agent from another. */
function answerBoth(main: Reply[], sub: Reply[]) {
  return ({ messages }: RecordedRequest): Reply => {
    const isSubagent = messages.some(({ role, content }) => role === "user" && content === PROMPT);
    const reply = (isSubagent ? sub : main).shift();
    if (reply === undefined) throw new Error(`the ${isSubagent ? "sub" : "main"} script is empty`);
    return reply;
  };
}

Deno.test("circle jobs of a subagent end with it and start no turn", async () => {
  const sub = [calls(bash("s1", "sleep 600", { background: true })), { text: "It runs." }];
  const answer = answerBoth([calls(task("t1")), { text: "ok" }], sub);
  await withCircle({ args: ["--yolo"], answer }, async (circle) => {
    const records = await circle.turn("go");
    const { sessionId } = await circle.state();
    const told = allOf(records, "job").map(({ event, job }) => {
      const { id, status, reason, sessionId: owner } = job as Json;
      return [event, id, status, reason, owner === sessionId];
    });
    assertEquals(told, [
      ["started", "j1", "running", "", true],
      ["ended", "j1", "stopped", "parent ended", true],
    ]);
    assertEquals(await circle.weir.livingProcesses(), [circle.weir.pid]);
    await circle.end();
    assertEquals(allOf(circle.weir.records, "turn_start").length, 1);
  });
});

Deno.test("circle subagent waits for its jobs and so consumes their notices", async () => {
  const sub = [
    calls(bash("s1", "sleep 0.1; echo built", { background: true })),
    calls({ id: "s2", name: "wait_jobs", args: { job_ids: ["j1"], timeout_s: 20 } }),
    { text: "It is built." },
  ];
  const answer = answerBoth([calls(task("t1")), { text: "ok" }, { text: "well" }], sub);
  await withCircle({ args: ["--yolo"], answer }, async (circle) => {
    const records = await circle.turn("go");
    const waited = records.find(({ event, id }) => event === "tool_result" && id === "s2")!;
    assertEquals(waited.status, "success");
    assertStringIncludes(String(waited.output), "j1 · shell · done");
    assertStringIncludes(String(waited.output), "built");
    await circle.turn("and?");
    const users = circle.server.requests.flatMap(({ messages }) =>
      messages.filter(({ role }) => role === "user").map(({ content }) => String(content))
    );
    assertEquals(users.filter((text) => text.includes("circle-jobs")), []);
  });
});

Deno.test("circle background moves a command that a subagent waits for", async () => {
  const command = "echo begun > begun; while [ ! -e go ]; do sleep 0.02; done";
  const sub = [calls(bash("s1", command)), { text: "It goes on." }];
  const answer = answerBoth([calls(task("t1")), { text: "ok" }], sub);
  await withCircle({ args: ["--yolo"], answer }, async (circle) => {
    await circle.begin("go");
    await circle.weir.next(({ event }) => event === "tool_start");
    assertEquals(await circle.data({ type: "background" }), { moved: 1 });
    const records = await circle.weir.settled();
    const result = records.find(({ event }) => event === "tool_result")!;
    assertMatch(String(result.output), /Command continues in background: j1 · shell · running · /);
    const ended = allOf(circle.weir.records, "job").at(-1)!.job as Json;
    assertEquals([ended.status, ended.reason], ["stopped", "parent ended"]);
  });
});

Deno.test("circle runs four background subagents at most", async () => {
  const tasks = [1, 2, 3, 4, 5].map((n) => task(`t${n}`, { background: true }));
  const sub = Array.from({ length: 4 }, () => ({ text: "never", stallAfter: 0 }));
  const answer = answerBoth([calls(...tasks), { text: "ok" }], sub);
  await withCircle({ env: { WEIR_JOB_WAIT: "0" }, answer }, async (circle) => {
    const results = allOf(await circle.turn("go"), "tool_result");
    assertEquals(results.map(({ status }) => status), [...Array(4).fill("success"), "error"]);
    assertEquals(results[4].output, "4 background subagents are already running");
    const { job } = await circle.data({ type: "stop_job", jobId: "j1" });
    assertEquals([(job as Json).status, (job as Json).reason], ["stopped", "user"]);
    await circle.end();
    assertEquals(circle.weir.records.at(-1), { type: "jobs_stopped", count: 3 });
  });
});

Deno.test("circle jobs start ten turns in a row at most", async () => {
  const answer = (_: RecordedRequest, n: number): Reply =>
    n % 2 === 1
      ? calls(bash(`b${n}`, "sleep 0.15", { background: true }))
      : { text: `answer ${n}` };
  await withCircle({ args: ["--yolo"], env: { WEIR_JOB_WAIT: "600" }, answer }, async (circle) => {
    await circle.send({ type: "prompt", message: "go" });
    await circle.weir.closeInput();
    await circle.weir.waitForExit({ timeoutMs: 60_000 });
    await circle.end();
    const [prompt, ...notices] = allOf(circle.weir.records, "turn_start");
    assertEquals(prompt.message, "go");
    assertEquals(notices, Array(10).fill({ type: "turn_start" }));
    assertEquals(allOf(circle.weir.records, "agent_settled").length, 11);
    assertEquals(circle.weir.records.at(-1), { type: "jobs_stopped", count: 1 });
  });
});
