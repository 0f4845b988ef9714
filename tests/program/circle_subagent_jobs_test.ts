/** Subagents of a circle RPC process that work in the background, and the jobs that subagents start. */

import { assertEquals, assertMatch } from "@std/assert";
import {
  backgroundCall,
  factsOf,
  jobEvent,
  jobOf,
  makeFile,
  noticesIn,
  untilFile,
} from "./_jobs.ts";
import { answerFrom, requestsOf, subagentEvents, task } from "./_subagents.ts";
import { allOf, calls, onlyOutput, saidIn, withCircle } from "./_with_circle.ts";

type Json = Record<string, unknown>;

const YOLO = ["--yolo"];

Deno.test("circle background subagent is a job whose whole answer is the notice", async () => {
  const long = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`).join("\n");
  const answer = answerFrom({
    go: [
      calls(task("t", "explore it", { background: true, subagent_type: "explore" })),
      { text: "it looks around" },
      { text: "it has answered" },
    ],
    "explore it": [
      calls({ id: "w", name: "ls", args: {} }),
      () => ({ text: long, usage: { input: 100, output: 50 } }),
    ],
  });
  await withCircle({ args: ["--session-id", "s-1"], answer }, async (circle) => {
    const records = await circle.turn("go");
    const job = jobOf(allOf(records, "job")[0]);
    const facts = {
      id: "j1",
      kind: "agent",
      title: "explore: do t",
      status: "running",
      reason: "",
      exitCode: null,
      startedBy: "model",
    };
    assertEquals(factsOf(job), facts);
    assertEquals(
      onlyOutput(records),
      `In background: j1 · agent · running · 0s · explore: do t · output ${job.output}`,
    );
    await circle.weir.next(({ type, message }) => type === "turn_start" && message === undefined);
    await circle.weir.settled();
    const all = circle.weir.records;
    const { subagent } = allOf(all, "subagent_event")[0].tags as Json;
    for (const { tags } of allOf(all, "subagent_event")) {
      assertEquals(tags, { subagent, name: "explore", job_id: "j1" });
    }
    assertEquals(allOf(all, "job").map(({ event }) => event), [
      "started",
      "updated",
      "updated",
      "ended",
    ]);
    const ended = jobOf(allOf(all, "job")[3]);
    assertEquals(factsOf(ended), { ...facts, status: "done", reason: "exit" });
    const [notice] = noticesIn(await circle.messages());
    assertEquals(notice.split("\n").slice(2, -1).join("\n"), long);
    assertMatch(notice, /\nj1 · agent · done · [0-9.]+s · explore: do t · output \//);
    assertEquals(await Deno.readTextFile(String(job.output)), long + "\n");
    const { tokens } = await circle.data({ type: "get_session_stats" });
    assertEquals(tokens, { input: 140, output: 70, total: 210 });
    await circle.start(["--session-id", "s-1"]);
    assertEquals((await circle.data({ type: "get_session_stats" })).tokens, tokens);
  });
});

Deno.test("circle background subagents: four at most, one that fails, one that stops itself", async () => {
  const background = { background: true };
  const prompts = ["one", "two", "three", "four", "five"];
  const gate = Promise.withResolvers<void>();
  const answer = answerFrom({
    go: [calls(...prompts.map((prompt) => task(prompt, prompt, background))), { text: "run" }],
    one: [{ status: 401, body: { error: { message: "no such key" } }, gate: gate.promise }],
    two: [{ ...calls({ id: "s", name: "stop_job", args: { job_id: "j2" } }), gate: gate.promise }],
    three: [{ text: "late", delayMs: 60_000 }],
    four: [calls(backgroundCall("b", "sleep 300")), { text: "late", delayMs: 60_000 }],
    next: [{ text: "I see" }],
  });
  await withCircle({ args: YOLO, answer }, async (circle) => {
    const results = allOf(await circle.turn("go"), "tool_result");
    assertEquals(results.map(({ status }) => status), [...Array(4).fill("success"), "error"]);
    assertEquals(results[4].output, "4 background subagents are already running");
    await circle.ask({ type: "abort" });
    gate.resolve();
    const isEnded = (id: string) =>
      allOf(circle.weir.records, "job").map(jobOf)
        .some((job) => job.id === id && job.status !== "running");
    await circle.weir.next(() => isEnded("j1") && isEnded("j2"));
    await circle.request(1 + 4 + 1 + 1);
    const { job } = await circle.data({ type: "stop_job", jobId: "j4" }) as { job: Json };
    assertEquals([job.status, job.reason, job.exitCode], ["stopped", "user", null]);
    assertEquals(await circle.weir.livingProcesses(), [circle.weir.pid]);
    const jobs = (await circle.data({ type: "list_jobs" })).jobs as Json[];
    assertEquals(jobs.map(({ id, status, reason }) => `${id} ${status} ${reason}`), [
      "j3 running ",
      "j1 failed agent error",
      "j2 stopped model",
      "j4 stopped user",
      "j5 stopped parent ended",
    ]);
    await circle.data({ type: "stop_job", jobId: "j3" });
    const errors = subagentEvents(circle.weir.records, "run_error");
    assertEquals(
      errors.map((record) => `${(record.tags as Json).job_id} ${record.interrupted}`).sort(),
      ["j1 false", "j2 true", "j3 true", "j4 true"],
    );
  });
});

Deno.test("circle subagent reads the notices of its own jobs, and wait_jobs takes those it reports", async () => {
  const answer = answerFrom({
    go: [calls(task("t", "work")), { text: "done" }],
    work: [
      calls(
        backgroundCall("a", untilFile("go", "echo built")),
        backgroundCall("b", untilFile("other", "exit 7")),
        backgroundCall("c", "sleep 300"),
      ),
      calls({ id: "w", name: "wait_jobs", args: { job_ids: ["j1"] } }),
      calls({ id: "n", name: "wait_jobs", args: { job_ids: ["j2", "j3"], timeout_s: 1 } }),
      calls({ id: "f", name: "bash", args: { command: "sleep 300" } }),
      { text: "finished" },
    ],
  });
  await withCircle({ args: YOLO, answer }, async (circle) => {
    await circle.begin("go");
    await circle.weir.next(({ event, id }) => event === "tool_start" && id === "w");
    await makeFile(circle, "go");
    await circle.weir.next(({ event, id }) => event === "tool_start" && id === "f");
    await makeFile(circle, "other");
    await circle.weir.settled();
    const { records } = circle.weir;
    const outputs = new Map(
      subagentEvents(records, "tool_result").map(({ id, output }) => [id, String(output)]),
    );
    assertMatch(
      outputs.get("w")!,
      /^<system-reminder data-source="circle-jobs">\nj1 · shell · done, exit 0 · .*\nbuilt\n<\/system-reminder>$/,
    );
    assertMatch(outputs.get("n")!, /^j2 · shell · running · .*\nj3 · shell · running · [^\n]*$/);
    assertEquals(outputs.get("f"), "Exit code: 0");
    const last = saidIn(requestsOf(circle, "work").at(-1)!);
    assertMatch(last.at(-1)!, /^user: <system-reminder[^]*\nj2 · shell · failed, exit 7 · /);
    assertEquals(last.filter((text) => text.startsWith("user: <system-reminder")).length, 1);
    // The job that was left ended with the subagent; the main agent hears of this one alone.
    const [notice, ...others] = noticesIn(await circle.messages());
    assertEquals(others, []);
    assertMatch(
      notice,
      /^[^\n]*\nj3 · shell · stopped, exit 130 \(parent ended\) · [^\n]*\n\(empty\)\n[^\n]*$/,
    );
    assertEquals(allOf(circle.weir.records, "turn_start").length, 1);
  });
});

Deno.test("circle job of a subagent belongs to the main conversation, and is not waited for there", async () => {
  const answer = answerFrom({
    go: [calls(task("t", "work", { background: true })), { text: "works" }, { text: "I see" }],
    work: [
      calls(backgroundCall("a", untilFile("go", "echo built"))),
      calls({ id: "w", name: "wait_jobs", args: {} }),
      { text: "it is built" },
    ],
  });
  await withCircle({ args: YOLO, answer }, async (circle) => {
    await circle.turn("go");
    await circle.weir.closeInput();
    await circle.request(4);
    await makeFile(circle, "go");
    await circle.end();
    const { sessionId } = jobOf(allOf(circle.weir.records, "job")[0]);
    for (const record of allOf(circle.weir.records, "job")) {
      assertEquals(jobOf(record).sessionId, sessionId);
    }
    assertEquals(circle.weir.records.at(-1), { type: "jobs_stopped", count: 0 });
    const said = saidIn(requestsOf(circle, "go").at(-1)!).at(-1)!;
    assertMatch(said, /\nj1 · agent · done · [^\n]*\nit is built\n/);
    assertEquals(said.includes("j2"), false);
  });
});

Deno.test("circle background subagent goes on after new_session and abort, for its own conversation", async () => {
  const gate = Promise.withResolvers<void>();
  const answer = answerFrom({
    go: [calls(task("t", "work", { background: true })), { text: "works" }],
    work: [{ text: "found it", gate: gate.promise, usage: { input: 1000, output: 100 } }],
    hello: [{ text: "hi" }],
  });
  await withCircle({ args: ["--yolo", "--session-id", "s-1"], answer }, async (circle) => {
    await circle.turn("go");
    await circle.ask({ type: "abort" });
    await circle.data({ type: "new_session" });
    await circle.turn("hello");
    gate.resolve();
    assertEquals(jobOf(await jobEvent(circle, "ended", "j1")).status, "done");
    const stats = await circle.data({ type: "get_session_stats" });
    assertEquals(stats.tokens, { input: 10, output: 5, total: 15 });
    await circle.start(["--session-id", "s-1"]);
    const [notice] = noticesIn(await circle.messages());
    assertMatch(notice, /\nj1 · agent · done · [^\n]*\nfound it\n/);
    const { tokens } = await circle.data({ type: "get_session_stats" });
    assertEquals(tokens, { input: 1020, output: 110, total: 1130 });
  });
});
