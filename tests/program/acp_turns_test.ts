import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Json, withAcp } from "./_with_acp.ts";

Deno.test("acp opens a session with modes and options, then tells the commands", () =>
  withAcp({}, async ({ client, workspace }) => {
    const result = await client.request("session/new", { cwd: workspace, mcpServers: null });
    assertMatch(String(result.sessionId), /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    const modes = result.modes as { currentModeId: string; availableModes: Json[] };
    assertEquals(modes.currentModeId, "ask");
    assertEquals(modes.availableModes.map(({ id }) => id), ["ask", "allow", "deny"]);
    const options = result.configOptions as Json[];
    assertEquals(options.map(({ id, category, currentValue }) => [id, category, currentValue]), [
      ["mode", "mode", "ask"],
      ["model", "model", "local/test-model"],
      ["thinking", "thought_level", "default"],
    ]);
    const { availableCommands } = await client.update("available_commands_update");
    assertEquals((availableCommands as Json[]).map(({ name }) => name), [
      "compact",
      "jobs",
      "stop",
    ]);
    assertEquals(client.weir.records.length, 3);
  }));

Deno.test("acp names the parameter that is wrong", () =>
  withAcp({}, async ({ client, workspace }) => {
    const refusals: [method: string, params: Json, path: string][] = [
      ["session/new", { cwd: 7, mcpServers: [] }, "cwd"],
      ["session/new", { cwd: "relative", mcpServers: [] }, "cwd"],
      ["session/new", { cwd: "/no/such/folder", mcpServers: [] }, "cwd"],
      ["session/new", { cwd: workspace }, "mcpServers"],
      ["session/new", { cwd: workspace, mcpServers: {} }, "mcpServers"],
      ["session/new", {
        cwd: workspace,
        mcpServers: [{ type: "sse", name: "x", url: "http://x", headers: [] }],
      }, "mcpServers[0].type"],
      [
        "session/new",
        { cwd: workspace, mcpServers: [{ name: "x", command: "x", args: [1], env: [] }] },
        "mcpServers[0].args[0]",
      ],
      [
        "session/new",
        { cwd: workspace, mcpServers: [{ name: "x", command: "x", args: [] }] },
        "mcpServers[0].env",
      ],
      [
        "session/new",
        { cwd: workspace, mcpServers: [], additionalDirectories: ["/x"] },
        "additionalDirectories",
      ],
      ["session/list", { cwd: "x" }, "cwd"],
      ["session/list", { cursor: "x" }, "cursor"],
      ["session/prompt", { sessionId: 1, prompt: [] }, "sessionId"],
      ["session/prompt", { sessionId: "x", prompt: [] }, "prompt"],
      ["session/prompt", { sessionId: "x", prompt: [{ type: "text", text: " \n" }] }, "prompt"],
      ["session/prompt", { sessionId: "x", prompt: [{ type: "audio" }] }, "prompt[0].type"],
      ["session/prompt", { sessionId: "x", prompt: [{ type: "text" }] }, "prompt[0].text"],
      [
        "session/prompt",
        { sessionId: "x", prompt: [{ type: "image", mimeType: "image/bmp", data: "AAAA" }] },
        "prompt[0].mimeType",
      ],
      [
        "session/prompt",
        { sessionId: "x", prompt: [{ type: "image", mimeType: "image/png", data: "A" }] },
        "prompt[0].data",
      ],
      ["authenticate", { methodId: "x" }, "methodId"],
      ["session/set_mode", { sessionId: "x" }, "modeId"],
    ];
    for (const [method, params, path] of refusals) {
      const { code, data, message } = await client.refused(method, params);
      assertEquals([method, code, data?.path], [method, -32602, path]);
      assertStringIncludes(message, path);
    }
    for (const method of ["session/prompt", "session/close", "session/set_mode", "_weir/steer"]) {
      const prompt = [{ type: "text", text: "hi" }];
      const { code } = await client.refused(method, { sessionId: "none", prompt, modeId: "ask" });
      assertEquals([method, code], [method, -32002]);
    }
  }));

Deno.test("acp tells thoughts and text as they come, and ends the turn", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply({
      thinking: ["let ", "me ", "see"],
      text: ["Hel", "lo 𝄞", " \u2028end"],
      usage: { input: 100, output: 20, cacheRead: 40 },
    });
    assertEquals(await client.stopReason(client.prompt(session, "Say hello")), "end_turn");
    assertEquals(client.text(session), "Hello 𝄞 \u2028end");
    assertEquals(client.text(session, "agent_thought_chunk"), "let me see");
    const ids = (kind: string) =>
      new Set(
        client.updates(session).filter(({ sessionUpdate }) => sessionUpdate === kind)
          .map(({ messageId }) => messageId),
      );
    assertEquals(ids("agent_message_chunk").size, 1);
    assertEquals(ids("agent_thought_chunk").size, 1);
    assert([...ids("agent_thought_chunk")][0] !== [...ids("agent_message_chunk")][0]);
    const usage = client.updates(session).find(({ sessionUpdate }) =>
      sessionUpdate === "usage_update"
    )!;
    assertEquals([usage.used, usage.size], [120, 100_000]);
    assertEquals((usage.cost as Json).currency, "USD");
    const title = client.updates(session).filter(({ sessionUpdate }) =>
      sessionUpdate === "session_info_update"
    );
    assertEquals(title.map(({ title }) => title), ["Say hello"]);
    assertEquals(client.weir.records.at(-1)!.result, { stopReason: "end_turn" });
    assertEquals((await client.close()).code, 0);
    assertEquals(client.weir.records.at(-1)!.result, { stopReason: "end_turn" });
  }));

