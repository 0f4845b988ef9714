import { assertEquals } from "@std/assert";
import { finishWork } from "../../src/session/finish_work.ts";
import type { JobRecord } from "../../src/session/job_record.ts";
import type { EndedJob } from "../../src/session/jobs.ts";

/** A session with running jobs, whose notice turns take as many steps as the script says. */
class Bench {
  readonly id = "s";
  mayTakeNoticeTurns = true;
  notices = 0;
  turns = 0;
  running: JobRecord["kind"][] = [];
  /** Called when somebody waits for a job's end; ends one, or nothing more comes. */
  onWait: () => boolean = () => false;
  waits = 0;
  onTurn: () => void = () => {};

  get hasNoticeTurn(): boolean {
    return this.notices > 0 && this.mayTakeNoticeTurns;
  }

  runNoticeTurn(): Promise<void> {
    this.turns++;
    this.notices = 0;
    this.onTurn();
    return Promise.resolve();
  }

  runningOf(): readonly JobRecord[] {
    return this.running.map((kind) => ({ kind })) as JobRecord[];
  }

  nextEnd(_filter: unknown, signal: AbortSignal): Promise<EndedJob> {
    this.waits++;
    return new Promise((resolve, reject) => {
      if (this.onWait()) return resolve({} as EndedJob);
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  }

  async finish(env: Record<string, string> = {}, signal = new AbortController().signal) {
    const host = { getEnv: (name: string) => env[name] };
    await finishWork({ session: this, jobs: this, host, signal });
  }

  /** Ends the first job with a notice. */
  endOne(): boolean {
    this.running.shift();
    this.notices++;
    return true;
  }
}

Deno.test("finishWork() answers each job that ends until none runs", async () => {
  const bench = new Bench();
  bench.running = ["shell", "agent", "shell"];
  bench.onWait = () => bench.endOne();
  await bench.finish();
  assertEquals([bench.turns, bench.waits], [3, 3]);
});

Deno.test("finishWork() answers what ended before, and waits for what a turn starts", async () => {
  const bench = new Bench();
  bench.notices = 1;
  bench.onTurn = () => {
    if (bench.turns === 1) bench.running = ["shell"];
  };
  bench.onWait = () => bench.endOne();
  await bench.finish();
  assertEquals([bench.turns, bench.waits], [2, 1]);
});

Deno.test("finishWork() does not wait for what a command left running", async () => {
  const bench = new Bench();
  bench.running = ["adopted"];
  await bench.finish();
  assertEquals(bench.waits, 0);
});

Deno.test("finishWork() ends when turns are held or too many", async () => {
  const bench = new Bench();
  bench.running = ["shell", "shell"];
  bench.onWait = () => bench.endOne();
  bench.onTurn = () => bench.mayTakeNoticeTurns = false;
  await bench.finish();
  assertEquals([bench.turns, bench.running.length], [1, 1]);
  await bench.finish();
  assertEquals(bench.turns, 1);
});

Deno.test("finishWork() ends by its signal, also when it is aborted already", async () => {
  const controller = new AbortController();
  const bench = new Bench();
  bench.running = ["shell"];
  bench.onWait = () => {
    controller.abort();
    return false;
  };
  await bench.finish({}, controller.signal);
  assertEquals(bench.waits, 1);
  await bench.finish({}, controller.signal);
  assertEquals(bench.waits, 1);
});

const WAITS: [Record<string, string>, boolean][] = [
  [{}, true],
  [{ WEIR_JOB_WAIT: "0" }, false],
  [{ WEIR_JOB_WAIT: " 0.0 " }, false],
  [{ CIRCLE_JOB_WAIT: "0" }, false],
  [{ WEIR_JOB_WAIT: "0", CIRCLE_JOB_WAIT: "5" }, false],
  [{ WEIR_JOB_WAIT: "5", CIRCLE_JOB_WAIT: "0" }, true],
  [{ WEIR_JOB_WAIT: "soon", CIRCLE_JOB_WAIT: "0" }, true],
  [{ WEIR_JOB_WAIT: "", CIRCLE_JOB_WAIT: "0" }, true],
  [{ WEIR_JOB_WAIT: "-1" }, true],
  [{ WEIR_JOB_WAIT: "Infinity" }, true],
  [{ WEIR_JOB_WAIT: "99999999999" }, true],
];

for (const [env, expected] of WAITS) {
  Deno.test(`finishWork() ${expected ? "waits" : "does not wait"} with ${JSON.stringify(env)}`, async () => {
    const bench = new Bench();
    bench.running = ["shell"];
    bench.onWait = () => bench.endOne();
    await bench.finish(env);
    assertEquals([bench.waits, bench.turns], expected ? [1, 1] : [0, 0]);
  });
}

Deno.test("finishWork() ends when the time is up", async () => {
  const bench = new Bench();
  bench.running = ["shell"];
  await bench.finish({ WEIR_JOB_WAIT: "0.001" });
  assertEquals([bench.waits, bench.running.length], [1, 1]);
});
