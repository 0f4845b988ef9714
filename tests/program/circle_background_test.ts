/** How commands of a circle RPC process become background jobs, what is told of them, and how they are stopped. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  backgroundCall,
  factsOf,
  jobEvent,
  jobOf,
  makeFile,
  outline,
  untilFile,
  untilLog,
} from "./_jobs.ts";
import { allOf, calls, type Circle, onlyOutput, saidIn, withCircle } from "./_with_circle.ts";

const YOLO = ["--yolo"];
const SHELL = {
  id: "j1",
  kind: "shell",
  status: "running",
  reason: "",
  exitCode: null,
  startedBy: "model",
};

/** The jobs of `list_jobs`. */
async function listJobs(circle: Circle, type = "list_jobs"): Promise<Record<string, unknown>[]> {
  return (await circle.data({ type })).jobs as Record<string, unknown>[];
}

Deno.test("circle job has a record with a private log that the model may read", async () => {
  const command = `printf 'a  b\\n'; echo oops >&2; ${untilFile("go")}`;
  const replies = [calls(backgroundCall("b1", command)), { text: "runs" }];
  await withCircle({ args: YOLO, replies }, async (circle) => {
    const records = await circle.turn("go");
    assertEquals(outline(records), [
      "turn_start",
      "assistant",
      "job started j1",
      "tool_result b1",
      "assistant",
      "turn_end",
      "agent_settled",
    ]);
    const job = jobOf(records[2]);
    const title = command.replaceAll("  ", " ");
    assertEquals(factsOf(job), { ...SHELL, title });
    assertEquals(job.sessionId, (await circle.state()).sessionId);
    const output = String(job.output);
    const { home } = circle.home;
    assert(output.startsWith(`${home}/jobs/${circle.weir.pid}-`), output);
    assertMatch(output.slice(home.length), /^\/jobs\/\d+-\d{13}-[0-9a-f]{8}\/run-\d+\.log$/);
    const folder = output.slice(0, output.lastIndexOf("/"));
    assertEquals((await Deno.stat(folder)).mode! & 0o777, 0o700);
    assertEquals((await Deno.stat(output)).mode! & 0o777, 0o600);
    assertEquals(
      onlyOutput(records),
      `In background: j1 · shell · running · 0s · ${title} · output ${output}`,
    );
    const [listed] = await listJobs(circle, "get_jobs");
    assertEquals(factsOf(listed), { ...SHELL, title });

    await untilLog(job, "oops");
    circle.server.reply(
      calls({ id: "r1", name: "read", args: { path: output } }),
      { text: "read it" },
    );
    assertEquals(onlyOutput(await circle.turn("look")), "a  b\noops\n");
    await circle.data({ type: "stop_job", jobId: "j1" });
  });
});

Deno.test("circle stop_job tells the end first, leaves nothing running and starts no turn", async () => {
  const command = "trap '' TERM; sleep 300 & (sleep 300 & sleep 300) & while :; do sleep 1; done";
  const replies = [calls(backgroundCall("b1", command)), { text: "runs" }, { text: "again" }];
  await withCircle({ args: YOLO, replies }, async (circle) => {
    await circle.turn("go");
    assertEquals(await circle.error({ type: "stop_job" }), "jobId is required");
    assertEquals(await circle.error({ type: "stop_job", jobId: "  " }), "jobId is required");
    assertEquals(await circle.error({ type: "stop_job", jobId: 1 }), "jobId is required");
    assertEquals(await circle.error({ type: "stop_job", jobId: "j2" }), "No running job j2");
    const from = circle.weir.records.length;
    const response = await circle.ask({ type: "stop_job", job_id: " j1 " });
    assertEquals(await circle.weir.livingProcesses(), [circle.weir.pid]);
    const stopped = { ...SHELL, title: command, status: "stopped", reason: "user", exitCode: 130 };
    assertEquals(factsOf(jobOf(response)), stopped);
    assertEquals(outline(circle.weir.records.slice(from)), ["job ended j1", "response stop_job"]);
    assertEquals(jobOf(circle.weir.records[from]), jobOf(response));
    assertEquals(await circle.error({ type: "stop_job", jobId: "j1" }), "No running job j1");
    await circle.turn("next");
    assertStringIncludes(
      saidIn(circle.lastRequest).at(-1)!,
      "j1 · shell · stopped, exit 130 (user)",
    );
  });
});

