import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Json, withAcp } from "./_with_acp.ts";

Deno.test("acp runs turns of two sessions at once, each in its own folder", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const folders = [`${workspace}/one`, `${workspace}/two`];
    for (const folder of folders) {
      await Deno.mkdir(folder);
      await Deno.writeTextFile(`${folder}/name.txt`, folder);
    }
    const [one, two] = [await client.open(folders[0]!), await client.open(folders[1]!)];
    const gate = Promise.withResolvers<void>();
    server.answer(({ messages }) => {
      const text = JSON.stringify(messages);
      if (text.includes("slow")) return { text: "late", gate: gate.promise };
      return messages.at(-1)!.role === "tool"
        ? { text: "quick" }
        : { toolCalls: [{ name: "read", args: { path: "name.txt" } }] };
    });
    const slow = client.prompt(one, "slow");
    await server.waitForRequests(1);
    assertEquals(await client.stopReason(client.prompt(two, "read")), "end_turn");
    assertStringIncludes(JSON.stringify(client.end(two, "Read name.txt")), folders[1]!);
    gate.resolve();
    assertEquals(await client.stopReason(slow), "end_turn");
    assertEquals([client.text(one), client.text(two)], ["late", "quick"]);
  }));

Deno.test("acp lists and loads what an earlier process saved, and goes on with it", () =>
  withAcp({ args: ["--yolo"] }, async ({ client, server, workspace, start }) => {
    const session = await client.open(workspace);
    const empty = await client.open(workspace);
    const items = [{ text: "look", status: "completed" }];
    server.reply({
      thinking: "hm",
      text: "I look.",
      toolCalls: [
        { name: "read", args: { path: "notes.txt" } },
        { name: "todo", args: { items } },
        { name: "write", args: { path: "new.txt", content: "new" } },
        { name: "read", args: { path: "nothing.txt" } },
      ],
    }, { text: "Done." });
    const prompt = client.prompt(session, "Read it, please\nand more", {
      type: "image",
      mimeType: "image/png",
      data: "iVBORw0KGgo=",
    });
    assertEquals(await client.stopReason(prompt), "end_turn");
    const live = client.updates(session);
    assertEquals((await client.close()).code, 0);

    const next = await start();
    const { sessions } = await next.request("session/list", { cwd: workspace }) as {
      sessions: Json[];
    };
    assertEquals(sessions.map(({ sessionId, cwd, title }) => [sessionId, cwd, title]), [
      [session, workspace, "Read it, please"],
    ]);
    assertMatch(String(sessions[0]!.updatedAt), /^\d{4}-.*Z$/);
    assertEquals((await next.request("session/list")).sessions, sessions);

    const file = [...Deno.readDirSync(sessionFolder(workspace))].find(({ name }) =>
      name.endsWith(".jsonl")
    )!;
    const before = await Deno.readTextFile(`${sessionFolder(workspace)}/${file.name}`);
    const id = next.send("session/load", { sessionId: session, cwd: workspace, mcpServers: [] });
    const loaded = await next.result(id);
    assertEquals((loaded.configOptions as Json[]).length, 3);
    const at = next.weir.records.findIndex((record) => record.id === id);
    const replay = next.weir.records.slice(0, at).flatMap(({ params }) =>
      params === undefined ? [] : [(params as Json).update as Json]
    );
    assertEquals(replay.map(({ sessionUpdate, status }) => status ?? sessionUpdate), [
      "user_message_chunk",
      "user_message_chunk",
      "agent_thought_chunk",
      "agent_message_chunk",
      "completed",
      "plan",
      "completed",
      "completed",
      "failed",
      "agent_message_chunk",
    ]);
    assertEquals((replay[0]!.content as Json).text, "Read it, please\nand more");
    // Ids are the same as they were live.
    const ids = (
      updates: Json[],
      key: string,
    ) => [...new Set(updates.map((update) => update[key]).filter((value) => value !== undefined))];
    assertEquals(ids(replay, "toolCallId"), ids(live, "toolCallId"));
    assertEquals(ids(replay.slice(2), "messageId"), ids(live, "messageId"));
    assertEquals(replay[7]!.content, [
      { type: "diff", path: `${workspace}/new.txt`, oldText: null, newText: "new" },
    ]);
    await next.update("usage_update");
    assertEquals(await Deno.readTextFile(`${sessionFolder(workspace)}/${file.name}`), before);
    server.reply({ text: "Still there." });
    assertEquals(await next.stopReason(next.prompt(session, "again")), "end_turn");
    assertStringIncludes(JSON.stringify(server.requests.at(-1)!.messages), "Read it, please");

    for (const method of ["session/load", "session/resume"]) {
      const params = { cwd: workspace, mcpServers: [] };
      const unknown = await next.refused(method, { ...params, sessionId: empty });
      assertEquals([unknown.code, unknown.data], [-32002, { sessionId: empty }]);
      const elsewhere = await next.refused(method, { ...params, sessionId: session, cwd: "/" });
      assertEquals([elsewhere.code, elsewhere.data?.path], [-32602, "cwd"]);
    }
    const other = await start();
    const held = await other.refused("session/resume", { sessionId: session, cwd: workspace });
    assertEquals([held.code, held.data], [-32603, { pid: next.weir.pid }]);
    assertEquals((await next.close()).code, 0);

    function sessionFolder(folder: string): string {
      return `${folder}/../home/sessions/--${folder.slice(1).replaceAll("/", "-")}--`;
    }
  }));

