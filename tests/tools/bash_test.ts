import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../src/agent/message.ts";
import type { CommandEnd, RunningCommand, ToolJobs, ToolOutcome } from "../../src/agent/tool.ts";
import { bashTool } from "../../src/tools/bash.ts";
import { outcomeText, withToolBench } from "./tool_bench.ts";

async function isRunning(pid: number): Promise<boolean> {
  try {
    const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
    return !"ZX".includes(stat.slice(stat.lastIndexOf(")") + 2)[0] ?? "Z");
  } catch {
    return false;
  }
}

/** Jobs that keep what they get; the test stops it. */
class FakeJobs implements ToolJobs, AsyncDisposable {
  readonly added: { command: RunningCommand; kind: string; timeoutMs: number | undefined }[] = [];
  readonly shown = Promise.withResolvers<() => void>();
  readonly end = Promise.withResolvers<void>();
  problem: string | undefined;

  refusal() {
    return this.problem;
  }

  async add(
    command: RunningCommand,
    options: { kind: "shell" | "adopted"; timeoutMs: number | undefined },
  ) {
    this.added.push({ command, ...options });
    return `j${this.added.length} · ${await command.openLog()}`;
  }

  foreground(_command: RunningCommand, options: { moveToBackground: () => void }) {
    this.shown.resolve(options.moveToBackground);
    return { [Symbol.dispose]() {} };
  }

  async nextEnd({ signal }: { signal: AbortSignal }) {
    const aborted = new Promise<never>((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason), { once: true })
    );
    await Promise.race([this.end.promise, aborted]);
  }

  async [Symbol.asyncDispose]() {
    for (const { command } of this.added) await command[Symbol.asyncDispose]();
  }
}

function parts(outcome: ToolOutcome) {
  return { text: outcomeText(outcome), isError: outcome.isError, details: outcome.details };
}

Deno.test("parse() names what is wrong", () => {
  const wrong: JsonObject[] = [{}, { command: 1 }, { command: "a", timeout: "5" }, {
    command: "a",
    x: 1,
  }];
  const problems = wrong.map((args) => bashTool.parse(args))
    .map((parsed) => parsed.ok ? "" : parsed.problem);
  assertEquals(problems, [
    "command is required",
    "command: expected a string",
    "timeout: expected a number",
    "unknown argument: x",
  ]);
  assertEquals(bashTool.parse({ command: "a", timeout: null }), {
    ok: true,
    value: { command: "a" },
  });
});

Deno.test("bash gives output and exit code", async () => {
  await withToolBench(async ({ context, deltas }) => {
    const outcome = await bashTool.run({ command: "echo out; echo err >&2; exit 3" }, context);
    assertEquals(parts(outcome), {
      text: "out\nerr\nExit code: 3",
      isError: false,
      details: { exitCode: 3 },
    });
    assertEquals(deltas.join(""), "out\nerr\n");
  });
});

Deno.test("bash adds a line break only where the output lacks one", async () => {
  await withToolBench(async ({ context }) => {
    const texts: string[] = [];
    for (const command of ["printf x", "true", "printf '\\n'"]) {
      texts.push(outcomeText(await bashTool.run({ command }, context)));
    }
    assertEquals(texts, ["x\nExit code: 0", "Exit code: 0", "\nExit code: 0"]);
  });
});

Deno.test("bash ends a command at its timeout", async () => {
  await withToolBench(async ({ context }) => {
    const outcome = await bashTool.run({ command: "echo a; sleep 60", timeout: 0.05 }, context);
    assertEquals(parts(outcome), {
      text: "a\nCommand ended: timeout\nExit code: 143",
      isError: true,
      details: { exitCode: 143 },
    });
  });
});

Deno.test("bash refuses a timeout out of range", async () => {
  await withToolBench(async ({ context }) => {
    for (const timeout of [0, -1, 600.5]) {
      assertEquals(parts(await bashTool.run({ command: "true", timeout }, context)), {
        text: "foreground timeout must be positive and at most 600 seconds",
        isError: true,
        details: undefined,
      });
    }
    for (const timeout of [-1, 86_401]) {
      const outcome = await bashTool.run({ command: "true", timeout, background: true }, context);
      assertEquals(outcomeText(outcome), "background timeout must be between 0 and 86400 seconds");
    }
    const outcome = await bashTool.run({ command: "true", background: true }, context);
    assertEquals(outcomeText(outcome), "background jobs are not available here");
  });
});

