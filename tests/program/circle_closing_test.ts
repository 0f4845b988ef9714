/** What a circle RPC process with jobs still does when its input closes, when it gets a signal, and when its client goes away. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { startWeir } from "../fakes/weir_process.ts";
import {
  backgroundCall,
  jobOf,
  makeFile,
  noticesIn,
  outline,
  untilFile,
  untilLog,
} from "./_jobs.ts";
import { allOf, calls, type Circle, saidIn, withCircle } from "./_with_circle.ts";

const YOLO = ["--yolo"];

/** What was told of jobs, as `ended j1 stopped exit`. */
function jobHistory(circle: Circle): string[] {
  return allOf(circle.weir.records, "job").filter(({ event }) => event !== "updated")
    .map((record) => {
      const { id, status, reason } = jobOf(record);
      return `${record.event} ${id} ${status} ${reason}`.trim();
    });
}

Deno.test("circle end of input stops adopted jobs at once and waits for those of the model", async () => {
  const replies = [
    calls(
      { id: "c1", name: "bash", args: { command: "sleep 300 & echo up" } },
      backgroundCall("b1", untilFile("go", "echo built")),
    ),
    { text: "both" },
    calls({ id: "c2", name: "bash", args: { command: "sleep 300 & echo up again" } }),
    { text: "done" },
  ];
  await withCircle({ args: YOLO, replies }, async (circle) => {
    await circle.turn("go");
    await circle.weir.closeInput();
    await circle.weir.next(({ event }) => event === "ended");
    await makeFile(circle, "go");
    // What the command of the last turn left running is not waited for.
    await circle.end();
    assertEquals(jobHistory(circle), [
      "started j1 running",
      "started j2 running",
      "ended j1 stopped exit",
      "ended j2 done exit",
      "started j3 running",
      "ended j3 stopped exit",
    ]);
    assertMatch(
      saidIn(circle.server.requests[2]).at(-1)!,
      /\nj1 · adopted · stopped, exit 0 · [^]*\nup\nj2 · shell · done, exit 0 · [^]*\nbuilt\n/,
    );
    assertEquals(circle.weir.records.at(-1), { type: "jobs_stopped", count: 1 });
    assertEquals(await circle.weir.livingProcesses(), []);
  });
});

Deno.test("circle end of input lets ten turns for jobs follow each other, those before included", async () => {
  let round = 0;
  const answer = (request: { messages: Record<string, unknown>[] }) => {
    if (request.messages.at(-1)!.role === "tool") return { text: `round ${round}` };
    return calls(backgroundCall(`b${++round}`, untilFile(`go${round}`)));
  };
  await withCircle({ args: ["--yolo", "--session-id", "ten"], answer }, async (circle) => {
    await circle.turn("go");
    await makeFile(circle, "go1");
    await circle.weir.settled();
    await circle.weir.closeInput();
    for (let n = 2; n <= 10; n++) {
      await makeFile(circle, `go${n}`);
      await circle.weir.settled();
    }
    await circle.end();
    const starts = allOf(circle.weir.records, "turn_start");
    assertEquals(starts.map(({ message }) => message), ["go", ...Array(10).fill(undefined)]);
    assertEquals(outline(circle.weir.records.slice(-2)), ["job ended j11", "jobs_stopped"]);
    assertEquals(circle.weir.records.at(-1), { type: "jobs_stopped", count: 1 });
    await circle.start(["--session-id", "ten"]);
    assertEquals(noticesIn(await circle.messages()).length, 11);
  });
});

Deno.test("circle end of input waits WEIR_JOB_WAIT seconds", async () => {
  const replies = [calls(backgroundCall("b1", "sleep 300")), { text: "runs" }];
  const env = { WEIR_JOB_WAIT: "0.3", CIRCLE_JOB_WAIT: "900" };
  await withCircle({ args: YOLO, replies, env }, async (circle) => {
    await circle.turn("go");
    await circle.end();
    const { elapsed } = jobOf(circle.weir.records.at(-2)!);
    assert(Number(elapsed) >= 0.3, `ended after ${elapsed} s`);
    assertEquals(jobHistory(circle).at(-1), "ended j1 stopped exit");
  });
});

