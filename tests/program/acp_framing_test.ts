import { assertEquals, assertMatch } from "@std/assert";
import { prepareHome } from "../fakes/prepare_home.ts";
import { startWeir } from "../fakes/weir_process.ts";
import { withAcp } from "./_with_acp.ts";

Deno.test("acp answers initialize with its capabilities", () =>
  withAcp({ initialize: false }, async ({ client }) => {
    const result = await client.initialize();
    assertEquals(result.protocolVersion, 1);
    assertEquals(result.agentCapabilities, {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: false },
      sessionCapabilities: { list: {}, resume: {}, close: {} },
      auth: {},
      _meta: { weir: { steer: true } },
    });
    assertEquals((result.agentInfo as { name: string }).name, "weir");
    assertEquals((result.authMethods as { id: string }[]).map(({ id }) => id), ["weir-config"]);
  }));

Deno.test("acp answers the same bytes for --mode rpc --dialect acp", async () => {
  await using home = await prepareHome();
  const texts: string[] = [];
  for (const args of [["--mode", "acp"], ["--mode", "rpc", "--dialect", "acp"]]) {
    await using weir = await startWeir({ args, home: home.home });
    await weir.send({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: 65535 },
    });
    texts.push(JSON.stringify(await weir.response(1)));
    await weir.closeInput();
    assertEquals(await weir.waitForExit(), { code: 0, signal: null });
    assertEquals(weir.records.length, 1);
  }
  assertEquals(texts[0], texts[1]);
  assertMatch(texts[0]!, /"protocolVersion":1,/);
});

Deno.test("acp offers setup to clients with a terminal, and no stores without sessions", async () => {
  await withAcp({ initialize: false, args: ["--no-session"] }, async ({ client }) => {
    const result = await client.initialize({ auth: { terminal: true } });
    assertEquals(
      (result.authMethods as unknown[])[1],
      { id: "weir-setup", type: "terminal", name: "Run weir setup", args: ["--setup"], env: {} },
    );
    const capabilities = result.agentCapabilities as Record<string, unknown>;
    assertEquals(capabilities.loadSession, false);
    assertEquals(capabilities.sessionCapabilities, { close: {} });
    for (const method of ["session/list", "session/load", "session/resume"]) {
      assertEquals((await client.refused(method)).code, -32601);
    }
  });
});

Deno.test("acp refuses a version that is none", () =>
  withAcp({ initialize: false }, async ({ client }) => {
    for (const protocolVersion of ["1", -1, 65536, 1.5, null, undefined]) {
      const { code, data } = await client.refused("initialize", { protocolVersion });
      assertEquals([code, data?.path], [-32602, "protocolVersion"]);
    }
    await client.initialize();
    assertEquals((await client.refused("initialize", { protocolVersion: 1 })).code, -32600);
  }));

Deno.test("acp takes every legal id and no other", () =>
  withAcp({}, async ({ client: { weir } }) => {
    for (const id of [0, "", -7, 1.5, null, "é𝄞", 2 ** 53 - 1]) {
      await weir.send({ jsonrpc: "2.0", id, method: "session/list" });
      assertEquals((await weir.response(id)).id, id);
    }
    for (const id of ["{}", "[]", "true", "9007199254740993", "1e400"]) {
      await weir.sendRaw(`{"jsonrpc":"2.0","id":${id},"method":"session/list"}\n`);
      const record = await weir.next((record) => record.error !== undefined);
      assertEquals(record.id, null);
      assertEquals((record.error as { code: number }).code, -32600);
    }
  }));