Deno.test("acp cuts long text at a size that clients take, never inside a character", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    const text = "a" + "𝄞".repeat(20_000);
    server.reply({ text });
    await client.stopReason(client.prompt(session, "hi"));
    assertEquals(client.text(session), text);
    for (const { content, sessionUpdate } of client.updates(session)) {
      if (sessionUpdate !== "agent_message_chunk") continue;
      const piece = String((content as Json).text);
      assert(piece.length <= 16_384 && piece.isWellFormed());
    }
  }));

Deno.test("acp tells the stop reasons and the errors of the model, and goes on", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply({ text: "cut", finish: "length" }, { text: "no", finish: "content_filter" });
    assertEquals(await client.stopReason(client.prompt(session, "1")), "max_tokens");
    assertEquals(await client.stopReason(client.prompt(session, "2")), "refusal");
    const chunk = { choices: [{ index: 0, delta: { refusal: "I will not." } }] };
    const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
    server.reply({
      raw: [chunk, end].map((data) => `data: ${JSON.stringify(data)}\n\n`).join("") +
        "data: [DONE]\n\n",
    });
    assertEquals(await client.stopReason(client.prompt(session, "2")), "refusal");
    assertStringIncludes(client.text(session), "I will not.");
    server.reply({ status: 400, body: { error: { message: "that is not allowed" } } });
    const failed = await client.error(client.prompt(session, "3"));
    assertEquals(failed.code, -32603);
    assertStringIncludes(failed.message, "that is not allowed");
    assertEquals(failed.data, { kind: "model", status: 400 });
    server.reply({ status: 401, body: { error: { message: "bad key" } } });
    assertEquals((await client.error(client.prompt(session, "4"))).code, -32000);
    server.reply({ text: "" });
    assertEquals((await client.error(client.prompt(session, "5"))).code, -32603);
    server.reply({ text: "fine" });
    assertEquals(await client.stopReason(client.prompt(session, "6")), "end_turn");
  }));

Deno.test("acp ends a turn after as many model requests as are allowed", () =>
  withAcp(
    { extraConfig: { acp: { maxTurnRequests: 3 } } },
    async ({ client, server, workspace }) => {
      const session = await client.open(workspace);
      server.answer(() => ({ toolCalls: [{ name: "ls", args: {} }] }));
      assertEquals(await client.stopReason(client.prompt(session, "go")), "max_turn_requests");
      assertEquals(server.requests.length, 3);
      const ends = client.updates(session).filter(({ status }) => status === "completed");
      assertEquals(ends.length, 3);
    },
  ));

