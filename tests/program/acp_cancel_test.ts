import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Json, withAcp } from "./_with_acp.ts";

const SLEEP = "sleep 61 & setsid sleep 62 & sleep 63; wait";
const runSleep = { toolCalls: [{ name: "bash", args: { command: SLEEP } }] };

Deno.test("acp cancels an open question: no file, the call failed, a late yes changes nothing", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply({ toolCalls: [{ name: "write", args: { path: "a.txt", content: "a" } }] });
    const id = client.prompt(session, "write");
    const asked = await client.asked("session/request_permission");
    await client.notify("session/cancel", { sessionId: session });
    await client.reply(asked.id, { outcome: { outcome: "selected", optionId: "allow_once" } });
    assertEquals(await client.stopReason(id), "cancelled");
    assertEquals(client.states(session, "Write a.txt"), ["pending", "failed"]);
    assertStringIncludes(JSON.stringify(client.end(session, "Write a.txt")), "Interrupted");
    assertEquals(await Deno.stat(`${workspace}/a.txt`).catch(() => undefined), undefined);
    server.reply({ text: "ok" });
    assertEquals(await client.stopReason(client.prompt(session, "again")), "end_turn");
  }));

Deno.test("acp cancels a command with everything it started before it answers", () =>
  withAcp({ args: ["--yolo"] }, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply(runSleep);
    const id = client.prompt(session, "sleep");
    await client.update("tool_call_update", ({ status }) => status === "in_progress");
    for (;;) if ((await client.weir.livingProcesses()).length >= 4) break;
    await client.notify("session/cancel", { sessionId: session });
    assertEquals(await client.stopReason(id), "cancelled");
    assertEquals(await client.weir.livingProcesses(), [client.weir.pid]);
    assertEquals(client.states(session, SLEEP), ["pending", "in_progress", "failed"]);
    assertEquals(client.weir.records.at(-1)!.id, id);
  }));

Deno.test("acp answers each prompt once, however often it is cancelled", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    await client.notify("session/cancel", { sessionId: session });
    await client.notify("session/cancel", { sessionId: "none" });
    const gate = Promise.withResolvers<void>();
    server.reply({ text: "never", gate: gate.promise });
    const ids = [client.prompt(session, "one"), client.prompt(session, "two")];
    await server.waitForRequests(1);
    for (let i = 0; i < 3; i++) await client.notify("session/cancel", { sessionId: session });
    server.reply({ text: "fine" });
    // In the very next line.
    ids.push(client.prompt(session, "three"));
    assertEquals(await client.stopReason(ids[2]!), "end_turn");
    gate.resolve();
    const answers = client.weir.records.filter(({ id }) => ids.includes(String(id)));
    assertEquals(answers.map(({ id, result }) => [id, (result as Json).stopReason]), [
      [ids[0], "cancelled"],
      [ids[1], "cancelled"],
      [ids[2], "end_turn"],
    ]);
    assertEquals(client.text(session), "fine");
  }));

Deno.test("acp keeps the partial answer of a cancelled turn", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply({ text: ["half ", "an answer"], stallAfter: 1 }, { text: "ok" });
    const id = client.prompt(session, "go");
    await client.update("agent_message_chunk");
    await client.notify("session/cancel", { sessionId: session });
    assertEquals(await client.stopReason(id), "cancelled");
    assertEquals(await client.stopReason(client.prompt(session, "go on")), "end_turn");
    assertEquals((await client.close()).code, 0);
  }));

Deno.test("acp cancels one prompt alone by its request", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    const gate = Promise.withResolvers<void>();
    server.reply({ text: "never", gate: gate.promise }, { text: "third" });
    const [one, two, three] = ["one", "two", "three"].map((text) => client.prompt(session, text));
    await server.waitForRequests(1);
    await client.notify("$/cancel_request", { requestId: two });
    assertEquals(await client.stopReason(two!), "cancelled");
    await client.notify("$/cancel_request", { requestId: one });
    assertEquals(await client.stopReason(one!), "cancelled");
    assertEquals(await client.stopReason(three!), "end_turn");
    gate.resolve();
    await client.notify("$/cancel_request", { requestId: "none" });
    await client.notify("$/cancel_request", {});
    assertEquals(await client.request("session/list", { cwd: "/" }), { sessions: [] });
  }));

Deno.test("acp cancels a session that is being opened", () =>
  withAcp({}, async ({ client, workspace }) => {
    const id = client.send("session/new", {
      cwd: workspace,
      mcpServers: [{ name: "slow", command: "sleep", args: ["60"], env: [] }],
    });
    for (;;) if ((await client.weir.livingProcesses()).length >= 2) break;
    await client.notify("$/cancel_request", { requestId: id });
    assertEquals((await client.error(id)).code, -32800);
    assertEquals(await client.weir.livingProcesses(), [client.weir.pid]);
  }));