Deno.test("acp answers every line that is no message once", () =>
  withAcp({}, async ({ client, client: { weir } }) => {
    const cases: [line: string, code: number, id: unknown][] = [
      ["{bad", -32700, null],
      ['[{"jsonrpc":"2.0","id":1,"method":"session/list"}]', -32600, null],
      ["[]", -32600, null],
      ["null", -32600, null],
      ["42", -32600, null],
      ['"x"', -32600, null],
      ["true", -32600, null],
      ['{"id":"a","method":"session/list"}', -32600, "a"],
      ['{"jsonrpc":"1.0","id":"b","method":"session/list"}', -32600, "b"],
      ['{"jsonrpc":"2.0","id":"c","method":7}', -32600, "c"],
      ['{"jsonrpc":"2.0","id":"d","method":"session/list","result":{}}', -32600, "d"],
      ['{"jsonrpc":"2.0","id":"e"}', -32600, "e"],
      ["{}", -32600, null],
      ['{"jsonrpc":"2.0","id":"f","method":"nope/nope"}', -32601, "f"],
      ['{"jsonrpc":"2.0","id":"g","method":"_x/y"}', -32601, "g"],
      ['{"jsonrpc":"2.0","id":"h","method":"__proto__"}', -32601, "h"],
      ['{"jsonrpc":"2.0","id":"i","method":"session/list","params":[]}', -32602, "i"],
      ['{"jsonrpc":"2.0","id":"j","method":"session/list","params":"x"}', -32602, "j"],
    ];
    const before = weir.records.length;
    // What gets no answer: blanks, a notification, a stray answer, a request without an id.
    await weir.sendRaw(
      ' \t\n\r\n{"jsonrpc":"2.0","method":"nope/nope"}\n{"jsonrpc":"2.0","id":999,"result":{}}\n' +
        '{"jsonrpc":"2.0","id":998,"error":{"code":1,"message":"x"},"result":{}}\n' +
        '{"jsonrpc":"2.0","method":"session/new","params":{}}\n' +
        '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"none"}}\n' +
        '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":4}}\n',
    );
    await weir.sendRaw(cases.map(([line]) => line + "\n").join(""));
    await client.request("session/list");
    const answers = weir.records.slice(before, -1);
    assertEquals(
      answers.map(({ id, error }) => [(error as { code: number }).code, id]),
      cases.map(([, code, id]) => [code, id]),
    );
  }));

Deno.test("acp names the request whose id is used twice, and goes on with the first", () =>
  withAcp({}, async ({ client: { weir }, server, workspace, client }) => {
    const session = await client.open(workspace);
    const gate = Promise.withResolvers<void>();
    server.reply({ text: "done", gate: gate.promise });
    const params = { sessionId: session, prompt: [{ type: "text", text: "hi" }] };
    await weir.send({ jsonrpc: "2.0", id: "same", method: "session/prompt", params });
    await weir.send({ jsonrpc: "2.0", id: "same", method: "session/list" });
    const refusal = await weir.next((record) => record.error !== undefined);
    assertEquals(refusal.id, null);
    assertMatch((refusal.error as { message: string }).message, /"same"/);
    gate.resolve();
    assertEquals((await weir.response("same")).result, { stopReason: "end_turn" });
  }));

Deno.test("acp wants initialize first, but knows its methods before", () =>
  withAcp({ initialize: false }, async ({ client }) => {
    assertEquals((await client.refused("nope")).code, -32601);
    assertEquals((await client.refused("session/list", [])).code, -32600);
    assertEquals((await client.refused("session/cancel", { sessionId: "x" })).code, -32600);
    await client.initialize();
    assertEquals(await client.request("session/cancel", { sessionId: "x" }), {});
  }));

Deno.test("acp reads a last line without its end, and ends with its input", () =>
  withAcp({}, async ({ client: { weir } }) => {
    await weir.sendRaw('{"jsonrpc":"2.0","id":5,"method":"session/list"}');
    await weir.closeInput();
    assertEquals((await weir.response(5)).result, { sessions: [] });
    assertEquals(await weir.waitForExit(), { code: 0, signal: null });
  }));

Deno.test("acp refuses options that name one conversation, and bad settings, before it reads", async () => {
  await using home = await prepareHome();
  for (
    const [args, text] of [
      [["--session", "x"], "--session"],
      [["--session-id", "x"], "--session-id"],
      [["-c"], "-c"],
      [["--name", "x"], "--name"],
      [["/no/such/folder"], "No such folder: /no/such/folder"],
    ] as const
  ) {
    await using weir = await startWeir({ args: ["--mode", "acp", ...args], home: home.home });
    assertEquals((await weir.waitForExit()).code, 2);
    assertEquals(weir.stderr.includes(text), true, weir.stderr);
    assertEquals(weir.records, []);
  }
  await Deno.writeTextFile(`${home.home}/config.jsonc`, "{,}");
  await using weir = await startWeir({ args: ["--mode", "acp"], home: home.home });
  assertEquals((await weir.waitForExit()).code, 2);
  assertMatch(weir.stderr, /settings could not be read/);
});