Deno.test("acp queues a second prompt and answers in order", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    const gate = Promise.withResolvers<void>();
    server.reply({ text: "one", gate: gate.promise }, { text: "two" });
    const first = client.prompt(session, "first");
    const second = client.prompt(session, "second");
    gate.resolve();
    assertEquals(await client.stopReason(second), "end_turn");
    assertEquals(await client.stopReason(first), "end_turn");
    const order = client.weir.records.flatMap((record) => {
      if (record.id === first || record.id === second) return [record.id];
      const text = ((record.params as Json)?.update as Json)?.content as Json | undefined;
      return text?.text === undefined ? [] : [text.text];
    });
    assertEquals(order, ["one", first, "two", second]);
  }));

Deno.test("acp keeps 32 prompts and refuses one more", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    const gate = Promise.withResolvers<void>();
    server.answer(() => ({ text: "x", gate: gate.promise }));
    const ids = Array.from({ length: 34 }, (_, i) => client.prompt(session, `${i}`));
    assertEquals((await client.error(ids[33]!)).code, -32600);
    await client.notify("session/cancel", { sessionId: session });
    for (const id of ids.slice(0, 33)) assertEquals(await client.stopReason(id), "cancelled");
    const answered = client.weir.records.map(({ id }) => id).filter((id) =>
      ids.includes(String(id))
    );
    assertEquals(answered, [ids[33], ...ids.slice(0, 33)]);
    gate.resolve();
  }));

Deno.test("acp gives a steering message to the model before its next request", () =>
  withAcp({ args: ["--yolo"] }, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    const gate = Promise.withResolvers<void>();
    server.reply({ text: "thinking", gate: gate.promise }, { text: "changed" });
    const id = client.prompt(session, "go");
    await server.waitForRequests(1);
    const prompt = [{ type: "text", text: "another way" }];
    assertEquals(await client.request("_weir/steer", { sessionId: session, prompt }), {});
    gate.resolve();
    assertEquals(await client.stopReason(id), "end_turn");
    assertEquals(client.text(session, "user_message_chunk"), "another way");
    assertStringIncludes(JSON.stringify(server.requests[1]!.messages), "another way");
    const { code } = await client.refused("_weir/steer", { sessionId: session, prompt });
    assertEquals(code, -32600);
  }));

Deno.test("acp makes one message of text, image, link and resource", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    server.reply({ text: "seen" });
    const image = { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" };
    const id = client.prompt(
      session,
      "look",
      "at",
      image,
      { type: "resource_link", name: "a.ts", uri: "file:///w/a.ts" },
      { type: "resource", resource: { uri: "file:///w/b%20c.ts", text: "const b = 1;" } },
    );
    assertEquals(await client.stopReason(id), "end_turn");
    assertEquals(server.requests[0]!.messages.at(-1)!.content, [
      { type: "text", text: "look\nat" },
      { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
      {
        type: "text",
        text: "[a.ts](file:///w/a.ts)[b c.ts](file:///w/b%20c.ts)\n\n" +
          '<resource uri="file:///w/b%20c.ts">\nconst b = 1;\n</resource>',
      },
    ]);
  }));

