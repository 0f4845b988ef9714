/** Direct commands of a pi RPC process. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { defaultProgram } from "../fakes/weir_process.ts";
import { allOf, calls, held, type Json, saidIn, withPi } from "./_with_pi.ts";

Deno.test("pi bash tells its output with its id, and the model reads it with the next prompt", async () => {
  await withPi({ replies: [{ text: "fine" }] }, async (pi) => {
    const command = "echo hi; echo err >&2; exit 3";
    const response = await pi.ask({ type: "bash", command, id: "b1" });
    assertEquals(response.data, {
      output: "hi\nerr\n",
      exitCode: 3,
      cancelled: false,
      truncated: false,
    });
    const updates = allOf(pi.weir.records, "bash_execution_update");
    assertEquals(updates.map(({ id }) => id === "b1").includes(false), false);
    assertEquals(updates.map(({ delta }) => delta).join(""), "hi\nerr\n");
    await pi.ask({ type: "bash", command: "echo secret", excludeFromContext: true });
    const messages = await pi.messages();
    assertEquals(messages.map(({ role }) => role), ["bashExecution", "bashExecution"]);
    assertEquals([messages[0].exitCode, messages[1].excludeFromContext], [3, true]);
    await pi.run("go");
    const said = saidIn(pi.lastRequest);
    assertEquals(
      said[0],
      `user: Ran \`${command}\`\n\`\`\`\nhi\nerr\n\`\`\`\nCommand exited with code 3`,
    );
    assertEquals(said.length, 2);
  });
});

Deno.test("pi bash keeps the end of a long output, and a file with all of it", async () => {
  await withPi({}, async (pi) => {
    const data = await pi.data({ type: "bash", command: "seq 1 20000" });
    assertEquals([data.truncated, data.exitCode], [true, 0]);
    assertEquals(String(data.output).split("\n").length, 2001);
    const all = await Deno.readTextFile(String(data.fullOutputPath));
    assertEquals(all.split("\n").length, 20_001);
    const deltas = allOf(pi.weir.records, "bash_execution_update").map(({ delta }) => delta);
    assertEquals(deltas.join(""), all);
  });
});

Deno.test("pi abort_bash stops all commands, each answers for itself", async () => {
  await withPi({}, async (pi) => {
    const one = await pi.send({ type: "bash", command: "echo a; sleep 77" });
    const two = await pi.send({ type: "bash", command: "trap '' TERM; echo b; sleep 77" });
    let begun = 0;
    await pi.weir.next(({ type }) => type === "bash_execution_update" && ++begun === 2);
    const stop = await pi.send({ type: "abort_bash" });
    for (const id of [one, two]) {
      const data = (await pi.weir.response(id)).data as Json;
      assertEquals([data.cancelled, "exitCode" in data], [true, false]);
    }
    assertEquals((await pi.weir.response(stop)).success, true);
    assertEquals((await pi.weir.livingProcesses()).length, 1);
  });
});

Deno.test("pi bash during a run is stored at its end", async () => {
  const replies = [
    calls({ id: "k1", name: "bash", args: { command: "while [ ! -e go ]; do sleep 0.02; done" } }),
    { text: "done" },
  ];
  await withPi({ replies }, async (pi) => {
    await pi.data({ type: "prompt", message: "go" });
    await pi.weir.next("tool_execution_start");
    await pi.data({ type: "bash", command: "echo direct" });
    assertEquals((await pi.messages()).some(({ role }) => role === "bashExecution"), false);
    await pi.data({ type: "bash", command: "touch go" });
    await pi.weir.settled();
    const messages = await pi.messages();
    assertEquals(messages.slice(-2).map(({ command }) => command), ["echo direct", "touch go"]);
  });
});

Deno.test("pi bash has no secrets, no input and no approvals", async () => {
  const env = { MY_TOKEN: "hidden", MY_WORD: "shown" };
  await withPi({ env, args: ["--approvals", "deny"] }, async (pi) => {
    const command = 'echo "[$MY_TOKEN][$MY_WORD]"; cat';
    const data = await pi.data({ type: "bash", command });
    assertEquals(data.output, "[][shown]\n");
  });
});

Deno.test("pi finishes accepted work after the end of the input", async () => {
  const replies = [{ text: "one", delayMs: 50 }, { text: "two" }];
  await withPi({ replies }, async (pi) => {
    await pi.sendAll(
      { type: "prompt", message: "go" },
      { type: "follow_up", message: "more" },
      { type: "bash", command: "sleep 0.3; echo late" },
    );
    await pi.end();
    const { records } = pi.weir;
    assertEquals(allOf(records, "agent_end").length, 1);
    assertEquals(allOf(records, "response").length, 3);
    const last = allOf(records, "response").at(-1)!;
    assertStringIncludes(JSON.stringify(last), "late");
    const reply = allOf(records, "turn_end").at(-1)!.message as Json;
    assertEquals(reply.content, [{ type: "text", text: "two" }]);
  });
});

Deno.test("pi end of the input does not lose what waits for another session", async () => {
  await withPi({ replies: [{ text: "one" }] }, async (pi) => {
    await pi.sendAll({ type: "new_session" }, { type: "prompt", message: "go" });
    await pi.end();
    assertEquals(allOf(pi.weir.records, "agent_settled").length, 1);
  });
});

Deno.test("pi WEIR_EOF_WAIT ends what takes too long", async () => {
  await withPi({ env: { WEIR_EOF_WAIT: "0" } }, async (pi) => {
    await pi.send({ type: "bash", command: "sleep 77" });
    await pi.weir.closeInput();
    await pi.exit({ code: 1 });
    const data = allOf(pi.weir.records, "response")[0].data as Json;
    assertEquals(data.cancelled, true);
  });
});

for (const [signal, code] of [["SIGTERM", 143], ["SIGINT", 130], ["SIGHUP", 129]] as const) {
  Deno.test(`pi ${signal} ends the run with its records`, async () => {
    const command = "trap '' TERM INT HUP; echo begun; while :; do sleep 0.1; done";
    const replies = [calls({ id: "k1", name: "bash", args: { command } })];
    await withPi({ replies }, async (pi) => {
      const { sessionFile } = await pi.state();
      await pi.data({ type: "prompt", message: "go" });
      await pi.weir.next("tool_execution_update");
      pi.weir.kill(signal);
      await pi.exit({ code });
      assertEquals(pi.weir.records.at(-1), { type: "agent_settled", aborted: true });
      assertEquals(await pi.weir.livingProcesses(), []);
      const lines = (await Deno.readTextFile(String(sessionFile))).trimEnd().split("\n");
      assertEquals(JSON.parse(lines.at(-1)!).message.stopReason, "aborted");
    });
  });
}

Deno.test("pi signal while the client does not read ends the process all the same", async () => {
  await using server = startModelServer({ strict: false });
  server.answer(() => ({ text: "word ".repeat(200), pieces: 60_000 }));
  await using home = await prepareHome({ server });
  const command = new Deno.Command(defaultProgram()[0], {
    args: [...defaultProgram().slice(1), "--mode", "rpc", "--dialect", "pi"],
    cwd: home.workspace,
    env: { WEIR_HOME: home.home },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  });
  const child = command.spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode('{"type":"prompt","message":"go"}\n'));
  await server.waitForRequests(1);
  // Nobody reads: the pipe fills and the answers wait.
  await new Promise((resolve) => setTimeout(resolve, 500));
  child.kill("SIGTERM");
  assertEquals((await child.status).code, 143);
  await child.stdout.cancel();
  await writer.close().catch(() => {});
});

Deno.test("pi client that closes stdout ends everything", async () => {
  const command = "echo begun; sleep 77";
  const replies = [calls({ id: "k1", name: "bash", args: { command } })];
  await withPi({ replies }, async (pi) => {
    await pi.data({ type: "prompt", message: "go" });
    await pi.weir.next("tool_execution_update");
    // Its input stays open, and the command writes nothing more.
    await pi.weir.closeOutput();
    await pi.exit({ code: 0, state: "midway" });
    assertEquals(await pi.weir.livingProcesses(), []);
  });
});

Deno.test("pi SIGTERM in the moment that a direct command starts beside a run ends both", async () => {
  const befores = [
    [{ type: "prompt", message: "go" }],
    [{ type: "clone" }, { type: "prompt", message: "go" }],
    [{ type: "set_session_name", name: "x" }],
  ];
  for (const [n, delayMs] of [0, 0, 0, 3, 3, 3, 15, 15, 15, 60, 60, 60].entries()) {
    const { reply } = held();
    await withPi({ replies: [{ text: "one" }, reply] }, async (pi) => {
      await pi.run("first");
      await pi.sendAll(...befores[n % 3]!, { type: "bash", command: "sleep 78" });
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      pi.weir.kill("SIGTERM");
      await pi.exit({ code: 143, state: "midway" });
      assertEquals(await pi.weir.livingProcesses(), []);
    });
  }
});
