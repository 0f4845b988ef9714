/** How runs and the process of a nimlet client end: interrupts, shutdown, end of input, signals, a client that goes away. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { checkNimletRecords } from "../fakes/grammar_nimlet.ts";
import { allOf, calls, isEnd, kindsOf, saidIn, waitForGo, withNimlet } from "./_with_nimlet.ts";

const STUCK = { text: ["part", "never sent"], stallAfter: 1 };

Deno.test("nimlet interrupt ends what runs and leaves the queues, which open the next run", async () => {
  const command = "trap 'echo bye; exit 0' TERM; echo begun; while :; do sleep 0.05; done";
  const replies = [
    STUCK,
    calls({ id: "a", name: "bash", args: { command } }, { id: "b", name: "ls", args: {} }),
    { text: "three" },
    { text: "four" },
  ];
  await withNimlet({ replies }, async (nimlet) => {
    const { weir } = nimlet;
    await nimlet.begin("one");
    await weir.next("message_delta");
    await nimlet.send(
      { type: "follow_up", message: "two" },
      { type: "follow_up", message: "four" },
      { type: "interrupt" },
      { type: "interrupt" },
      { type: "steer", message: "three" },
    );
    const first = await weir.until(isEnd);
    assertEquals(allOf(first, "response").slice(-3).map(({ state }) => state), [
      "interrupting",
      "interrupting",
      "queued",
    ]);
    assertEquals(first.at(-1)!.message, "Interrupted");
    // The steering message was there first for the point of delivery, so it opens the run; with it goes nobody else.
    const second = await weir.until("tool_output_delta");
    assertEquals(kindsOf(second).slice(0, 3), ["dequeue 2", "user", "run_start"]);
    assertEquals(second[1].content, "three");
    const interrupted = nimlet.ask({ type: "interrupt" });
    const ending = await weir.until(isEnd);
    assertEquals((await interrupted).state, "interrupting");
    const [result] = allOf(ending, "tool_result");
    assertEquals(allOf(ending, "tool_result").length, 1);
    assertEquals(result.is_error, true);
    const deltas = allOf(weir.records, "tool_output_delta").map(({ delta }) => delta).join("");
    assertEquals(result.output, `INTERRUPTED (${result.duration_ms}ms)\n${deltas}`);
    assertMatch(deltas, /^begun\n[^]*bye\n$/);
    // Each waiting message opens one run, or is delivered in it.
    const rest = await weir.until("run_end");
    assertEquals(allOf(rest, "message").map(({ content }) => content), [
      "two",
      "three",
      "four",
      "four",
    ]);
    const last = nimlet.server.requests.at(-1)!;
    assert(saidIn(last).includes("user: one"));
    assert(!JSON.stringify(last.messages).includes("part"));
    assertStringIncludes(JSON.stringify(last.messages), "Interrupted before tool execution.");
    assertEquals((await nimlet.ask({ type: "get_state" })).busy, false);
  });
});

Deno.test("nimlet interrupt cuts a retry pause short", async () => {
  const busy = { status: 429, headers: { "retry-after": "30" }, body: { error: { message: "x" } } };
  await withNimlet({ replies: [busy] }, async (nimlet) => {
    await nimlet.begin("go");
    await nimlet.server.waitForRequests(1);
    assertEquals((await nimlet.ask({ type: "interrupt" })).state, "interrupting");
    assertEquals((await nimlet.weir.until(isEnd)).map(({ message }) => message), ["Interrupted"]);
  });
});

Deno.test("nimlet shutdown answers every line of its read, also when idle", async () => {
  await withNimlet({}, async (nimlet) => {
    await nimlet.send(
      { type: "shutdown" },
      { type: "prompt", message: "late" },
      { type: "prompt" },
      { type: "set_steering_mode", mode: "all" },
      { type: "steer", message: "late" },
      { type: "interrupt" },
      { type: "clear_queue" },
      { type: "get_state" },
      { type: "shutdown" },
    );
    const records = await nimlet.weir.until("session_end");
    assertEquals(
      allOf(records, "response").map(({ error, state, ok }) => error ?? state ?? ok),
      [
        "stopped",
        "RPC is shutting down.",
        "prompt requires message.",
        true,
        "RPC is shutting down.",
        "idle",
        true,
        true,
        "stopped",
      ],
    );
    assertEquals(records.at(-1)!.success, true);
    assertEquals(await nimlet.weir.waitForExit(), { code: 0, signal: null });
  });
});

Deno.test("nimlet shutdown while busy stops the run and its jobs, and serves input meanwhile", async () => {
  const command = "trap '' TERM; echo begun; while :; do sleep 0.05; done";
  const replies = [
    calls(
      { name: "bash", args: { command: "while :; do sleep 0.05; done", background: true } },
      { name: "bash", args: { command } },
    ),
  ];
  await withNimlet({ replies }, async (nimlet) => {
    const { weir } = nimlet;
    await nimlet.begin("go");
    await weir.next("tool_output_delta");
    await nimlet.send({ type: "follow_up", message: "never" }, { id: "x", type: "shutdown" });
    assertEquals(kindsOf(await weir.until(({ id }) => id === "x")).slice(-2), [
      "clear 0",
      "response",
    ]);
    assertEquals(await nimlet.ask({ type: "shutdown" }), { ok: true, state: "stopping" });
    assertEquals(
      (await nimlet.ask({ type: "follow_up", message: "x" })).error,
      "RPC is shutting down.",
    );
    assertEquals((await nimlet.ask({ type: "get_state" })).busy, true);
    const rest = await weir.until("session_end");
    assertEquals(kindsOf(rest).slice(-3), ["tool_result", "error", "session_end"]);
    assertEquals(rest.at(-1)!.success, true);
    await weir.waitForExit();
    assertEquals(await weir.livingProcesses(), []);
  });
});

Deno.test("nimlet end of input handles all lines, then interrupts", async () => {
  await withNimlet({ replies: [STUCK] }, async (nimlet) => {
    await nimlet.sendText(
      '{"id":"p","type":"prompt","message":"go"}\n{"id":"f","type":"follow_up","message":"x"}\n{"id":"g","type":"get_state"}',
      ["p", "f", "g"],
    );
    await nimlet.weir.closeInput();
    const records = await nimlet.weir.until("session_end");
    assertEquals(kindsOf(records).filter((kind) => kind !== "message_delta").slice(-6), [
      "response",
      "enqueue 1",
      "response",
      "clear 0",
      "error",
      "session_end",
    ]);
  });
});

for (const [signal, code] of [["SIGINT", 0], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
  Deno.test(`nimlet ${signal} ends like the end of input, with exit code ${code}`, async () => {
    const replies = signal === "SIGINT" ? [calls(waitForGo("trap '' TERM; echo x; "))] : [STUCK];
    await withNimlet({ replies }, async (nimlet) => {
      const { weir } = nimlet;
      await nimlet.begin("go");
      await weir.next(signal === "SIGINT" ? "tool_output_delta" : "message_delta");
      await nimlet.ask({ type: "steer", message: "never" });
      weir.kill(signal);
      // A further signal changes nothing.
      await weir.next(({ action }) => action === "clear");
      if (signal === "SIGINT") weir.kill("SIGINT");
      const records = await weir.until("session_end");
      assertEquals(kindsOf(records).slice(-2), ["error", "session_end"]);
      assertEquals(records.at(-1)!.success, true);
      await nimlet.end({ code });
      assertEquals(await weir.livingProcesses(), []);
    });
  });
}

Deno.test("nimlet client that closes stdout ends the process, silently", async () => {
  const command = "while :; do echo more; sleep 0.05; done";
  const replies = [calls({ name: "bash", args: { command } })];
  await withNimlet({ replies }, async (nimlet) => {
    await nimlet.begin("go");
    await nimlet.weir.next("tool_output_delta");
    const { records } = nimlet.weir;
    await nimlet.weir.closeOutput();
    assertEquals((await nimlet.weir.waitForExit()).code, 0);
    assertEquals(nimlet.weir.stderr, "");
    assertEquals(await nimlet.weir.livingProcesses(), []);
    checkNimletRecords(records, { state: "midway" });
    nimlet.markEnded();
  });
});

Deno.test("nimlet failed request ends the run, and a waiting message opens the next one", async () => {
  const gate = Promise.withResolvers<void>();
  const replies = [
    { gate: gate.promise, status: 401, body: { error: { message: "invalid key" } } },
    { text: "ok" },
  ];
  await withNimlet({ replies }, async (nimlet) => {
    await nimlet.begin("one");
    await nimlet.ask({ type: "steer", message: "two" });
    gate.resolve();
    const [, error] = await nimlet.weir.until(isEnd);
    assertMatch(String(error.message), /invalid key/);
    const rest = await nimlet.weir.until("run_end");
    assertEquals(kindsOf(rest).slice(0, 4), ["dequeue 0", "user", "run_start", "step_start"]);
    assertEquals(rest[1].turn_id, "s1:turn:2");
    await nimlet.send({ type: "shutdown" });
    assertEquals((await nimlet.weir.next("session_end")).success, false);
  });
});

Deno.test("nimlet run that cannot be saved has an error with step -1 and no run_start", async () => {
  await withNimlet({
    replies: [{ text: "ok" }],
    prepare: ({ home }) => Deno.writeTextFile(`${home}/sessions`, "in the way"),
    args: [],
  }, async (nimlet) => {
    const [, error] = await nimlet.run("go");
    assertEquals([error.type, error.step], ["error", -1]);
    await Deno.remove(`${nimlet.home.home}/sessions`);
    const records = await nimlet.run("again");
    assertEquals(records.at(-1)!.type, "run_end");
    assertMatch(String(records.at(-1)!.run_id), /:turn:2$/);
  });
});