Deno.test("acp changes modes and options in both views", () =>
  withAcp({
    extraConfig: { providers: { local: { models: { other: { reasoning: false } } } } },
  }, async ({ client, server, workspace }) => {
    const sessionId = await client.open(workspace);
    assertEquals(await client.request("session/set_mode", { sessionId, modeId: "allow" }), {});
    const options = await client.update("config_option_update");
    assertEquals((options.configOptions as Json[])[0]!.currentValue, "allow");
    server.reply(
      { toolCalls: [{ name: "write", args: { path: "a.txt", content: "a" } }] },
      { text: "ok" },
    );
    assertEquals(await client.stopReason(client.prompt(sessionId, "write")), "end_turn");
    assertEquals(await Deno.readTextFile(`${workspace}/a.txt`), "a");
    const set = (configId: string, value: unknown) =>
      client.request("session/set_config_option", { sessionId, configId, value });
    const all = await set("mode", "deny");
    assertEquals((all.configOptions as Json[]).map(({ currentValue }) => currentValue), [
      "deny",
      "local/test-model",
      "default",
    ]);
    assertEquals((await client.update("current_mode_update")).currentModeId, "deny");
    server.reply(
      { toolCalls: [{ name: "write", args: { path: "b.txt", content: "b" } }] },
      { text: "ok" },
    );
    assertEquals(await client.stopReason(client.prompt(sessionId, "write")), "end_turn");
    assertEquals(client.states(sessionId, "Write b.txt"), ["pending", "failed"]);
    await set("thinking", "high");
    server.reply({ text: "ok" });
    await client.stopReason(client.prompt(sessionId, "think"));
    assertEquals(server.requests.at(-1)!.body.reasoning_effort, "high");
    const changed = await set("model", "local/other");
    assertEquals((changed.configOptions as Json[]).map(({ id }) => id), ["mode", "model"]);
    server.reply({ text: "ok" });
    await client.stopReason(client.prompt(sessionId, "who"));
    assertEquals(server.requests.at(-1)!.body.model, "other");
    for (
      const [configId, value, path] of [
        ["model", "local/none", "value"],
        ["mode", true, "value"],
        ["nope", "x", "configId"],
      ]
    ) {
      const params = { sessionId, configId, value };
      const { code, data } = await client.refused("session/set_config_option", params);
      assertEquals([code, data?.path], [-32602, path]);
    }
    const { data } = await client.refused("session/set_mode", { sessionId, modeId: "x" });
    assertEquals(data?.path, "modeId");
    assertEquals(
      client.weir.records.filter(({ method }) => method === "session/request_permission"),
      [],
    );
  }));

Deno.test("acp says what is missing when no model can be used", () =>
  withAcp({
    model: "test-model",
    extraConfig: { providers: { local: { apiKey: "", apiKeyEnv: "NO_SUCH_KEY" } } },
  }, async ({ client, workspace }) => {
    const opened = await client.refused("session/new", { cwd: workspace, mcpServers: [] });
    assertEquals(opened.code, -32000);
    assertStringIncludes(opened.message, "NO_SUCH_KEY");
    assertEquals((await client.refused("authenticate", { methodId: "weir-config" })).code, -32000);
    assertEquals(await client.request("session/list"), { sessions: [] });
  }));

Deno.test("acp runs its commands as turns without a message", () =>
  withAcp({}, async ({ client, server, workspace }) => {
    const session = await client.open(workspace);
    assertEquals(await client.stopReason(client.prompt(session, "/jobs")), "end_turn");
    assertEquals(client.text(session), "There are no background jobs.");
    assertEquals(await client.stopReason(client.prompt(session, "/stop j9")), "end_turn");
    assertStringIncludes(client.text(session), "No running job j9");
    assertEquals(server.requests.length, 0);
    server.reply({ text: "one" }, { text: "two" });
    assertEquals(await client.stopReason(client.prompt(session, "/jobsx")), "end_turn");
    assertEquals(await client.stopReason(client.prompt(session, "more")), "end_turn");
    server.reply({ text: "the summary" }, { text: "three" });
    assertEquals(await client.stopReason(client.prompt(session, "/compact keep it")), "end_turn");
    assertStringIncludes(client.text(session), "The conversation was compacted.");
    assertStringIncludes(JSON.stringify(server.requests[2]!.messages), "keep it");
    assertEquals(await client.stopReason(client.prompt(session, "go on")), "end_turn");
    assertStringIncludes(JSON.stringify(server.requests[3]!.messages), "the summary");
  }));
