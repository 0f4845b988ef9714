/** Background jobs of a circle RPC process: how they begin, are listed, moved, stopped and told to the model. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { allOf, calls, type Circle, onlyOutput, typesOf, withCircle } from "./_with_circle.ts";

type Json = Record<string, unknown>;

/** A command that ends as soon as the workspace has a file `go`. */
const WAIT = "while [ ! -e go ]; do sleep 0.02; done";
const YOLO = { args: ["--yolo"] };

function bash(command: string, more: Json = {}) {
  return { id: "b1", name: "bash", args: { command, ...more } };
}

function background(command: string, more: Json = {}) {
  return calls(bash(command, { background: true, ...more }));
}

function letGo(circle: Circle): Promise<void> {
  return Deno.writeTextFile(`${circle.workspace}/go`, "");
}

async function jobs(circle: Circle): Promise<Json[]> {
  return (await circle.data({ type: "list_jobs" })).jobs as Json[];
}

/** Everything the last request told the model, as one text. */
function lastSaid(circle: Circle): string {
  return JSON.stringify(circle.lastRequest.messages);
}

Deno.test("circle job that ends while nothing runs starts a turn without a message", async () => {
  const command = `${WAIT};   echo "link.o: undefined";\n exit 2`;
  const replies = [background(command), { text: "The build runs." }, { text: "It failed." }];
  await withCircle({ ...YOLO, replies }, async (circle) => {
    const records = await circle.turn("build");
    const [started] = allOf(records, "job");
    const job = started.job as Json;
    const title = `${WAIT}; echo "link.o: undefined"; exit 2`;
    const { sessionId } = await circle.state();
    const output = String(job.output);
    assertEquals(started, {
      type: "job",
      event: "started",
      job: {
        id: "j1",
        kind: "shell",
        title,
        status: "running",
        reason: "",
        exitCode: null,
        startedBy: "model",
        elapsed: job.elapsed,
        output,
        sessionId,
      },
    });
    const home = circle.home.home;
    assertMatch(output.slice(home.length), /^\/jobs\/\d+-\d+-[0-9a-f]{8}\/run-\d+\.log$/);
    assert(output.startsWith(`${home}/jobs/${circle.weir.pid}-`));
    assertEquals(
      onlyOutput(records),
      `In background: j1 · shell · running · 0s · ${title} · output ${output}`,
    );
    assertEquals((await Deno.stat(output)).mode! & 0o777, 0o600);
    const folder = output.slice(0, output.lastIndexOf("/"));
    assertEquals((await Deno.stat(folder)).mode! & 0o777, 0o700);
    assertEquals((await jobs(circle)).map(({ status }) => status), ["running"]);
    const before = await circle.data({ type: "get_session_stats" });
    await letGo(circle);
    const notice = await circle.weir.settled();
    assertEquals(typesOf(notice), ["job", "turn_start", "assistant", "turn_end", "agent_settled"]);
    assertEquals(notice[1], { type: "turn_start" });
    const ended = notice[0].job as Json;
    assertEquals([ended.status, ended.reason, ended.exitCode], ["failed", "exit", 2]);
    const said = String(circle.lastRequest.messages.at(-1)!.content);
    const lines = said.trim().split("\n");
    assertEquals(lines[0], '<system-reminder data-source="circle-jobs">');
    assertMatch(lines[1], /^j1 · shell · failed, exit 2 · [\d.]+s · /);
    assert(lines[1].endsWith(`${title} · output ${output}`));
    assertEquals(lines.slice(2), ["link.o: undefined", "</system-reminder>"]);
    const after = await circle.data({ type: "get_session_stats" });
    assertEquals(after.userMessages, before.userMessages);
    assertEquals(after.totalMessages, Number(before.totalMessages) + 2);
    const stored = (await circle.messages()).at(-2)!.data as Json;
    assertEquals(stored.additional_kwargs, { circle_internal: "job_notice" });
    const native = (await circle.messages("get_native_messages")).at(-2)!;
    assertEquals(native.internal, "job_notice");
    assertMatch(String(native.display), /^◆ j1 failed, exit 2 · |^◆ j1 failed · /);
    assertEquals(await jobs(circle), [ended]);
  });
});

