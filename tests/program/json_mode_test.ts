/** `weir --mode json` in the circle dialect against the real process: the records of a run and its ways to end. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { startWeir, type WeirProcess } from "../fakes/weir_process.ts";
import { calls, type Place, withPlace } from "./_run_once.ts";

type Json = Record<string, unknown>;

function recordsOf(stdout: string): Json[] {
  const lines = stdout.split("\n");
  assertEquals(lines.pop(), "");
  return lines.map((line) => JSON.parse(line));
}

function typesOf(records: readonly Json[]): unknown[] {
  return records.map(({ type }) => type);
}

/** Runs the test with a process that is watched while it runs. */
async function withRun(
  place: Place,
  args: readonly string[],
  test: (weir: WeirProcess) => Promise<void>,
): Promise<void> {
  await using weir = await startWeir({
    args: ["--mode", "json", ...args],
    home: place.home.home,
    cwd: place.home.workspace,
  });
  await test(weir);
}

Deno.test("json mode writes the records of one tool call and nothing else", async () => {
  const replies = [
    {
      ...calls(["read", { path: "go.mod" }]),
      usage: { input: 2100, output: 10 },
    },
    { text: "The module demo.", usage: { input: 2140, output: 5, cacheRead: 2048 } },
  ];
  const files = { "go.mod": "module demo\n" };
  await withPlace({ files, replies }, async ({ run, home }) => {
    const { code, stdout, stderr } = await run(["--mode", "json", ".", "what is in go.mod?"]);
    assertEquals([code, stderr], [0, ""]);
    const records = recordsOf(stdout);
    const [session, , first, , second] = records as [Json, Json, Json, Json, Json];
    assertMatch(String(session.id), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/);
    assert(typeof first.id === "string" && typeof second.id === "string" && first.id !== second.id);
    assertEquals(records, [
      { type: "session", id: session.id, workspace: home.workspace, model: "test-model" },
      { type: "turn_start", message: "what is in go.mod?" },
      {
        type: "assistant",
        id: first.id,
        text: "",
        tool_calls: [{ id: "c0", name: "read", args: { path: "go.mod" } }],
        usage: { input_tokens: 2100, output_tokens: 10, cache_read_tokens: 0 },
      },
      {
        type: "tool_result",
        id: "c0",
        name: "read",
        status: "success",
        output: "module demo\n",
      },
      {
        type: "assistant",
        id: second.id,
        text: "The module demo.",
        tool_calls: [],
        usage: { input_tokens: 2140, output_tokens: 5, cache_read_tokens: 2048 },
      },
      {
        type: "turn_end",
        answer: "The module demo.",
        usage: { input_tokens: 4240, output_tokens: 15, cache_read_tokens: 2048 },
      },
    ]);
  });
});

Deno.test("json mode has a turn for each message and writes no response", async () => {
  await withPlace({ replies: [{ text: "one" }, { text: "two" }] }, async ({ run }) => {
    const { code, stdout } = await run(["--mode", "json", ".", "first thing", "second"]);
    assertEquals(code, 0);
    const turn = ["turn_start", "assistant", "turn_end"];
    assertEquals(typesOf(recordsOf(stdout)), ["session", ...turn, ...turn]);
  });
});

Deno.test("json mode tells calls that were not run, and their number on stderr", async () => {
  const replies = [calls(["bash", { command: "make" }]), { text: "done" }];
  await withPlace({ replies }, async ({ run }) => {
    const { code, stdout, stderr } = await run(["--mode", "json", ".", "build it"]);
    assertEquals([code, stderr], [
      0,
      "↑ 20 · ↓ 10 · 1 call not run (use --yolo to allow commands and edits)\n",
    ]);
    assertEquals(recordsOf(stdout).find(({ type }) => type === "not_run"), {
      type: "not_run",
      name: "bash",
      args: { command: "make" },
      reason: "runs a shell command",
    });
  });
});

Deno.test("json mode writes an error on stdout and on stderr", async () => {
  const replies = [{ status: 401, body: { error: { message: "bad key" } } }];
  await withPlace({ replies }, async ({ run }) => {
    const { code, stdout, stderr } = await run(["--mode", "json", ".", "go on"]);
    assertEquals(code, 1);
    const records = recordsOf(stdout);
    assertEquals(typesOf(records), ["session", "turn_start", "error"]);
    assertStringIncludes(String(records[2]!.message), "bad key");
    assertEquals(stderr, `✖ ${records[2]!.message}\n`);
  });
});

Deno.test("json mode tells jobs and the turns they start, and does not settle", async () => {
  const replies = [
    calls(["bash", { command: "sleep 0.2; echo built", background: true }]),
    { text: "it runs" },
    { text: "it is built" },
  ];
  await withPlace({ replies }, async ({ run }) => {
    const { code, stdout } = await run(["--mode", "json", "--yolo", ".", "build it"]);
    assertEquals(code, 0);
    const records = recordsOf(stdout);
    assertEquals(typesOf(records), [
      "session",
      "turn_start",
      "assistant",
      "job",
      "tool_result",
      "assistant",
      "turn_end",
      "job",
      "turn_start",
      "assistant",
      "turn_end",
    ]);
    assertEquals([records[3]!.event, records[7]!.event], ["started", "ended"]);
    assertEquals(records[8], { type: "turn_start" });
    assertEquals(records[10]!.answer, "it is built");
  });
});