Deno.test("circle list_jobs has running jobs first, then those that ended, each by start", async () => {
  const replies = [
    calls(
      backgroundCall("a", "true"),
      backgroundCall("b", untilFile("go")),
      backgroundCall("c", "exit 3"),
      backgroundCall("d", untilFile("go")),
    ),
    { text: "four" },
  ];
  await withCircle({ args: YOLO, replies, answer: () => ({ text: "well" }) }, async (circle) => {
    await circle.send({ type: "prompt", message: "go" });
    const ended = (id: string) =>
      circle.weir.records.some((record) =>
        record.type === "job" && record.event === "ended" && jobOf(record).id === id
      );
    await circle.weir.next(() => ended("j1") && ended("j3"));
    assertEquals(
      (await listJobs(circle)).map(({ id, status, reason, exitCode }) =>
        `${id} ${status} ${reason} ${exitCode}`
      ),
      ["j2 running  null", "j4 running  null", "j1 done exit 0", "j3 failed exit 3"],
    );
    await circle.data({ type: "stop_job", jobId: "j2" });
    await circle.data({ type: "stop_job", jobId: "j4" });
    await circle.ask({ type: "abort" });
  });
});

Deno.test("circle model stops a job, is told how its own calls of it went, and cannot stop it twice", async () => {
  const replies = [
    calls(backgroundCall("b1", "sleep 300")),
    calls(
      { id: "l1", name: "list_jobs", args: {} },
      { id: "s1", name: "stop_job", args: { job_id: "j1" } },
      { id: "s2", name: "stop_job", args: { job_id: "j1" } },
    ),
    { text: "stopped" },
  ];
  await withCircle({ args: YOLO, replies }, async (circle) => {
    const records = await circle.turn("go");
    assertEquals(outline(records).slice(4, 9), [
      "assistant",
      "tool_result l1",
      "job ended j1",
      "tool_result s1",
      "tool_result s2",
    ]);
    const [, list, first, second] = allOf(records, "tool_result");
    assertMatch(String(list.output), /^j1 · shell · running · [0-9.]+s · sleep 300 · output \/.*$/);
    assertMatch(
      String(first.output),
      /^j1 · shell · stopped, exit 130 \(model\) · [0-9.]+s · sleep 300 · output \/.*$/,
    );
    assertEquals([first.status, second.status], ["success", "error"]);
    assertEquals(second.output, "No running job j1");
    assertEquals(await circle.weir.livingProcesses(), [circle.weir.pid]);
  });
});

Deno.test("circle job ends at its timeout, at its output limit, and by a signal of its own", async () => {
  const replies = [
    calls(
      backgroundCall("t", "sleep 300", { timeout: 0.2 }),
      backgroundCall("o", "yes"),
      backgroundCall("k", "kill -9 $$"),
      backgroundCall("z", untilFile("go"), { timeout: 0 }),
      backgroundCall("low", "true", { timeout: -1 }),
      backgroundCall("high", "true", { timeout: 86_401 }),
      { id: "fg", name: "bash", args: { command: "yes; true" } },
      { id: "ft", name: "bash", args: { command: "echo a; sleep 300", timeout: 0.2 } },
      { id: "f0", name: "bash", args: { command: "true", timeout: 0 } },
      { id: "f601", name: "bash", args: { command: "true", timeout: 601 } },
    ),
  ];
  const env = { WEIR_JOB_OUTPUT_LIMIT_MB: "1", CIRCLE_JOB_OUTPUT_LIMIT_MB: "900" };
  const answer = () => ({ text: "well" });
  await withCircle({ args: YOLO, env, replies, answer }, async (circle) => {
    const records = await circle.turn("go");
    const isEnded = (job: Record<string, unknown>) => job.status !== "running";
    const endedIds = () =>
      new Set(allOf(circle.weir.records, "job").map(jobOf).filter(isEnded).map(({ id }) => id));
    if (endedIds().size < 3) await circle.weir.next(() => endedIds().size === 3);
    await circle.ask({ type: "abort" });
    assertEquals(
      (await listJobs(circle)).map(({ id, status, reason, exitCode }) =>
        `${id} ${status} ${reason} ${exitCode}`
      ),
      [
        "j4 running  null",
        "j1 failed timeout 130",
        "j2 failed output limit 130",
        "j3 failed exit 130",
      ],
    );
    assertEquals((await Deno.stat(String((await listJobs(circle))[2].output))).size, 1 << 20);
    await circle.data({ type: "stop_job", jobId: "j4" });
    const results = new Map(allOf(records, "tool_result").map((result) => [result.id, result]));
    const background = "background timeout must be between 0 and 86400 seconds";
    const foreground = "foreground timeout must be positive and at most 600 seconds";
    for (
      const [id, output] of [
        ["low", background],
        ["high", background],
        ["f0", foreground],
        ["f601", foreground],
      ]
    ) assertEquals([results.get(id)?.status, results.get(id)?.output], ["error", output]);
    assertMatch(String(results.get("ft")!.output), /^a\nCommand ended: timeout\nExit code: \d+$/);
    assertEquals(results.get("ft")!.status, "error");
    const limited = String(results.get("fg")!.output);
    assertMatch(limited, /^\[[^\n]*\/run-\d+\.log\]\ny\n/);
    assertMatch(limited, /\ny\nCommand ended: output limit\nExit code: \d+$/);
    assertEquals(await circle.weir.livingProcesses(), [circle.weir.pid]);
  });
});