Deno.test("circle end of input waits for nothing while turns for jobs are held", async () => {
  const replies = [calls(backgroundCall("b1", "sleep 300")), { text: "runs" }];
  await withCircle({ args: YOLO, replies }, async (circle) => {
    await circle.turn("go");
    await circle.ask({ type: "abort" });
    await circle.end();
    assertEquals(circle.weir.records.at(-1), { type: "jobs_stopped", count: 1 });
  });
});

Deno.test("circle end of input ends with a turn for jobs that fails, and exits with 0", async () => {
  const replies = [
    calls(backgroundCall("b1", untilFile("go")), backgroundCall("b2", "sleep 300")),
    { text: "runs" },
    { status: 401, body: { error: { message: "no such key" } } },
  ];
  await withCircle({ args: YOLO, replies }, async (circle) => {
    await circle.turn("go");
    await circle.weir.closeInput();
    await makeFile(circle, "go");
    await circle.end();
    assertEquals(outline(circle.weir.records.slice(-6)), [
      "job ended j1",
      "turn_start of jobs",
      "error",
      "agent_settled",
      "job ended j2",
      "jobs_stopped",
    ]);
  });
});

Deno.test("circle end of input finishes the turn and its follow-ups before anything is stopped", async () => {
  const gate = Promise.withResolvers<void>();
  const replies = [
    calls({ id: "c1", name: "bash", args: { command: "sleep 300 & echo up" } }),
    { text: "one", gate: gate.promise },
    { text: "two" },
  ];
  await withCircle({ args: YOLO, replies }, async (circle) => {
    await circle.begin("go");
    await circle.data({ type: "follow_up", message: "then" });
    await circle.request(2);
    await circle.weir.closeInput();
    gate.resolve();
    await circle.end();
    assertEquals(
      outline(circle.weir.records.slice(-8)),
      [
        "turn_end",
        "turn_start",
        "assistant",
        "turn_end",
        "agent_settled",
        "job ended j1",
        "jobs_stopped",
      ].toSpliced(0, 0, "assistant"),
    );
    assertEquals(circle.weir.records.at(-1), { type: "jobs_stopped", count: 0 });
  });
});

Deno.test("circle jobs of an earlier conversation are stopped without a wait, and it is told of them", async () => {
  const replies = [
    calls(backgroundCall("b1", "trap 'echo bye; exit' TERM; echo begun; sleep 300 & wait")),
    { text: "runs" },
    { text: "other" },
  ];
  await withCircle({ args: ["--yolo", "--session-id", "first"], replies }, async (circle) => {
    const [started] = allOf(await circle.turn("go"), "job");
    await untilLog(jobOf(started), "begun");
    await circle.data({ type: "new_session" });
    await circle.turn("hello");
    await circle.end();
    assertEquals(circle.weir.records.at(-1), { type: "jobs_stopped", count: 1 });
    assertEquals(await circle.weir.livingProcesses(), []);
    await circle.start(["--session-id", "first"]);
    const [text] = noticesIn(await circle.messages());
    assertMatch(text, /\nj1 · shell · stopped, exit 130 · [^]*\nbegun\nbye\n/);
  });
});