Deno.test("bash interrupted gives what was written and leaves nothing running", async () => {
  const controller = new AbortController();
  await withToolBench(async ({ context }) => {
    const run = bashTool.run(
      { command: "setsid sleep 60 & echo $!; trap '' TERM; sleep 60 & wait; wait" },
      context,
    );
    const outcome = await run;
    const pid = Number.parseInt(outcomeText(outcome));
    assertEquals(outcome.isError, true);
    assertEquals(outcome.details, { interrupted: true });
    assertEquals(await isRunning(pid), false);
  }, {
    signal: controller.signal,
    onOutput() {
      controller.abort(new Error("stop"));
      // A client that never takes the output must not hold up the end.
      return new Promise(() => {});
    },
  });
});

Deno.test("bash throws when it is aborted before it begins", async () => {
  const reason = new Error("stop");
  await withToolBench(async ({ context }) => {
    assertEquals(await assertRejects(() => bashTool.run({ command: "true" }, context)), reason);
  }, { signal: AbortSignal.abort(reason) });
});

Deno.test("bash shows the end of a long output and names the file with all of it", async () => {
  await withToolBench(async ({ context }) => {
    const outcome = await bashTool.run({ command: "seq 1 5000" }, context);
    const lines = outcomeText(outcome).split("\n");
    const path = String(outcome.details?.fullOutputPath);
    assertEquals(lines[0], `[The end of the output; all of it is in ${path}]`);
    assertEquals([lines[1], lines[2000], lines[2001]], ["3001", "5000", "Exit code: 0"]);
    assertEquals(outcome.details, { exitCode: 0, truncated: true, fullOutputPath: path });
    const log = await Deno.readTextFile(path);
    assertEquals(log.split("\n").length, 5001);
    assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
  });
});

Deno.test("bash makes no log for an output that fits", async () => {
  await withToolBench(async ({ context }) => {
    const outcome = await bashTool.run({ command: "seq 1 2000" }, context);
    assertEquals(outcomeText(outcome).startsWith("1\n2\n"), true);
  }, { outputFolder: () => Promise.reject(new Error("not wanted")) });
});

Deno.test("bash ends a command whose output cannot be kept", async () => {
  await withToolBench(async ({ context }) => {
    const outcome = await bashTool.run({ command: "seq 1 5000; sleep 60" }, context);
    assertEquals(outcome.isError, true);
    const lines = outcomeText(outcome).split("\n");
    assertEquals(lines[0], "[The end of the output; the rest could not be kept]");
    assertEquals(lines.at(-2), "Command ended: output unavailable (disk is full)");
    assertEquals(lines.at(-1), "Exit code: 143");
  }, { outputFolder: () => Promise.reject(new Error("disk is full")) });
});

Deno.test("bash ends a command that writes too much", async () => {
  await withToolBench(async ({ context }) => {
    const host = { ...context.host, getEnv: (name: string) => name.startsWith("WEIR") ? "1" : "9" };
    const outcome = await bashTool.run({ command: "yes" }, { ...context, host });
    const lines = outcomeText(outcome).split("\n");
    assertEquals(lines.slice(-2), ["Command ended: output limit", "Exit code: 143"]);
    const { size } = await Deno.stat(String(outcome.details?.fullOutputPath));
    assertEquals([outcome.isError, size], [true, 1024 * 1024]);
  });
});

Deno.test("bash shows bytes that are no text as replacement characters", async () => {
  await withToolBench(async ({ context, deltas }) => {
    const command = "printf '\\342\\202'; sleep 0.02; printf '\\254 \\377 \\342\\202'";
    const outcome = await bashTool.run({ command }, context);
    assertEquals(outcomeText(outcome), "€ \ufffd \ufffd\nExit code: 0");
    assertEquals(deltas.join(""), "€ \ufffd \ufffd");
  });
});

Deno.test("bash does not wait for a child that holds the pipe, and ends it", async () => {
  await withToolBench(async ({ context }) => {
    const outcome = await bashTool.run({ command: "sleep 60 & echo $!" }, context);
    const text = outcomeText(outcome);
    assertEquals(text.replace(/^\d+/, "N"), "N\nExit code: 0\nWhat it left running was ended.");
    assertEquals(await isRunning(Number.parseInt(text)), false);
  });
});

Deno.test("bash reads all of a large output that its slow reader holds up", async () => {
  let size = 0;
  await withToolBench(async ({ context }) => {
    await bashTool.run({ command: "head -c 3000000 /dev/zero | tr '\\0' x & true" }, context);
    assertEquals(size, 3_000_000);
  }, {
    async onOutput(delta) {
      size += delta.length;
      await new Promise((resolve) => setTimeout(resolve));
    },
  });
});