Deno.test("acp resumes without a replay, with the model and the level that were set", () =>
  withAcp({}, async ({ client, server, workspace, start }) => {
    const sessionId = await client.open(workspace);
    server.reply({ text: "one" });
    await client.stopReason(client.prompt(sessionId, "remember me"));
    const set = { sessionId, configId: "thinking", value: "high" };
    await client.request("session/set_config_option", set);
    await client.request("session/set_mode", { sessionId, modeId: "allow" });
    await client.close();
    const next = await start();
    const { configOptions } = await next.request("session/resume", { sessionId, cwd: workspace });
    assertEquals((configOptions as Json[]).map(({ currentValue }) => currentValue), [
      "ask",
      "local/test-model",
      "high",
    ]);
    await next.update("available_commands_update");
    assertEquals(next.text(sessionId, "user_message_chunk"), "");
    server.reply({ text: "two" });
    await next.stopReason(next.prompt(sessionId, "and?"));
    assertStringIncludes(JSON.stringify(server.requests[1]!.messages), "remember me");
  }));

Deno.test("acp takes a session that is open as it is, unless its turn runs", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const sessionId = await client.open(workspace);
    const params = { sessionId, cwd: workspace, mcpServers: [] };
    await client.request("session/load", params);
    const gate = Promise.withResolvers<void>();
    server.reply({ text: "ok", gate: gate.promise });
    const id = client.prompt(sessionId, "go");
    assertEquals((await client.refused("session/load", params)).code, -32600);
    gate.resolve();
    await client.stopReason(id);
    await client.request("session/load", params);
    assertEquals(client.text(sessionId, "user_message_chunk"), "go");
  }));

Deno.test("acp closes a session in the middle of a turn, and opens it again", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const sessionId = await client.open(workspace);
    server.reply({ text: ["a", "b"], stallAfter: 1 });
    const prompt = client.prompt(sessionId, "go");
    await client.update("agent_message_chunk");
    const close = client.send("session/close", { sessionId });
    const late = client.prompt(sessionId, "too late");
    assertEquals(await client.result(close), {});
    assertEquals(await client.stopReason(prompt), "cancelled");
    assertEquals((await client.error(late)).code, -32002);
    const order = client.weir.records.map(({ id }) => id).filter((id) => id !== undefined);
    assertEquals(order.slice(-3), [prompt, close, late]);
    assertEquals((await client.refused("session/close", { sessionId })).code, -32002);
    // Everything behind the request for the same session waits for it.
    const load = client.send("session/load", { sessionId, cwd: workspace, mcpServers: [] });
    server.reply({ text: "back" });
    const next = client.prompt(sessionId, "go on");
    assertEquals(await client.stopReason(next), "end_turn");
    assertEquals((await client.result(load)).modes !== undefined, true);
  }));