Deno.test("acp stops everything at the end of its input, and answers what is open", () =>
  withAcp({ args: ["--yolo"] }, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply(runSleep);
    const first = client.prompt(session, "sleep");
    await client.update("tool_call_update", ({ status }) => status === "in_progress");
    const second = client.prompt(session, "wait");
    await client.weir.closeInput();
    assertEquals(await client.weir.waitForExit({ timeoutMs: 15_000 }), { code: 0, signal: null });
    assertEquals(await client.stopReason(first), "cancelled");
    assertEquals(await client.stopReason(second), "cancelled");
    assertEquals(await client.weir.livingProcesses(), []);
  }));

Deno.test("acp handles what it read before the end of its input", () =>
  withAcp({}, async ({ client, workspace }) => {
    const id = client.send("session/new", { cwd: workspace, mcpServers: [] });
    await client.weir.closeInput();
    assertEquals(typeof (await client.result(id)).sessionId, "string");
    assertEquals((await client.weir.waitForExit()).code, 0);
  }));

Deno.test("acp ends with its client, and with signals", async () => {
  await withAcp({ args: ["--yolo"] }, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply(runSleep);
    client.prompt(session, "sleep");
    await client.update("tool_call_update", ({ status }) => status === "in_progress");
    await client.weir.closeOutput();
    // Something has to be written for the program to see it; a first answer may still fit into the pipe.
    const writing = setInterval(() => client.send("session/list"), 50);
    const exit = client.weir.waitForExit({ timeoutMs: 15_000 });
    assertEquals((await exit.finally(() => clearInterval(writing))).code, 0);
    assertEquals(await client.weir.livingProcesses(), []);
  });
  for (const [signal, code] of [["SIGTERM", 143], ["SIGINT", 130], ["SIGHUP", 129]] as const) {
    await withAcp({ args: ["--yolo"] }, async ({ client, server, workspace }) => {
      const session = await client.open(workspace);
      server.reply(runSleep);
      const id = client.prompt(session, "sleep");
      await client.update("tool_call_update", ({ status }) => status === "in_progress");
      client.weir.kill(signal);
      assertEquals((await client.weir.waitForExit({ timeoutMs: 15_000 })).code, code);
      assertEquals(await client.stopReason(id), "cancelled");
      assertEquals(await client.weir.livingProcesses(), []);
    });
  }
});

Deno.test("acp keeps background jobs when a turn is cancelled, and ends them with the session", () =>
  withAcp({ args: ["--yolo"] }, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply(
      { toolCalls: [{ name: "bash", args: { command: "sleep 64", background: true } }] },
      { text: "never", stallAfter: 0 },
    );
    const id = client.prompt(session, "go");
    await server.waitForRequests(2);
    await client.notify("session/cancel", { sessionId: session });
    assertEquals(await client.stopReason(id), "cancelled");
    assert((await client.weir.livingProcesses()).length > 1);
    assertEquals(await client.request("session/close", { sessionId: session }), {});
    assertEquals(await client.weir.livingProcesses(), [client.weir.pid]);
  }));

Deno.test("acp takes the end of its input for a no to what it has asked", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply({ toolCalls: [{ name: "write", args: { path: "a.txt", content: "a" } }] });
    const id = client.prompt(session, "write");
    await client.asked("session/request_permission");
    await client.weir.closeInput();
    assertEquals((await client.weir.waitForExit({ timeoutMs: 15_000 })).code, 0);
    assertEquals(await client.stopReason(id), "cancelled");
    assertEquals(client.states(session, "Write a.txt"), ["pending", "failed"]);
    assertEquals(await Deno.stat(`${workspace}/a.txt`).catch(() => undefined), undefined);
  }));

Deno.test("acp has saved what it told when it is killed", () =>
  withAcp({ args: ["--yolo"] }, async ({ client, server, workspace, start }) => {
    const session = await client.open(workspace);
    server.reply({
      text: "I run it.",
      toolCalls: [
        { name: "read", args: { path: "notes.txt" } },
        { name: "bash", args: { command: "sleep 65" } },
      ],
    });
    client.prompt(session, "go");
    await client.update("tool_call_update", ({ status }) => status === "completed");
    await client.update("tool_call_update", ({ status }) => status === "in_progress");
    client.weir.kill("SIGKILL");
    await client.weir.waitForExit();
    const next = await start();
    const params = { sessionId: session, cwd: workspace, mcpServers: [] };
    await next.request("session/load", params);
    assertEquals(next.text(session, "user_message_chunk"), "go");
    assertEquals(next.text(session), "I run it.");
    assertEquals(next.states(session, "Read notes.txt"), ["completed"]);
    const lost = next.end(session, "sleep 65");
    assertEquals(lost.status, "failed");
    assertStringIncludes(JSON.stringify(lost.content), "Interrupted");
  }));