Deno.test("circle stop_job ends the whole process tree, answers last and starts no turn", async () => {
  const command = "trap '' TERM; sleep 600 & sleep 600; sleep 600";
  const replies = [background(command), { text: "runs" }, { text: "next" }];
  await withCircle({ ...YOLO, replies }, async (circle) => {
    await circle.turn("start");
    const from = circle.weir.records.length;
    const response = await circle.ask({ type: "stop_job", jobId: " j1 " });
    const [ended, ...rest] = circle.weir.records.slice(from);
    assertEquals(rest, [response]);
    const { job } = response.data as { job: Json };
    assertEquals(ended, { type: "job", event: "ended", job });
    assertEquals([job.status, job.reason, job.exitCode], ["stopped", "user", 130]);
    assertEquals(await circle.weir.livingProcesses(), [circle.weir.pid]);
    for (const id of ["j1", "j2"]) {
      assertEquals(await circle.error({ type: "stop_job", job_id: id }), `No running job ${id}`);
    }
    // The model hears of it in the next turn, after the user's message.
    await circle.turn("and now?");
    const [user, notice] = circle.lastRequest.messages.slice(-2);
    assertEquals(user.content, "and now?");
    assertStringIncludes(String(notice.content), "j1 · shell · stopped");
    assertEquals(allOf(circle.weir.records, "turn_start").length, 2);
  });
});

Deno.test("circle background moves a running command, which runs once", async () => {
  const command = `echo once >> ran; echo begun; ${WAIT}; echo later`;
  const replies = [calls(bash(command)), { text: "moved" }, { text: "done" }];
  await withCircle({ ...YOLO, replies }, async (circle) => {
    await circle.data({ type: "set_event_detail", detail: "full" });
    await circle.begin("go");
    await circle.weir.next("tool_output");
    await circle.data({ type: "set_event_detail", detail: "standard" });
    const from = circle.weir.records.length;
    assertEquals(await circle.data({ type: "background" }), { moved: 1 });
    await circle.weir.settled();
    const records = circle.weir.records.slice(from);
    assertEquals(typesOf(records).slice(0, 3), ["job", "response", "tool_result"]);
    assertMatch(
      String(records[2].output),
      /Command continues in background: j1 · shell · running · /,
    );
    assertEquals(records[2].status, "success");
    assertEquals(await circle.data({ type: "background" }), { moved: 0 });
    await letGo(circle);
    await circle.weir.settled();
    assertStringIncludes(lastSaid(circle), "j1 · shell · done, exit 0 · ");
    assertEquals(await circle.file("ran"), "once\n");
    const [{ output }] = await jobs(circle);
    assertEquals(await Deno.readTextFile(String(output)), "begun\nlater\n");
  });
});

Deno.test("circle command that leaves a process returns at once, and the rest is adopted", async () => {
  const replies = [calls(bash("sleep 600 & echo up; exit 3")), { text: "up" }];
  await withCircle({ ...YOLO, replies }, async (circle) => {
    const records = await circle.turn("go");
    const [{ job }] = allOf(records, "job") as unknown as { job: Json }[];
    assertEquals([job.kind, job.status], ["adopted", "running"]);
    assertMatch(
      onlyOutput(records),
      /^up\nExit code: 3\nStill running: j1 · adopted · running · .* · output \/\S+$/,
    );
    await circle.end();
    const last = circle.weir.records.slice(-2);
    const ended = last[0].job as Json;
    assertEquals([ended.id, ended.status, ended.exitCode], ["j1", "stopped", 3]);
    assertEquals(last[1], { type: "jobs_stopped", count: 0 });
    assertEquals(await circle.weir.livingProcesses(), []);
  });
});

Deno.test("circle end of input waits for a job of the model and lets it read the result", async () => {
  const replies = [background("sleep 0.25; echo built"), { text: "runs" }, {
    text: "It is built.",
  }];
  await withCircle({ ...YOLO, replies }, async (circle) => {
    await circle.send({ type: "prompt", message: "build" });
    await circle.end();
    assertEquals(circle.server.requests.length, 3);
    assertStringIncludes(lastSaid(circle), "built");
    assertEquals(allOf(circle.weir.records, "agent_settled").length, 2);
    assertEquals(circle.weir.records.at(-1), { type: "jobs_stopped", count: 0 });
  });
});