Deno.test("acp gives the list in pages", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    server.answer(() => ({ text: "ok" }));
    for (let i = 0; i < 52; i++) {
      await client.stopReason(client.prompt(await client.open(workspace), `prompt ${i}`));
    }
    const first = await client.request("session/list");
    assertEquals((first.sessions as Json[]).length, 50);
    const second = await client.request("session/list", { cursor: first.nextCursor });
    assertEquals((second.sessions as Json[]).length, 2);
    assertEquals(second.nextCursor, undefined);
    const times = [...first.sessions as Json[], ...second.sessions as Json[]]
      .map(({ updatedAt }) => String(updatedAt));
    assertEquals(times, times.toSorted().reverse());
  }));

Deno.test("acp names files as the client names the folder, also through a symlink", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const link = `${workspace}/../link`;
    await Deno.symlink(workspace, link);
    const folder = link.replace("/workspace/..", "");
    const session = await client.open(folder);
    server.reply({ toolCalls: [{ name: "read", args: { path: "notes.txt" } }] }, { text: "ok" });
    await client.stopReason(client.prompt(session, "go"));
    const call = client.updates(session).find(({ title }) => title === "Read notes.txt")!;
    assertEquals(call.locations, [{ path: `${folder}/notes.txt` }]);
  }));

Deno.test("acp skips what an untrusted folder brings, and says so", () =>
  withAcp({
    trust: [],
    files: { ".weir/config.jsonc": '{"model":"local/evil"}' },
    capabilities: { session: { notices: {} } },
  }, async ({ client, workspace }) => {
    const opened = await client.request("session/new", { cwd: workspace, mcpServers: [] });
    const { currentValue } = (opened.configOptions as Json[])[1]!;
    assertEquals(currentValue, "local/test-model");
    const notice = await client.update("notice");
    assertStringIncludes(String(notice.title), "resources skipped");
    assert(client.weir.stderr.includes("resources skipped"));
  }));

Deno.test("acp writes nothing with --no-session", () =>
  withAcp({ args: ["--no-session"] }, async ({ client, server, workspace, home }) => {
    const session = await client.open(workspace);
    server.reply({ text: "ok" });
    assertEquals(await client.stopReason(client.prompt(session, "go")), "end_turn");
    await client.close();
    const names = [...Deno.readDirSync(home.home)].map(({ name }) => name).toSorted();
    assertEquals(names, ["config.jsonc", "trust.json"]);
  }));

Deno.test("acp tells retries as notices, and compactions where they are wanted", () =>
  withAcp({
    capabilities: { session: { notices: {}, compaction: {} } },
  }, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply({ status: 503, body: "busy" }, { text: "one ".repeat(50) });
    assertEquals(await client.stopReason(client.prompt(session, "go")), "end_turn");
    const notice = client.updates(session).find(({ sessionUpdate }) => sessionUpdate === "notice")!;
    assertMatch(String(notice.title), /503.*retry 1 of 6 in 1 s/);
    server.reply({ text: "summary" });
    assertEquals(await client.stopReason(client.prompt(session, "/compact")), "end_turn");
    const updates = client.updates(session).filter(({ compactionId }) =>
      compactionId !== undefined
    );
    assertEquals(updates.map(({ status }) => status), ["in_progress", "completed"]);
    assertEquals(updates[0]!.compactionId, updates[1]!.compactionId);
  }));
