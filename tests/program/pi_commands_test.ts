/** Framing, checks of lines, state and settings of a pi RPC process. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { allOf, textOf, typesOf, withPi } from "./_with_pi.ts";

Deno.test("pi get_state as first line is answered first, idle and without a file", async () => {
  await withPi({}, async (pi) => {
    const state = await pi.state();
    assertEquals(pi.weir.records.length, 1);
    assertEquals(Object.keys(state), [
      "model",
      "thinkingLevel",
      "isStreaming",
      "isCompacting",
      "steeringMode",
      "followUpMode",
      "sessionFile",
      "sessionId",
      "autoCompactionEnabled",
      "messageCount",
      "pendingMessageCount",
    ]);
    assertEquals(state.model, {
      id: "test-model",
      name: "test-model",
      api: "openai-completions",
      provider: "local",
      baseUrl: pi.server.url,
      reasoning: true,
      input: ["text", "image"],
      cost: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 0 },
      contextWindow: 100_000,
      maxTokens: 8_000,
    });
    assertEquals([state.isStreaming, state.messageCount], [false, 0]);
    assertMatch(String(state.sessionFile), /^\/.*\.jsonl$/);
    assertEquals(await Deno.stat(String(state.sessionFile)).catch(() => "none"), "none");
  });
});

Deno.test("pi --no-session writes no file", async () => {
  await withPi({ args: ["--no-session"], replies: [{ text: "fine" }] }, async (pi) => {
    await pi.run("go");
    assertEquals((await pi.state()).sessionFile, undefined);
    const names = [];
    for await (const { name } of Deno.readDir(pi.home.home)) names.push(name);
    assertEquals(names.sort(), ["config.jsonc", "trust.json"]);
  });
});

Deno.test("pi lines that are no commands get parse errors, and empty lines nothing", async () => {
  await withPi({}, async (pi) => {
    await pi.weir.sendRaw(
      '\uFEFFnull\n42\n"x"\n[]\n\n  \t\r\n{"id":"a"}\n{"id":7,"type":"nope"}\n',
    );
    await pi.weir.sendRaw('{"id":{"a":1},"type":"get_state"}\r\n{bad\n{"type":"get_commands"}');
    await pi.end();
    const shown = pi.weir.records.map(({ id, command, error }) => [id, command, error]);
    const notAnObject = "Failed to parse command: not an object";
    for (const record of shown.slice(0, 4)) assertEquals(record, [undefined, "parse", notAnObject]);
    assertEquals(shown.slice(4, 7), [
      ["a", "parse", "Failed to parse command: type must be a string"],
      [7, "nope", "Unknown command: nope"],
      [{ a: 1 }, "get_state", undefined],
    ]);
    assertMatch(String(shown[7][2]), /^Failed to parse command: ./);
    assertEquals(pi.weir.records[8], {
      type: "response",
      command: "get_commands",
      success: true,
      data: { commands: [] },
    });
    assertEquals(shown.length, 9);
  });
});

Deno.test("pi text arrives as it was sent", async () => {
  await withPi({ replies: [{ text: "fine" }] }, async (pi) => {
    const message = "a\u2028b @notes.txt \ud83d\ude00\r\n";
    const records = await pi.run(message);
    assertEquals(textOf(allOf(records, "message_end")[0].message), message);
    assertEquals(pi.lastRequest.messages.at(-1)!.content, message);
  });
});

Deno.test("pi fields that are wrong are refused and nothing is done", async () => {
  const images = 'images must be an array of {type:"image", data, mimeType}';
  const wrong: [Record<string, unknown>, string][] = [
    [{ type: "prompt" }, "prompt: message must be a string"],
    [{ type: "prompt", message: 5 }, "prompt: message must be a string"],
    [{ type: "prompt", message: "m", images: "x" }, `prompt: ${images}`],
    [{ type: "steer", message: "m", images: [{ type: "image" }] }, `steer: ${images}`],
    [{ type: "follow_up", message: null }, "follow_up: message must be a string"],
    [{ type: "bash" }, "bash: command must be a non-empty string"],
    [{ type: "bash", command: "" }, "bash: command must be a non-empty string"],
    [
      { type: "bash", command: "x", excludeFromContext: 1 },
      "bash: excludeFromContext must be true or false",
    ],
    [
      { type: "set_steering_mode", mode: "bogus" },
      'set_steering_mode: mode must be "all" or "one-at-a-time"',
    ],
    [
      { type: "set_follow_up_mode" },
      'set_follow_up_mode: mode must be "all" or "one-at-a-time"',
    ],
    [{ type: "set_auto_retry", enabled: 1 }, "set_auto_retry: enabled must be true or false"],
    [
      { type: "set_auto_compaction", enabled: "yes" },
      "set_auto_compaction: enabled must be true or false",
    ],
    [
      { type: "set_thinking_level", level: "huge" },
      "set_thinking_level: level must be one of off, minimal, low, medium, high, xhigh, max",
    ],
    [{ type: "compact", customInstructions: 1 }, "compact: customInstructions must be a string"],
    [{ type: "switch_session" }, "switch_session: sessionPath must be a non-empty string"],
    [{ type: "fork" }, "fork: entryId must be a non-empty string"],
    [{ type: "fork", entryId: "nope" }, "Invalid entry ID for forking"],
    [{ type: "get_entries", since: 1 }, "get_entries: since must be a string"],
    [{ type: "get_entries", since: "nope" }, "Entry not found: nope"],
    [{ type: "set_session_name", name: 1 }, "set_session_name: name must be a string"],
    [{ type: "set_session_name", name: "  " }, "Session name cannot be empty"],
    [{ type: "export_html", outputPath: "" }, "export_html: outputPath must be a non-empty string"],
    [{ type: "export_html" }, "Nothing to export yet - start a conversation first"],
    [{ type: "set_model", provider: "x", modelId: "y" }, "Model not found: x/y"],
    [
      { type: "clone" },
      "This session has not been saved yet. Send a message before cloning or forking it.",
    ],
  ];
  await withPi({}, async (pi) => {
    const [state, config] = [await pi.state(), await pi.config()];
    for (const [command, error] of wrong) assertEquals(await pi.error(command), error);
    assertEquals([await pi.state(), await pi.config()], [state, config]);
    assertEquals(pi.server.requests.length, 0);
  });
});

Deno.test("pi settings hold at once and are saved with the comments kept", async () => {
  await withPi({}, async (pi) => {
    const file = `${pi.home.home}/config.jsonc`;
    await Deno.writeTextFile(file, `// mine\n${await pi.config()}`);
    assertEquals((await pi.ask({ type: "set_steering_mode", mode: "all" })).success, true);
    assertEquals((await pi.ask({ type: "set_follow_up_mode", mode: "all" })).success, true);
    assertEquals((await pi.ask({ type: "set_auto_compaction", enabled: false })).success, true);
    assertEquals((await pi.ask({ type: "set_auto_retry", enabled: false })).success, true);
    const text = await pi.config();
    assertStringIncludes(text, "// mine");
    const { agent } = JSON.parse(text.replace("// mine", ""));
    assertEquals(agent, {
      steering_mode: "all",
      follow_up_mode: "all",
      auto_compaction: false,
      auto_retry: false,
    });
    const { steeringMode, followUpMode, autoCompactionEnabled } = await pi.state();
    assertEquals([steeringMode, followUpMode, autoCompactionEnabled], ["all", "all", false]);
  });
});

Deno.test("pi settings that cannot be saved are refused and stay as they were", async () => {
  await withPi({}, async (pi) => {
    await pi.state();
    await Deno.writeTextFile(`${pi.home.home}/config.jsonc`, "{ broken");
    assert(String(await pi.error({ type: "set_steering_mode", mode: "all" })).length > 10);
    assertEquals((await pi.state()).steeringMode, "one-at-a-time");
  });
});

Deno.test("pi models and levels", async () => {
  const models = { "test-model": { reasoning: true, thinkingLevels: ["max"] }, plain: {} };
  const extraConfig = { providers: { local: { models } } };
  await withPi({ extraConfig, replies: [{ text: "fine" }] }, async (pi) => {
    const listed = (await pi.data({ type: "get_available_models" })).models as { id: string }[];
    assertEquals(listed.map(({ id }) => id), ["test-model", "plain"]);
    const levels = await pi.data({ type: "get_available_thinking_levels" });
    assertEquals(levels, { levels: ["off", "minimal", "low", "medium", "high", "max"] });
    await pi.ask({ type: "set_thinking_level", level: "xhigh" });
    assertEquals((await pi.state()).thinkingLevel, "high");
    assertEquals(await pi.data({ type: "cycle_thinking_level" }), { level: "max" });
    assertEquals(await pi.data({ type: "cycle_thinking_level" }), { level: "off" });
    const changed = allOf(pi.weir.records, "thinking_level_changed");
    assertEquals(changed.map(({ level }) => level), ["high", "max", "off"]);
    const model = await pi.data({ type: "set_model", provider: "local", modelId: "plain" });
    assertEquals(model.id, "plain");
    assertEquals(await pi.data({ type: "get_available_thinking_levels" }), { levels: ["off"] });
    assertEquals((await pi.ask({ type: "cycle_thinking_level" })).data, null);
    await pi.run("go");
    assertEquals(pi.lastRequest.body.model, "plain");
    const next = await pi.data({ type: "cycle_model" });
    assertEquals([(next.model as { id: string }).id, next.isScoped], ["test-model", false]);
    const kinds = (await pi.entries()).map(({ type }) => type);
    assertEquals(kinds.filter((kind) => kind === "model_change").length, 3);
  });
});

Deno.test("pi prompt without a usable model says what to set", async () => {
  const provider = { baseUrl: "http://127.0.0.1:9", apiKeyEnv: "PI_TEST_KEY", models: { m: {} } };
  const extraConfig = { model: "keyed/m", providers: { keyed: provider } };
  await withPi({ extraConfig }, async (pi) => {
    const { model } = await pi.state();
    assertEquals((model as { id: string }).id, "unknown");
    assertEquals(
      await pi.error({ type: "prompt", message: "go" }),
      "No API key found for keyed. Set PI_TEST_KEY or apiKey in config.jsonc.",
    );
    await pi.data({ type: "set_model", provider: "local", modelId: "test-model" });
    pi.server.reply({ text: "fine" });
    assertEquals(typesOf(await pi.run("go")).at(-1), "agent_settled");
  });
});

Deno.test("pi set_session_name is told first and stored", async () => {
  await withPi({}, async (pi) => {
    const id = await pi.send({ type: "set_session_name", name: " a  name " });
    await pi.weir.next("session_info_changed");
    await pi.weir.response(id);
    assertEquals(pi.weir.records.map(({ type }) => type), ["session_info_changed", "response"]);
    const { sessionName, sessionFile } = await pi.state();
    assertEquals(sessionName, "a  name");
    assertStringIncludes(await Deno.readTextFile(String(sessionFile)), '"name":"a  name"');
  });
});

Deno.test("pi long lines are answered in time and too long ones refused", async () => {
  await withPi({}, async (pi) => {
    const long = "x".repeat(16 * 1024 * 1024);
    assertEquals(await pi.error({ type: "nope", long }), "Unknown command: nope");
    await pi.weir.sendRaw(`{"type":"nope","long":"${"x".repeat(65 * 1024 * 1024)}"}\n`);
    const refused = await pi.weir.next(({ command }) => command === "parse");
    assertEquals(refused.error, "Failed to parse command: line longer than 64 MiB");
    assertEquals((await pi.ask({ type: "get_state" })).success, true);
  });
});