const NO_WAIT: Record<string, string>[] = [
  { WEIR_JOB_WAIT: "0" },
  { CIRCLE_JOB_WAIT: "0" },
  { WEIR_JOB_WAIT: "0", CIRCLE_JOB_WAIT: "600" },
];

for (const env of NO_WAIT) {
  Deno.test(`circle end of input stops jobs at once with ${JSON.stringify(env)}`, async () => {
    const replies = [background("sleep 600"), { text: "runs" }, { text: "next" }];
    await withCircle({ args: ["--yolo", "--session-id", "s-1"], env, replies }, async (circle) => {
      await circle.send({ type: "prompt", message: "start" });
      await circle.end();
      const [ended, stopped] = circle.weir.records.slice(-2);
      const { status, reason } = ended.job as Json;
      assertEquals([ended.event, status, reason], ["ended", "stopped", "exit"]);
      assertEquals(stopped, { type: "jobs_stopped", count: 1 });
      assertEquals(await circle.weir.livingProcesses(), []);
      // Jobs do not come back, but the model knows.
      await circle.start(["--session-id", "s-1"]);
      assertEquals(await jobs(circle), []);
      await circle.turn("what about it?");
      assertStringIncludes(lastSaid(circle), "j1 · shell · stopped");
    });
  });
}

Deno.test("circle signal stops jobs and counts them", async () => {
  const replies = [background("sleep 600"), { text: "runs" }];
  await withCircle({ ...YOLO, replies }, async (circle) => {
    await circle.turn("start");
    circle.weir.kill("SIGTERM");
    await circle.weir.waitForExit();
    await circle.end({ code: 143 });
    assertEquals(circle.weir.records.at(-1), { type: "jobs_stopped", count: 1 });
    assertEquals(await circle.weir.livingProcesses(), []);
  });
});

Deno.test("circle job that ends during a turn is told before the next model request, without an event", async () => {
  const replies = [
    calls(bash("exit 0", { background: true }), { ...bash("true"), id: "b2" }),
    { text: "all done" },
  ];
  await withCircle({
    ...YOLO,
    answer: (request, n) => {
      const told = JSON.stringify(request.messages).includes("circle-jobs");
      if (n === 1) return replies[0];
      return told ? { text: "all done" } : calls({ ...bash("sleep 0.05"), id: `b${n + 1}` });
    },
  }, async (circle) => {
    const records = await circle.turn("go");
    assertEquals(allOf(records, "turn_start").length, 1);
    assertEquals(allOf(records, "steer"), []);
    assertEquals(allOf(records, "job").map(({ event }) => event), ["started", "ended"]);
    assertEquals(records.at(-2)!.answer, "all done");
    await circle.end();
    // Once is enough: no turn follows for the same job.
    assertEquals(allOf(circle.weir.records, "agent_settled").length, 1);
  });
});

Deno.test("circle abort and new_session hold job turns until the next message", async () => {
  for (const hold of ["abort", "new_session"]) {
    const replies = [background(WAIT), { text: "runs" }, { text: "next" }];
    await withCircle({ ...YOLO, replies }, async (circle) => {
      const first = await circle.state();
      await circle.turn("start");
      await circle.ask({ type: hold });
      assertEquals((await jobs(circle)).map(({ status }) => status), ["running"], hold);
      await letGo(circle);
      await circle.weir.next(({ event }) => event === "ended");
      const records = await circle.turn("hello");
      assertEquals(typesOf(records), ["turn_start", "assistant", "turn_end", "agent_settled"]);
      const [user, notice] = circle.lastRequest.messages.slice(hold === "abort" ? -2 : -1);
      assertEquals(user.content, "hello");
      if (hold === "abort") assertStringIncludes(String(notice.content), "j1 · shell · done");
      else assertEquals(lastSaid(circle).includes("circle-jobs"), false);
      const [job] = await jobs(circle);
      assertEquals([job.status, job.sessionId], ["done", first.sessionId]);
    });
  }
});