Deno.test("json mode stops at once what a command left running", async () => {
  const replies = [calls(["bash", { command: "sleep 60 & echo up" }]), { text: "it is up" }];
  await withPlace({ replies }, async ({ run }) => {
    const { code, stdout } = await run(["--mode", "json", "--yolo", ".", "start it"]);
    assertEquals(code, 0);
    const job = recordsOf(stdout).at(-1)!.job as Json;
    assertEquals([job.kind, job.status, job.reason], ["adopted", "stopped", "exit"]);
  });
});

Deno.test("json mode stops the jobs that outlive WEIR_JOB_WAIT", async () => {
  const replies = [
    calls(["bash", { command: "sleep 60", background: true }]),
    { text: "it runs" },
  ];
  await withPlace({ replies }, async ({ run }) => {
    const env = { WEIR_JOB_WAIT: "0" };
    const { code, stdout } = await run(["--mode", "json", "--yolo", ".", "start it"], { env });
    assertEquals(code, 0);
    const job = recordsOf(stdout).at(-1)!.job as Json;
    assertEquals([job.kind, job.status, job.reason], ["shell", "stopped", "exit"]);
  });
});

Deno.test("json mode leaves stdout empty when it cannot start", async () => {
  await withPlace({}, async ({ run }) => {
    for (
      const [args, code] of [
        [[".", "@none", "x y"], 2],
        [["."], 2],
        [["missing", "x y"], 2],
        [["--session", "nope", ".", "x y"], 1],
      ] as const
    ) {
      const ended = await run(["--mode", "json", ...args]);
      assertEquals([ended.code, ended.stdout], [code, ""]);
      assertMatch(ended.stderr, /^✖ [^\n]+\n$/);
    }
  });
});

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
  Deno.test(`json mode ends a tool after ${signal} and says Interrupted`, async () => {
    const replies = [calls(["bash", { command: "echo $$ > pid; sleep 60" }])];
    await withPlace({ replies }, async (place) => {
      await withRun(place, ["--yolo", ".", "wait a while", "never sent"], async (weir) => {
        await weir.closeInput();
        await weir.next("assistant");
        while (!await isThere(`${place.home.workspace}/pid`)) await nextTick();
        weir.kill(signal);
        assertEquals(await weir.waitForExit(), { code, signal: null });
        assertEquals(typesOf(weir.records.slice(-2)), ["tool_result", "error"]);
        assertEquals(weir.records.at(-1), { type: "error", message: "Interrupted" });
        assertEquals(weir.stderr, "✖ Interrupted\n");
        assertEquals(await weir.livingProcesses(), []);
      });
    });
  });
}

Deno.test("print mode writes no answer after SIGINT", async () => {
  const replies = [{ text: "one" }, calls(["bash", { command: "echo $$ > pid; sleep 60" }])];
  await withPlace({ replies }, async (place) => {
    await withRun(place, ["--mode=text", "--yolo", ".", "say one", "wait"], async (weir) => {
      await weir.closeInput();
      while (!await isThere(`${place.home.workspace}/pid`)) await nextTick();
      weir.kill("SIGINT");
      assertEquals(await weir.waitForExit(), { code: 130, signal: null });
      assertEquals([weir.records, weir.stderr], [[], "✖ Interrupted\n"]);
      assertEquals(await weir.livingProcesses(), []);
    });
  });
});

Deno.test("json mode says Interrupted when SIGINT comes while it waits for a job", async () => {
  const replies = [calls(["bash", { command: "sleep 60", background: true }]), { text: "it runs" }];
  await withPlace({ replies }, async (place) => {
    await withRun(place, ["--yolo", ".", "start it"], async (weir) => {
      await weir.closeInput();
      await weir.next("turn_end");
      weir.kill("SIGINT");
      assertEquals(await weir.waitForExit(), { code: 130, signal: null });
      assertEquals(typesOf(weir.records.slice(-2)), ["job", "error"]);
      assertEquals(weir.records.at(-1), { type: "error", message: "Interrupted" });
      assertEquals(await weir.livingProcesses(), []);
    });
  });
});

Deno.test("json mode says Interrupted when SIGINT comes while it waits for stdin", async () => {
  await withPlace({}, async (place) => {
    await withRun(place, ["--session-id", "waits", "."], async (weir) => {
      await weir.sendRaw("half a mess");
      // The lock of the conversation is taken right before stdin is read.
      while (!await hasFile(`${place.home.home}/sessions`)) await nextTick();
      weir.kill("SIGINT");
      assertEquals(await weir.waitForExit(), { code: 130, signal: null });
      assertEquals(typesOf(weir.records), ["session", "error"]);
    });
  });
});

Deno.test("json mode ends when nobody reads, and leaves no process", async () => {
  const { promise: gate, resolve } = Promise.withResolvers<void>();
  const reply = calls(["bash", { command: "sleep 60 & sleep 60" }]);
  await withPlace({ replies: [{ ...reply, gate }] }, async (place) => {
    await withRun(place, ["--yolo", ".", "wait a while"], async (weir) => {
      await weir.closeInput();
      await weir.next("session");
      await place.server.nextRequest();
      await weir.closeOutput();
      resolve();
      assertEquals((await weir.waitForExit()).code, 1);
      assertEquals(weir.stderr, "");
      assertEquals(await weir.livingProcesses(), []);
    });
  });
});

async function hasFile(folder: string): Promise<boolean> {
  try {
    for await (const { name, isFile } of Deno.readDir(folder)) {
      if (isFile || await hasFile(`${folder}/${name}`)) return true;
    }
  } catch {
    // The folder is not made yet.
  }
  return false;
}

async function isThere(path: string): Promise<boolean> {
  return await Deno.stat(path).then((info) => info.size > 0, () => false);
}

function nextTick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}
