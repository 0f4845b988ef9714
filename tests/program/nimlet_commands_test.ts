/** Commands of a nimlet RPC process: checks, refusals, states, queues, and what holds for the lines of one read. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { allOf, isEnd, kindsOf, saidIn, waitForGo, withNimlet } from "./_with_nimlet.ts";

const STUCK = { text: "never sent", stallAfter: 0 };
const NO_BEHAVIOR = "prompt requires streamingBehavior: steer or followUp while busy.";

Deno.test("nimlet refuses lines that are no commands, with an empty id", async () => {
  await withNimlet({}, async (nimlet) => {
    const { weir } = nimlet;
    assertEquals(await weir.next("session_start"), {
      version: 1,
      type: "session_start",
      session_id: "s1",
    });
    const lines: [string, string][] = [
      ["hello", "Invalid JSON: "],
      ['{"id":"a","type":"get_state"} x', "Invalid JSON: "],
      ["[1]", "Command must be a JSON object."],
      ['"x"', "Command must be a JSON object."],
      ["7", "Command must be a JSON object."],
      ["null", "Command must be a JSON object."],
      ["{}", "Command requires string id and type fields."],
      ['{"id":1,"type":"get_state"}', "Command requires string id and type fields."],
      ['{"id":"a"}', "Command requires string id and type fields."],
      ['{"id":"a","type":null}', "Command requires string id and type fields."],
    ];
    await nimlet.sendText(
      "\uFEFF\r\n \t\n" + lines.map(([line]) => line + "\r\n").join(""),
      lines.map(() => ""),
    );
    await weir.next(() => allOf(weir.records, "response").length >= lines.length);
    const responses = allOf(weir.records, "response");
    for (const [index, [line, error]] of lines.entries()) {
      const { ok, error: text } = responses[index];
      assertEquals(ok, false, line);
      assert(String(text).startsWith(error), `${line}: ${text}`);
    }
    // What no JSON parser objects to is a command, and the last line needs no line feed.
    await nimlet.sendText('{"id":"\u2028","type":"constructor"}\n{"id":"","type":"interrupt"}', [
      "\u2028",
      "",
    ]);
    await weir.closeInput();
    assertEquals((await weir.response("\u2028")).error, "Unknown RPC command: constructor");
    assertEquals((await weir.until("session_end")).slice(-2).map(({ state }) => state), [
      "idle",
      undefined,
    ]);
  });
});

Deno.test("nimlet refuses bad fields with the texts of its commands, and stays idle", async () => {
  await withNimlet({}, async (nimlet) => {
    const refuse = async (command: Record<string, unknown>, error: string) =>
      assertEquals(await nimlet.ask(command), { ok: false, error }, JSON.stringify(command));
    await refuse({ id: "x", type: "dance" }, "Unknown RPC command: dance");
    for (const type of ["prompt", "steer", "follow_up"]) {
      for (const more of [{}, { message: 5 }, { message: null }, { message: " \n" }]) {
        await refuse({ type, ...more }, `${type} requires message.`);
      }
    }
    await refuse({ type: "steer", message: "x" }, "Agent is idle; use prompt.");
    await refuse({ type: "follow_up", message: "x" }, "Agent is idle; use prompt.");
    for (const type of ["set_steering_mode", "set_follow_up_mode"]) {
      for (const mode of ["All", 1, null, undefined]) {
        await refuse({ type, mode }, "mode must be all or one-at-a-time.");
      }
    }
    assertEquals(await nimlet.ask({ type: "clear_queue", extra: 1 }), {
      ok: true,
      steering: [],
      follow_up: [],
    });
    assertEquals(await nimlet.ask({ type: "interrupt" }), { ok: true, state: "idle" });
    assertEquals(await nimlet.ask({ type: "get_state" }), {
      ok: true,
      session_id: "s1",
      busy: false,
      queued: false,
      steering: 0,
      follow_up: 0,
      steering_mode: "one-at-a-time",
      follow_up_mode: "one-at-a-time",
      mode: "act",
    });
    assertEquals(allOf(nimlet.weir.records, "queue"), []);
    assertEquals(await nimlet.ask({ type: "shutdown" }), { ok: true, state: "stopped" });
    assertEquals((await nimlet.weir.next("session_end")).success, true);
  });
});

Deno.test("nimlet keeps two queues while busy and gives them back", async () => {
  await withNimlet({ replies: [STUCK] }, async (nimlet) => {
    await nimlet.begin("  go ");
    assertEquals(await nimlet.ask({ type: "prompt", message: "x" }), {
      ok: false,
      error: NO_BEHAVIOR,
    });
    for (const streamingBehavior of ["follow_up", null, 1]) {
      const refused = await nimlet.ask({ type: "prompt", message: "x", streamingBehavior });
      assertEquals(refused.error, NO_BEHAVIOR);
    }
    await nimlet.send(
      { id: "a", type: "prompt", message: " one ", streamingBehavior: "steer" },
      { id: "b", type: "prompt", message: "two", streamingBehavior: "followUp" },
      { id: "", type: "steer", message: "three" },
      { id: "s", type: "get_state" },
      { id: "c", type: "clear_queue" },
      { id: "d", type: "clear_queue" },
    );
    const records = await nimlet.weir.until(({ id }) => id === "d");
    const queue = { version: 1, type: "queue", session_id: "s1" };
    const enqueue = { ...queue, action: "enqueue" };
    assertEquals(records.slice(-10), [
      { version: 1, type: "response", id: "a", ok: true, state: "queued" },
      { ...enqueue, depth: 1, content: " one ", request_id: "a", mode: "steer" },
      { version: 1, type: "response", id: "b", ok: true, state: "queued" },
      { ...enqueue, depth: 2, content: "two", request_id: "b", mode: "follow_up" },
      { version: 1, type: "response", id: "", ok: true, state: "queued" },
      { ...enqueue, depth: 3, content: "three", mode: "steer" },
      {
        version: 1,
        type: "response",
        id: "s",
        ok: true,
        session_id: "s1",
        busy: true,
        queued: true,
        steering: 2,
        follow_up: 1,
        steering_mode: "one-at-a-time",
        follow_up_mode: "one-at-a-time",
        mode: "act",
      },
      { ...queue, action: "clear", depth: 0 },
      {
        version: 1,
        type: "response",
        id: "c",
        ok: true,
        steering: [" one ", "three"],
        follow_up: ["two"],
      },
      { version: 1, type: "response", id: "d", ok: true, steering: [], follow_up: [] },
    ]);
  });
});

Deno.test("nimlet lines behind a prompt in the same read see busy, however short the run", async () => {
  await withNimlet({ answer: () => ({ text: "ok" }) }, async (nimlet) => {
    const { weir } = nimlet;
    // What is loaded for the first request would make the next run long.
    await nimlet.run("warm up");
    // Writing the configuration again and again takes longer than the whole run.
    const slow = Array.from({ length: 150 }, () => ({ type: "set_follow_up_mode", mode: "all" }));
    await nimlet.send(
      { id: "p", type: "prompt", message: "go" },
      { id: "s", type: "get_state" },
      ...slow,
      { id: "q", type: "prompt", message: "refused" },
      { id: "f", type: "follow_up", message: "more" },
      { id: "i", type: "interrupt" },
      { id: "t", type: "get_state" },
    );
    const records = await weir.until(isEnd);
    const kinds = kindsOf(records);
    assertEquals(kinds.slice(0, 5), [
      "response",
      "user",
      "run_start",
      "step_start",
      "response",
    ]);
    assertEquals(records[4].busy, true);
    // The first run has ended within the batch; the program takes note of it behind the last line.
    const rest = await weir.until(isEnd);
    const state = rest.findIndex(({ id }) => id === "t");
    assertEquals(kindsOf(rest.slice(state)).slice(0, 5), [
      "response",
      "dequeue 0",
      "user",
      "run_start",
      "step_start",
    ]);
    assertEquals(rest.at(-1)!.type, "run_end");
    assertEquals([rest[state].busy, rest[state].follow_up], [true, 1]);
    const answers = rest.filter(({ id }) => ["q", "f", "i"].includes(String(id)));
    assertEquals(answers.map(({ error, state }) => error ?? state), [
      NO_BEHAVIOR,
      "queued",
      "interrupting",
    ]);
    assertEquals(rest.filter(({ type }) => type === "error"), []);
    assertEquals((await nimlet.ask({ type: "get_state" })).busy, false);
    assertEquals((await nimlet.run("again")).at(-1)!.type, "run_end");
  });
});

Deno.test("nimlet set_*_mode writes only its value, takes effect at once, and survives in the file", async () => {
  const config = (text: string) =>
    `// mine\n{\n  "unknown": [1, 2,], // kept\n${text.slice(text.indexOf("{") + 1).trimEnd()}\n`;
  await withNimlet({
    args: ["--session-id", "s1", "--no-session"],
    replies: [{ toolCalls: [waitForGo()] }, { text: "done" }],
    extraConfig: { agent: { follow_up_mode: "all" } },
    prepare: async ({ home }) => {
      const file = `${home}/config.jsonc`;
      await Deno.writeTextFile(file, config(await Deno.readTextFile(file)));
    },
  }, async (nimlet) => {
    const file = `${nimlet.home.home}/config.jsonc`;
    const before = await Deno.readTextFile(file);
    await nimlet.begin("go");
    await nimlet.weir.next("tool_call");
    await nimlet.send(
      { type: "steer", message: "one" },
      { type: "steer", message: "two" },
      { id: "m", type: "set_steering_mode", mode: "all" },
      { id: "s", type: "get_state" },
    );
    assertEquals(await nimlet.weir.response("m"), {
      version: 1,
      type: "response",
      id: "m",
      ok: true,
    });
    const state = await nimlet.weir.response("s");
    assertEquals([state.steering_mode, state.follow_up_mode], ["all", "all"]);
    const after = await Deno.readTextFile(file);
    for (const line of before.split("\n").filter((text) => !text.includes("follow_up_mode"))) {
      assertStringIncludes(after, line);
    }
    assertStringIncludes(after, '"steering_mode": "all"');
    assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);
    await nimlet.touch("go");
    const records = await nimlet.weir.until(isEnd);
    const step = records.findIndex(({ type }) => type === "step_end");
    assertEquals(kindsOf(records.slice(step, step + 6)), [
      "step_end",
      "dequeue 1",
      "dequeue 0",
      "user",
      "user",
      "step_start",
    ]);
    assertEquals(saidIn(nimlet.server.requests[1]).slice(-2), ["user: one", "user: two"]);
    // A file that is not valid any more stays as it is, and so does the mode.
    await Deno.writeTextFile(file, "{ broken");
    const refused = await nimlet.ask({ type: "set_steering_mode", mode: "one-at-a-time" });
    assertEquals(refused.ok, false);
    assertStringIncludes(String(refused.error), "config.jsonc");
    assertEquals(await Deno.readTextFile(file), "{ broken");
    assertEquals((await nimlet.ask({ type: "get_state" })).steering_mode, "all");
    assertEquals([...Deno.readDirSync(nimlet.home.home)].map(({ name }) => name).sort(), [
      "config.jsonc",
      "trust.json",
    ]);
  });
});