Deno.test("circle jobs have limits that their calls report", async () => {
  const many = Array.from({ length: 17 }, (_, n) => ({
    ...bash("sleep 600", { background: true }),
    id: `b${n}`,
  }));
  const wrong = [
    { ...bash("true", { timeout: 0 }), id: "w1" },
    { ...bash("true", { timeout: 601 }), id: "w2" },
    { ...bash("true", { background: true, timeout: 86401 }), id: "w3" },
  ];
  const replies = [calls(...many), { text: "ok" }, calls(...wrong), { text: "ok" }];
  await withCircle({ ...YOLO, env: { WEIR_JOB_WAIT: "0" }, replies }, async (circle) => {
    const results = allOf(await circle.turn("go"), "tool_result");
    assertEquals(results.filter(({ status }) => status === "success").length, 16);
    assertEquals([results[16].status, results[16].output], [
      "error",
      "16 background jobs are already running",
    ]);
    assertEquals(
      (await jobs(circle)).map(({ id }) => id),
      many.slice(0, 16).map((_, n) => `j${n + 1}`),
    );
    const refused = allOf(await circle.turn("again"), "tool_result");
    const outputs = refused.map(({ status, output }) => `${status} ${output}`);
    const foreground = "foreground timeout must be positive and at most 600 seconds";
    for (
      const [index, text] of [
        foreground,
        foreground,
        "background timeout must be between 0 and 86400 seconds",
      ].entries()
    ) {
      assertStringIncludes(outputs[index], text);
      assert(outputs[index].startsWith("error "));
    }
    await circle.end();
    assertEquals(circle.weir.records.at(-1), { type: "jobs_stopped", count: 16 });
  });
});

Deno.test("circle job ends by its timeout or its output limit", async () => {
  const replies = [
    calls(
      { ...bash("sleep 600", { background: true, timeout: 0.1 }), id: "b1" },
      { ...bash("yes | head -c 3000000; sleep 600", { background: true }), id: "b2" },
    ),
    { text: "ok" },
  ];
  const env = { CIRCLE_JOB_OUTPUT_LIMIT_MB: "1", WEIR_JOB_WAIT: "0" };
  await withCircle({ ...YOLO, env, replies, answer: () => ({ text: "ok" }) }, async (circle) => {
    await circle.begin("go");
    const ended = [
      await circle.weir.next(({ event }) => event === "ended"),
      await circle.weir.next(({ event }) => event === "ended"),
    ].map(({ job }) => job as Json).sort((a, b) => String(a.id) < String(b.id) ? -1 : 1);
    assertEquals(ended.map(({ status, reason }) => [status, reason]), [
      ["failed", "timeout"],
      ["failed", "output limit"],
    ]);
  });
});

Deno.test("circle foreground sleep ends early when a job ends", async () => {
  const replies = [
    background(WAIT),
    calls({ ...bash("sleep 100"), id: "s" }),
    { text: "ok" },
  ];
  await withCircle({ ...YOLO, replies }, async (circle) => {
    await circle.begin("go");
    await circle.request(2);
    await circle.weir.next(({ type, tool_calls }) =>
      type === "assistant" && (tool_calls as Json[])[0]?.id === "s"
    );
    await letGo(circle);
    const records = await circle.weir.settled();
    const result = records.find(({ id }) => id === "s")!;
    assertEquals([result.status, result.output], ["success", "Exit code: 0"]);
  });
});

Deno.test("circle model lists and stops its jobs", async () => {
  const replies = [
    background("sleep 600"),
    calls({ id: "l", name: "list_jobs", args: {} }),
    calls({ id: "s", name: "stop_job", args: { job_id: "j1" } }),
    calls({ id: "t", name: "stop_job", args: { job_id: "j9" } }),
    { text: "ok" },
  ];
  await withCircle({ ...YOLO, replies }, async (circle) => {
    const records = await circle.turn("go");
    const results = allOf(records, "tool_result");
    assertStringIncludes(String(results[1].output), "j1 · shell · running · ");
    assertEquals(results[2].status, "success");
    const ended = allOf(records, "job").at(-1)!.job as Json;
    assertEquals([ended.status, ended.reason], ["stopped", "model"]);
    assertEquals([results[3].status, results[3].output], ["error", "No running job j9"]);
  });
});