Deno.test("bash keeps secrets from commands", async () => {
  await withToolBench(async ({ context }) => {
    const processes = context.host.processes!;
    const environment = { PATH: Deno.env.get("PATH")!, A_KEY: "1", B_KEY: "2", NAMED: "3", C: "4" };
    const host = {
      ...context.host,
      processes: {
        shell: processes.shell,
        start: processes.start.bind(processes),
        find: processes.find.bind(processes),
        environment: () => environment,
        isRunning: processes.isRunning.bind(processes),
        recordIn: processes.recordIn.bind(processes),
        endRecord: processes.endRecord.bind(processes),
        hideVariables: processes.hideVariables.bind(processes),
        killAll: processes.killAll.bind(processes),
      },
    };
    const outcome = await bashTool.run({ command: 'echo "$A_KEY|$B_KEY|$NAMED|$C"' }, {
      ...context,
      host,
      allowedVariables: ["B_KEY"],
      secretVariables: ["NAMED"],
    });
    assertEquals(outcomeText(outcome), "|2||4\nExit code: 0");
  });
});

Deno.test("bash in the background hands a command with all its output to the jobs", async () => {
  await using jobs = new FakeJobs();
  await withToolBench(async ({ context, deltas }) => {
    const outcome = await bashTool.run(
      { command: "echo hello; exit 4", background: true, timeout: 9 },
      { ...context, jobs },
    );
    const { command, kind, timeoutMs } = jobs.added[0]!;
    assertEquals([kind, timeoutMs], ["shell", 9000]);
    const end: CommandEnd = { kind: "exited", code: 4, leftRunning: false };
    assertEquals(await command.ended, end);
    const path = await command.openLog();
    assertEquals(outcomeText(outcome), `In background: j1 · ${path}`);
    assertEquals(await Deno.readTextFile(path), "hello\n");
    assertEquals(deltas, []);
    jobs.problem = "16 background jobs are already running";
    const refused = await bashTool.run({ command: "true", background: true }, { ...context, jobs });
    assertEquals([refused.isError, outcomeText(refused)], [true, jobs.problem]);
  });
});

Deno.test("bash moved to the background goes on with the same process", async () => {
  await using jobs = new FakeJobs();
  await withToolBench(async ({ folder, context }) => {
    const run = bashTool.run(
      { command: "echo one; until [ -e go ]; do sleep 0.01; done; echo two" },
      { ...context, jobs },
    );
    const move = await jobs.shown.promise;
    move();
    assertStringIncludes(outcomeText(await run), "Command continues in background: j1 · ");
    const { command, kind } = jobs.added[0]!;
    assertEquals(kind, "shell");
    await Deno.writeTextFile(`${folder}/go`, "");
    assertEquals(await command.ended, { kind: "exited", code: 0, leftRunning: false });
    assertEquals(await Deno.readTextFile(await command.openLog()), "one\ntwo\n");
  });
});

Deno.test("bash moved to the background keeps what is left of its timeout", async () => {
  await using jobs = new FakeJobs();
  await withToolBench(async ({ context }) => {
    const run = bashTool.run({ command: "sleep 3600", timeout: 500 }, { ...context, jobs });
    const move = await jobs.shown.promise;
    move();
    await run;
    const { timeoutMs } = jobs.added[0]!;
    assertEquals(timeoutMs !== undefined && timeoutMs > 0 && timeoutMs < 500_000, true);
  });
});

Deno.test("bash gives what a command left running to the jobs", async () => {
  await using jobs = new FakeJobs();
  await withToolBench(async ({ folder, context }) => {
    const command = "(until [ -e go ]; do sleep 0.01; done; echo late) & echo up";
    const outcome = await bashTool.run({ command }, { ...context, jobs });
    const added = jobs.added[0]!;
    const path = await added.command.openLog();
    assertEquals(added.kind, "adopted");
    assertEquals(outcomeText(outcome), `up\nExit code: 0\nStill running: j1 · ${path}`);
    await Deno.writeTextFile(`${folder}/go`, "");
    await added.command.waitForTree({ signal: context.signal });
    await added.command.stop({ graceMs: 0 });
    assertEquals(await Deno.readTextFile(path), "up\nlate\n");
  });
});

Deno.test("bash that only sleeps ends when a job does", async () => {
  await using jobs = new FakeJobs();
  await withToolBench(async ({ context }) => {
    const run = bashTool.run({ command: "sleep 3600" }, { ...context, jobs });
    await jobs.shown.promise;
    jobs.end.resolve();
    assertEquals(parts(await run), {
      text: "Exit code: 0",
      isError: false,
      details: { exitCode: 0 },
    });
  });
});

Deno.test("bash says that a command cannot be started", async () => {
  await withToolBench(async ({ context }) => {
    const outcome = await bashTool.run({ command: "true" }, { ...context, workspace: "/no/such" });
    assertEquals(outcome.isError, true);
    assertStringIncludes(outcomeText(outcome), "Cannot run the command: ");
    assertStringIncludes(outcomeText(outcome), "/no/such");
  });
});