Deno.test("circle runs 16 background commands and refuses one more", async () => {
  const many = Array.from({ length: 17 }, (_, i) => backgroundCall(`b${i + 1}`, "sleep 300"));
  const replies = [calls(...many), { text: "full" }];
  await withCircle({ args: YOLO, replies, env: { WEIR_JOB_WAIT: "0" } }, async (circle) => {
    const records = await circle.turn("go");
    const results = allOf(records, "tool_result");
    assertEquals(results.map(({ status }) => status), [...Array(16).fill("success"), "error"]);
    assertEquals(results[16].output, "16 background jobs are already running");
    assertEquals((await listJobs(circle)).length, 16);
    await circle.end();
    assertEquals(circle.weir.records.at(-1), { type: "jobs_stopped", count: 16 });
    assertEquals(await circle.weir.livingProcesses(), []);
  });
});

Deno.test("circle background moves the running command, which goes on as the same process", async () => {
  const command = `echo begun >> ran; echo one; ${untilFile("go", "echo two; exit 4")}`;
  const replies = [calls({ id: "c1", name: "bash", args: { command } }), { text: "moved" }];
  await withCircle({ args: YOLO, replies }, async (circle) => {
    assertEquals(await circle.data({ type: "background" }), { moved: 0 });
    await circle.data({ type: "set_event_detail", detail: "full" });
    await circle.begin("go");
    await circle.weir.next("tool_output");
    await circle.data({ type: "set_event_detail", detail: "standard" });
    const from = circle.weir.records.length;
    const response = await circle.ask({ type: "background" });
    assertEquals(response.data, { moved: 1 });
    await circle.weir.settled();
    const records = circle.weir.records.slice(from);
    assertEquals(outline(records), [
      "job started j1",
      "response background",
      "tool_result c1",
      "assistant",
      "turn_end",
      "agent_settled",
    ]);
    const job = jobOf(records[0]);
    assertEquals(factsOf(job), { ...SHELL, title: command });
    assertEquals(allOf(records, "tool_result")[0].status, "success");
    assertEquals(
      onlyOutput(records),
      `Command continues in background: j1 · shell · running · 0s · ${command} · output ${job.output}`,
    );
    circle.server.reply({ text: "done" });
    await makeFile(circle, "go");
    assertEquals(jobOf(await jobEvent(circle, "ended", "j1")).exitCode, 4);
    await circle.weir.settled();
    assertEquals(await Deno.readTextFile(String(job.output)), "one\ntwo\n");
    assertEquals(await circle.file("ran"), "begun\n");
  });
});