Deno.test("circle signal ends the wait for jobs", async () => {
  for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
    const replies = [
      calls(
        { id: "c1", name: "bash", args: { command: "sleep 300 & echo up" } },
        backgroundCall("b1", "sleep 300"),
      ),
      { text: "runs" },
    ];
    await withCircle({ args: ["--yolo", "--session-id", "s-1"], replies }, async (circle) => {
      await circle.turn("go");
      await circle.weir.closeInput();
      await circle.weir.next("job");
      circle.weir.kill(signal);
      await circle.weir.waitForExit();
      await circle.end({ code });
      assertEquals(outline(circle.weir.records.slice(-3)), [
        "job ended j1",
        "job ended j2",
        "jobs_stopped",
      ]);
      assertEquals(circle.weir.records.at(-1), { type: "jobs_stopped", count: 1 });
      assertEquals(await circle.weir.livingProcesses(), []);
      await circle.start(["--session-id", "s-1"]);
      const [text] = noticesIn(await circle.messages());
      assertMatch(text, /\nj1 · adopted · stopped[^]*\nj2 · shell · stopped, exit 130 · /);
    });
  }
});

Deno.test("circle signal stops the turn, its command and the jobs, in this order", async () => {
  const replies = [
    calls(
      backgroundCall("b1", "sleep 300"),
      { id: "c1", name: "bash", args: { command: "touch begun; sleep 301" } },
    ),
  ];
  await withCircle({ args: YOLO, replies }, async (circle) => {
    await circle.data({ type: "set_event_detail", detail: "full" });
    await circle.begin("go");
    await circle.weir.next(({ type, id }) => type === "tool_start" && id === "c1");
    circle.weir.kill("SIGINT");
    await circle.weir.waitForExit();
    await circle.end({ code: 130 });
    assertEquals(outline(circle.weir.records.slice(-5)), [
      "tool_result c1",
      "turn_end aborted",
      "agent_settled",
      "job ended j1",
      "jobs_stopped",
    ]);
    assertEquals(circle.weir.records.at(-1), { type: "jobs_stopped", count: 1 });
    assertEquals(await circle.weir.livingProcesses(), []);
  });
});

Deno.test("circle second signal kills jobs that will not end", async () => {
  const command = "trap '' TERM; touch begun; while :; do sleep 1; done";
  const replies = [calls(backgroundCall("b1", command)), { text: "runs" }];
  await withCircle({ args: YOLO, replies }, async (circle) => {
    await circle.turn("go");
    circle.weir.kill("SIGTERM");
    circle.weir.kill("SIGHUP");
    const { code } = await circle.weir.waitForExit();
    assert(code === 129 || code === 143, `exit ${code}`);
    await circle.end({ code, state: "midway" });
    // Killed they are, but the system may take a moment to end them.
    for (let tries = 0; (await circle.weir.livingProcesses()).length > 0; tries++) {
      assert(tries < 1000, "a process of the job lives on");
    }
  });
});

Deno.test("circle client that goes away ends the jobs, and the conversation knows", async () => {
  await using server = startModelServer();
  const subagent = { description: "look", prompt: "look around", background: true };
  server.reply(
    calls(backgroundCall("b1", "sleep 300"), { id: "t1", name: "task", args: subagent }),
  );
  server.answer(({ messages }) =>
    messages.at(-1)!.role === "tool" ? { text: "runs" } : { text: "late", delayMs: 60_000 }
  );
  await using home = await prepareHome({ server });
  const args = ["--mode", "rpc", "--yolo", "--session-id", "gone", home.workspace];
  await using weir = await startWeir({ args, home: home.home });
  await weir.send({ type: "prompt", message: "go" });
  await weir.settled();
  await weir.closeOutput();
  // The answers cannot be written; the first may still go to a read that was under way.
  let isOver = false;
  void weir.exit.then(() => isOver = true);
  for (let i = 0; i < 100 && !isOver; i++) {
    await weir.send({ type: "get_state" }).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assertEquals((await weir.waitForExit()).signal, null);
  assertEquals(await weir.livingProcesses(), []);

  await using again = await startWeir({ args, home: home.home });
  const { data } = await again.request({ type: "get_messages" });
  const [text] = noticesIn((data as { messages: Record<string, unknown>[] }).messages);
  assertMatch(text, /\nj\d · (shell|agent) · stopped[^]*\nj\d · (shell|agent) · stopped/);
});
