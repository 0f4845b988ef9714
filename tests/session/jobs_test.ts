import { assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { RequestError } from "../../src/errors.ts";
import type { JobRecord } from "../../src/session/job_record.ts";
import { type EndedJob, jobLine, Jobs } from "../../src/session/jobs.ts";
import { FakeCommand } from "./_fake_command.ts";

const OWNER = { sessionId: "s", subagent: undefined };
const SHELL = { kind: "shell", timeoutMs: undefined } as const;

class Bench {
  /** `started j1`, and so on. */
  readonly changes: string[] = [];
  readonly ended: EndedJob[] = [];
  readonly jobs = new Jobs({
    onChange: (change, { id }) => this.changes.push(`${change} ${id}`),
    onEnd: (job) => this.ended.push(job),
  });
  readonly tools = this.jobs.forOwner(OWNER);

  async add(
    options: Partial<Parameters<typeof this.tools.add>[1]> = {},
    command = new FakeCommand(),
  ): Promise<FakeCommand> {
    await this.tools.add(command, { ...SHELL, ...options });
    return command;
  }

  agent(title = "general: look") {
    const answer = Promise.withResolvers<string>();
    const stop = () => {
      answer.reject(new Error("stopped"));
      return Promise.resolve();
    };
    const job = this.jobs.addAgent({ title, logPath: "/log", answer: answer.promise, stop }, OWNER);
    return { ...answer, ...job };
  }

  /** Resolves when `count` jobs have ended. */
  async untilEnded(count: number): Promise<void> {
    while (this.ended.length < count) {
      await this.jobs.nextEnd(() => true, new AbortController().signal);
    }
  }
}

function summary({ id, status, reason, exitCode }: JobRecord): string {
  return `${id} ${status} ${reason} ${exitCode}`.replace(/ +/g, " ");
}

Deno.test("Jobs lists running jobs first, then the others, each by start", async () => {
  const bench = new Bench();
  const [a, , c] = [await bench.add(), await bench.add(), await bench.add(), await bench.add()];
  c.finish({ code: 3 });
  await bench.untilEnded(1);
  a.finish();
  await bench.untilEnded(2);
  assertEquals(bench.jobs.list().map(summary), [
    "j2 running null",
    "j4 running null",
    "j1 done exit 0",
    "j3 failed exit 3",
  ]);
  assertEquals(bench.changes.slice(-2), ["ended j3", "ended j1"]);
});

Deno.test("Jobs refuses a 17th shell job, also while others are being started", async () => {
  const bench = new Bench();
  const gate = Promise.withResolvers<void>();
  const adding = Array.from({ length: 16 }, () => {
    assertEquals(bench.tools.refusal(), undefined);
    const command = new FakeCommand();
    command.logGate = gate.promise;
    return bench.add({}, command);
  });
  assertEquals(bench.tools.refusal(), "16 background jobs are already running");
  gate.resolve();
  const [first] = await Promise.all(adding);
  assertEquals(bench.tools.refusal(), "16 background jobs are already running");
  // Adopted commands are never refused, but count.
  await bench.add({ kind: "adopted" });
  first.finish();
  await bench.untilEnded(1);
  assertEquals(bench.tools.refusal(), "16 background jobs are already running");
  await bench.jobs.stop("j17", "user");
  assertEquals(bench.tools.refusal(), undefined);
});

Deno.test("Jobs does not count a command whose log cannot be opened", async () => {
  const bench = new Bench();
  const command = new FakeCommand();
  command.logGate = Promise.reject(new Error("disk full"));
  await assertRejects(() => bench.add({}, command), Error, "disk full");
  assertEquals(bench.jobs.list(), []);
  for (let n = 0; n < 15; n++) await bench.add();
  assertEquals(bench.tools.refusal(), undefined);
});

Deno.test("Jobs keeps room for four agents", () => {
  const bench = new Bench();
  const text = "4 background subagents are already running";
  const rooms = Array.from({ length: 4 }, () => bench.jobs.reserveAgent() as Disposable);
  assertEquals(bench.jobs.reserveAgent(), text);
  for (const room of rooms) room[Symbol.dispose]();
  const agents = Array.from({ length: 4 }, () => bench.agent());
  assertEquals(bench.jobs.reserveAgent(), text);
  for (const agent of agents) agent.resolve("");
});

Deno.test("Jobs tells an agent's answer, its failure and its steps", async () => {
  const bench = new Bench();
  const [good, bad] = [bench.agent(), bench.agent("explore:  much\n more")];
  good.updated();
  good.resolve("the answer");
  await bench.untilEnded(1);
  good.updated();
  bad.reject(new Error("no such key"));
  await bench.untilEnded(2);
  assertEquals(bench.changes, ["started j1", "started j2", "updated j1", "ended j1", "ended j2"]);
  assertEquals(bench.ended.map(({ record, output }) => [summary(record), output]), [
    ["j1 done exit null", "the answer"],
    ["j2 failed agent error null", "no such key"],
  ]);
  assertEquals(bench.ended[1]!.record.title, "explore: much more");
});

Deno.test("Jobs stop() ends a job for the first cause; an ended one is unknown", async () => {
  const bench = new Bench();
  const command = await bench.add();
  const both = await Promise.all([bench.jobs.stop("j1", "user"), bench.jobs.stop("j1", "model")]);
  assertEquals(both.map(summary), Array(2).fill("j1 stopped user 130"));
  assertEquals(bench.changes, ["started j1", "ended j1"]);
  for (const id of ["j1", "j2", ""]) {
    await assertRejects(() => bench.jobs.stop(id, "user"), RequestError, `No running job ${id}`);
  }
  assertEquals(command.stops > 0, true);
});

Deno.test("Jobs stopAll() ends those that are meant and counts them", async () => {
  const bench = new Bench();
  await bench.add();
  const adopted = await bench.add({ kind: "adopted" });
  adopted.finish({ code: 5, leftRunning: true });
  const agent = bench.agent();
  assertEquals(await bench.jobs.stopAll("exit", ({ kind }) => kind === "adopted"), 1);
  assertEquals(await bench.jobs.stopAll("parent ended"), 2);
  assertEquals(await bench.jobs.stopAll("exit"), 0);
  assertEquals(bench.jobs.list().map(summary), [
    "j1 stopped parent ended 130",
    "j2 stopped exit 5",
    "j3 stopped parent ended null",
  ]);
  await assertRejects(() => agent.promise);
});

Deno.test("Jobs says why a command failed", async () => {
  const bench = new Bench();
  const commands = [await bench.add(), await bench.add(), await bench.add()];
  commands[0].end({ kind: "output limit", code: 143 });
  commands[1].end({ kind: "output unavailable", problem: "gone", code: 141 });
  commands[2].finish({ code: 137, signal: "SIGKILL" });
  await bench.untilEnded(3);
  assertEquals(bench.jobs.list().map(summary), [
    "j1 failed output limit 130",
    "j2 failed output unavailable 130",
    "j3 failed exit 130",
  ]);
});

Deno.test("Jobs ends a command at its timeout, and an ended one has no timer", async () => {
  using time = new FakeTime();
  const bench = new Bench();
  await bench.add({ timeoutMs: 86_400_000 });
  const short = await bench.add({ timeoutMs: 1000 });
  short.finish();
  await time.runMicrotasks();
  await time.tickAsync(86_399_999);
  assertEquals(bench.jobs.list().map(summary), ["j1 running null", "j2 done exit 0"]);
  await time.tickAsync(1);
  await time.runMicrotasks();
  assertEquals(summary(bench.jobs.list()[0]!), "j1 failed timeout 130");
  assertEquals(bench.jobs.list()[0]!.elapsed, 86_400);
});

Deno.test("Jobs moves foreground commands, whose calls wait until they are let go", async () => {
  const bench = new Bench();
  const order: string[] = [];
  const call = async (name: string) => {
    const command = new FakeCommand(name);
    const moved = Promise.withResolvers<void>();
    using _shown = bench.tools.foreground(command, { moveToBackground: moved.resolve });
    await moved.promise;
    // One has ended in the same moment.
    if (name !== "b") order.push(await bench.tools.add(command, SHELL));
  };
  const calls = [call("a"), call("b"), call("c")];
  const { moved, release } = await bench.jobs.moveToBackground();
  assertEquals([moved, bench.changes], [2, ["started j1", "started j2"]]);
  assertEquals(order, []);
  release();
  await Promise.all(calls);
  assertEquals(order.length, 2);
  assertEquals((await bench.jobs.moveToBackground()).moved, 0);
});

Deno.test("Jobs moves no more commands than there is room for", async () => {
  const bench = new Bench();
  for (let n = 0; n < 15; n++) await bench.add();
  let asked = 0;
  const call = (command: FakeCommand) =>
    bench.tools.foreground(command, {
      moveToBackground: () => void (asked++, bench.tools.add(command, SHELL)),
    });
  using _first = call(new FakeCommand());
  using _second = call(new FakeCommand());
  const { moved, release } = await bench.jobs.moveToBackground();
  release();
  assertEquals([moved, asked], [1, 1]);
});

Deno.test("Jobs nextEnd() gives the next job that is meant, or the reason of the abort", async () => {
  const bench = new Bench();
  const controller = new AbortController();
  const second = bench.jobs.nextEnd(({ record }) => record.id === "j2", controller.signal);
  const other = bench.jobs.nextEnd(({ record }) => record.id === "j3", controller.signal);
  const [a, b] = [await bench.add(), await bench.add()];
  a.finish();
  b.finish();
  assertEquals((await second).record.id, "j2");
  controller.abort(new Error("enough"));
  await assertRejects(() => other, Error, "enough");
  await assertRejects(() => bench.jobs.nextEnd(() => true, controller.signal), Error, "enough");
});

Deno.test("jobLine() tells the exit code and why, where there is something to tell", () => {
  const record = (changes: Partial<JobRecord>): JobRecord => ({
    id: "j1",
    kind: "shell",
    title: "make all",
    status: "running",
    reason: "",
    exitCode: null,
    startedBy: "model",
    elapsed: 0,
    output: "/log",
    sessionId: "s",
    ...changes,
  });
  const ended = { elapsed: 48.3, reason: "exit" };
  assertEquals(
    [
      record({}),
      record({ ...ended, status: "done", exitCode: 0 }),
      record({ ...ended, status: "failed", exitCode: 2 }),
      record({ ...ended, status: "failed", exitCode: 130, reason: "timeout" }),
      record({ ...ended, kind: "agent", status: "stopped", reason: "user" }),
    ].map(jobLine),
    [
      "j1 · shell · running · 0s · make all · output /log",
      "j1 · shell · done, exit 0 · 48.3s · make all · output /log",
      "j1 · shell · failed, exit 2 · 48.3s · make all · output /log",
      "j1 · shell · failed, exit 130 (timeout) · 48.3s · make all · output /log",
      "j1 · agent · stopped (user) · 48.3s · make all · output /log",
    ],
  );
});

Deno.test("Jobs titles are one line of at most 160 characters", async () => {
  const bench = new Bench();
  await bench.add({}, new FakeCommand(` a\n\tb   ${"🎈".repeat(200)}`));
  assertEquals(bench.jobs.list()[0]!.title, `a b ${"🎈".repeat(156)}`);
});