Deno.test("circle background moves the commands of subagents too, each before the response", async () => {
  const task = (id: string) => ({
    id,
    name: "task",
    args: { description: id, prompt: `run ${id}` },
  });
  const answer = ({ messages }: { messages: Record<string, unknown>[] }) => {
    const said = messages.filter(({ role }) => role !== "system").map(({ content }) => content);
    const started = /^run (\w+)$/.exec(String(said[0]))?.[1];
    if (started === undefined) {
      return said.length === 1 ? calls(task("t1"), task("t2"), task("t3")) : { text: "all" };
    }
    if (said.length > 1) return { text: `${started} answers` };
    return calls({ name: "bash", args: { command: `touch in-${started}; ${untilFile("go")}` } });
  };
  await withCircle({ args: YOLO, answer }, async (circle) => {
    await circle.begin("go");
    for (const id of ["t1", "t2", "t3"]) {
      await circle.weir.next(({ event, name }) => event === "tool_start" && name === "bash");
      assert(id);
    }
    const from = circle.weir.records.length;
    const response = await circle.ask({ type: "background" });
    assertEquals(response.data, { moved: 3 });
    await circle.weir.settled();
    assertEquals(outline(circle.weir.records.slice(from)).slice(0, 5), [
      "job started j1",
      "job started j2",
      "job started j3",
      "response background",
      "subagent tool_result",
    ]);
    assertEquals(
      (await listJobs(circle)).map(({ status, reason }) => `${status} ${reason}`),
      Array(3).fill("stopped parent ended"),
    );
    assertEquals(await circle.weir.livingProcesses(), [circle.weir.pid]);
  });
});

Deno.test("circle adopts what a command leaves running and returns at once", async () => {
  const replies = [
    calls({ id: "c1", name: "bash", args: { command: "sleep 300 & echo up; exit 3" } }),
    { text: "up" },
  ];
  await withCircle({ args: YOLO, replies }, async (circle) => {
    const records = await circle.turn("serve");
    assertEquals(outline(records).slice(2, 4), ["job started j1", "tool_result c1"]);
    const job = jobOf(records[2]);
    const title = "sleep 300 & echo up; exit 3";
    assertEquals(factsOf(job), { ...SHELL, kind: "adopted", title });
    const line = `j1 · adopted · running · 0s · ${title} · output ${job.output}`;
    assertEquals(onlyOutput(records), `up\nExit code: 3\nStill running: ${line}`);
    const stopped = await circle.ask({ type: "stop_job", jobId: "j1" });
    assertEquals(
      factsOf(jobOf(stopped)),
      { ...SHELL, kind: "adopted", title, status: "stopped", reason: "user", exitCode: 3 },
    );
    assertEquals(await circle.weir.livingProcesses(), [circle.weir.pid]);
  });
});

Deno.test("circle command that only sleeps ends when a job does", async () => {
  const replies = [
    calls(
      backgroundCall("b1", untilFile("go", "echo built")),
      { id: "s1", name: "bash", args: { command: "sleep 300" } },
    ),
    { text: "built" },
  ];
  await withCircle({ args: YOLO, replies }, async (circle) => {
    await circle.begin("wait for it");
    await circle.weir.next("tool_result");
    await makeFile(circle, "go");
    const records = await circle.weir.settled();
    assertEquals(outline(records).slice(0, 2), ["job ended j1", "tool_result s1"]);
    assertEquals([records[1].status, records[1].output], ["success", "Exit code: 0"]);
    assertMatch(saidIn(circle.lastRequest).at(-1)!, /\bj1 · shell · done, exit 0 .*\nbuilt\n/);
  });
});

Deno.test("circle without sessions keeps logs outside the home and removes them at the end", async () => {
  const replies = [calls(backgroundCall("b1", "echo x; sleep 300")), { text: "runs" }];
  const args = ["--yolo", "--no-session"];
  await withCircle({ args, replies, env: { WEIR_JOB_WAIT: "0" } }, async (circle) => {
    const output = String(jobOf(allOf(await circle.turn("go"), "job")[0]).output);
    assert(!output.startsWith(circle.home.home), output);
    assert((await Deno.stat(output)).isFile);
    await circle.end();
    const folder = output.slice(0, output.lastIndexOf("/"));
    assertEquals(await Deno.stat(folder).catch(() => "gone"), "gone");
    const left = [...Deno.readDirSync(circle.home.home)].map(({ name }) => name).sort();
    assertEquals(left, ["config.jsonc", "trust.json"]);
  });
});
