import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { BUILT_IN_TOOL_NAMES } from "../../src/agent/tool_name.ts";
import { startHttpServer } from "../mcp/http_server.ts";
import { type ModelServer, startModelServer } from "../fakes/model_server.ts";
import { type PreparedHome, prepareHome } from "../fakes/prepare_home.ts";
import { startWeir, type WeirProcess } from "../fakes/weir_process.ts";

interface Bench {
  readonly server: ModelServer;
  readonly place: PreparedHome;
  readonly weir: WeirProcess;
}

interface BenchOptions {
  readonly servers?: Record<string, unknown>;
  /** By name, in the home's folder. */
  readonly extensions?: Record<string, string>;
  /** In the workspace's own folder. */
  readonly projectExtensions?: Record<string, string>;
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
}

const tiny = new URL("../mcp/tiny_server.ts", import.meta.url).pathname;

function tinyServer(mode: string): Record<string, unknown> {
  return { command: Deno.execPath(), args: ["run", "-A", "--no-config", tiny, mode] };
}

async function withWeir(
  options: BenchOptions,
  test: (bench: Bench) => Promise<void>,
): Promise<void> {
  await using server = startModelServer();
  await using place = await prepareHome({
    server,
    extraConfig: { mcp: { servers: options.servers ?? {} } },
  });
  const write = async (folder: string, files: Record<string, string> = {}) => {
    await Deno.mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${folder}/${name}`, text);
    }
  };
  await write(`${place.home}/extensions`, options.extensions);
  await write(`${place.workspace}/.weir/extensions`, options.projectExtensions);
  await using weir = await startWeir({
    args: ["--mode", "rpc", ...options.args ?? ["--extensions", "--yolo"], place.workspace],
    home: place.home,
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  await test({ server, place, weir });
}

/** Has the model make the calls, one after another, and gives their results by tool. */
async function call(
  { server, weir }: Bench,
  ...calls: { name: string; args?: Record<string, unknown> }[]
): Promise<Record<string, { status: unknown; output: string }>> {
  server.reply(
    { toolCalls: calls.map(({ name, args = {} }) => ({ name, args })) },
    { text: "Done." },
  );
  await weir.request({ type: "prompt", message: "go" });
  const results: Record<string, { status: unknown; output: string }> = {};
  for (const record of await weir.settled()) {
    if (record.type !== "tool_result") continue;
    results[String(record.name)] = { status: record.status, output: String(record.output) };
  }
  return results;
}

async function end({ weir }: Bench): Promise<void> {
  await weir.closeInput();
  assertEquals((await weir.waitForExit()).code, 0);
  assertEquals(await weir.livingProcesses(), []);
}

function offeredTools(server: ModelServer): string[] {
  const tools = server.requests.find(({ body }) => body.tools)?.body.tools as {
    function: { name: string };
  }[];
  return tools.map((tool) => tool.function.name);
}

Deno.test("--extensions offers tools of MCP servers and extensions, and nothing is left at the end", async () => {
  await using web = startHttpServer();
  await withWeir({
    servers: {
      tiny: tinyServer("good"),
      junk: tinyServer("junk"),
      web: { url: web.url },
      broken: tinyServer("crash"),
    },
    extensions: {
      "greet.js": `import process from "node:process";
      export default (weir) => {
        console.log("not on stdout");
        Deno.stdout.writeSync(new TextEncoder().encode("nor this\\n"));
        process.stdout.write("nor that\\n");
        weir.addTool({ name: "greet", description: "Greets", run: () => "hello from " + weir.workspace });
        weir.onModelRequest(() => ({ systemPrompt: "Speak softly." }));
      }`,
    },
    projectExtensions: {
      "own.js": `export default (weir) =>
        weir.addTool({ name: "own", description: "Own", run: () => "project" });`,
    },
    env: { SOME_TOKEN: "secret", PLAIN: "plain" },
  }, async (bench) => {
    const results = await call(
      bench,
      { name: "tiny_echo", args: { text: "a" } },
      { name: "junk_echo", args: { text: "b" } },
      { name: "web_echo", args: { text: "c" } },
      { name: "greet" },
      { name: "own" },
      { name: "tiny_get_env_", args: { name: "SOME_TOKEN" } },
      { name: "junk_get_env_", args: { name: "PLAIN" } },
      { name: "tiny_leave" },
    );
    const success = (output: string) => ({ status: "success", output });
    assertEquals(results, {
      tiny_echo: success("echo: a"),
      junk_echo: success("echo: b"),
      web_echo: success("echo: c"),
      greet: success(`hello from ${bench.place.workspace}`),
      own: success("project"),
      tiny_get_env_: success("(unset)"),
      junk_get_env_: success("plain"),
      tiny_leave: success("left something running"),
    });
    assertStringIncludes(
      JSON.stringify(bench.server.requests.find(({ body }) => body.tools)?.messages[0]),
      "Speak softly.",
    );
    await end(bench);
    const { stderr } = bench.weir;
    for (const text of ["not on stdout", "nor this", "nor that"]) {
      assertStringIncludes(stderr, text);
    }
    assertStringIncludes(
      stderr,
      "weir: MCP server broken does not start: the server has ended (exit code 3): no database\n",
    );
  });
});

Deno.test("without --extensions nothing is started", async () => {
  const marker = { command: "touch", args: ["started"] };
  const extensions = { "a.js": `console.error("loaded"); export default () => {};` };
  await withWeir({ servers: { marker }, extensions, args: ["--yolo"] }, async (bench) => {
    await call(bench, { name: "ls" });
    assert(offeredTools(bench.server).every((name) => BUILT_IN_TOOL_NAMES.has(name)));
    await end(bench);
    assertEquals(bench.weir.stderr, "");
    await assertRejects(() => Deno.stat(`${bench.place.workspace}/started`));
  });
});

Deno.test("tools of servers and extensions ask for approval", async () => {
  await withWeir({
    servers: { tiny: tinyServer("good") },
    extensions: {
      "a.js":
        `export default (weir) => weir.addTool({ name: "greet", description: "d", run: () => "hi" });`,
    },
    args: ["--extensions"],
  }, async (bench) => {
    bench.server.reply(
      { toolCalls: [{ name: "tiny_echo", args: {} }, { name: "greet", args: {} }] },
      { text: "Done." },
    );
    await bench.weir.request({ type: "prompt", message: "go" });
    const records = await bench.weir.settled();
    assertEquals(
      records.filter(({ type }) => type === "not_run").map(({ name, reason }) => ({
        name,
        reason,
      })),
      [
        { name: "tiny_echo", reason: "tiny_echo can change state" },
        { name: "greet", reason: "greet can change state" },
      ],
    );
    const outputs = records.filter(({ type }) => type === "tool_result").map(({ output }) =>
      output
    );
    assertEquals(outputs, Array(2).fill("not run: needs --yolo or approval"));
    await end(bench);
  });
});

Deno.test("hooks of an extension refuse calls, change results and hear of sessions", async () => {
  await withWeir({
    extensions: {
      "guard.js": `export default (weir) => {
        weir.onToolCall({
          before: ({ tool, arguments: args }) =>
            tool === "bash" && args.command.includes("curl") ? "No network here." : undefined,
          after: ({ tool }, { text }) => tool === "ls" ? { text: text.toUpperCase() } : undefined,
        });
        weir.onToolCall({ before: () => { throw new Error("broken"); } });
        weir.onSessionStart(({ id }) => weir.log("start " + id));
        weir.onSessionEnd(({ id }) => weir.log("end " + id));
      }`,
    },
  }, async (bench) => {
    const results = await call(
      bench,
      { name: "bash", args: { command: "curl http://127.0.0.1" } },
      { name: "ls" },
    );
    assertEquals(results.bash, { status: "error", output: "No network here." });
    assertStringIncludes(results.ls!.output, "README.MD");
    const { data } = await bench.weir.request({ type: "get_state" });
    const first = (data as { sessionId: string }).sessionId;
    await bench.weir.request({ type: "new_session" });
    await end(bench);
    const lines = bench.weir.stderr.split("\n");
    assertEquals(lines[0], `guard.js: start ${first}`);
    assert(lines.includes(`guard.js: end ${first}`));
    assertEquals(lines.filter((line) => line.startsWith("guard.js: end ")).length, 2);
    assert(lines.includes("weir: guard.js: the hook before ls failed: broken"));
  });
});

Deno.test("a project's configuration starts no server", async () => {
  await using server = startModelServer();
  await using place = await prepareHome({ server });
  await Deno.mkdir(`${place.workspace}/.weir`);
  await Deno.writeTextFile(
    `${place.workspace}/.weir/config.jsonc`,
    JSON.stringify({ mcp: { servers: { evil: { command: "touch", args: ["started"] } } } }),
  );
  await using weir = await startWeir({
    args: ["--mode", "rpc", "--extensions", place.workspace],
    home: place.home,
  });
  await weir.closeInput();
  assertEquals((await weir.waitForExit()).code, 0);
  assertStringIncludes(weir.stderr, '"mcp" is ignored');
  await assertRejects(() => Deno.stat(`${place.workspace}/started`));
});

Deno.test("a signal during the start ends the servers that were started", async () => {
  await withWeir({ servers: { hangs: tinyServer("hang"), other: tinyServer("stubborn") } }, async ({
    weir,
  }) => {
    // Both servers have their pid in the table once they were started.
    while ((await weir.livingProcesses()).length < 3) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    weir.kill("SIGTERM");
    assertEquals(await weir.waitForExit(), { code: 143, signal: null });
    assertEquals(await weir.livingProcesses(), []);
    assertEquals(weir.records, []);
  });
});

Deno.test("abort ends a call of a server, and the session goes on", async () => {
  await withWeir({ servers: { tiny: tinyServer("good") } }, async (bench) => {
    const { server, weir } = bench;
    server.reply({ toolCalls: [{ name: "tiny_wait", args: {} }] });
    await weir.request({ type: "prompt", message: "go" });
    await weir.next("assistant");
    await weir.request({ type: "abort" });
    const result = await weir.next("tool_result");
    assertEquals([result.status, result.output], ["error", "Interrupted"]);
    await weir.settled();
    const results = await call(
      bench,
      { name: "tiny_die" },
      { name: "tiny_echo", args: { text: "x" } },
    );
    assertEquals(
      results.tiny_echo!.output,
      "Cannot run tiny_echo: the server has ended (exit code 7)",
    );
    await end(bench);
  });
});

Deno.test("-p uses extensions, and a signal during their start ends it", async () => {
  await using server = startModelServer();
  const servers = { tiny: tinyServer("good") };
  await using place = await prepareHome({ server, extraConfig: { mcp: { servers } } });
  const args = ["--mode", "json", "--extensions", "--yolo", place.workspace, "go on"];
  {
    server.reply({ toolCalls: [{ name: "tiny_echo", args: { text: "a" } }] }, { text: "Done." });
    await using weir = await startWeir({ args, home: place.home });
    await weir.closeInput();
    assertEquals((await weir.next("tool_result")).output, "echo: a");
    assertEquals((await weir.waitForExit()).code, 0);
    assertEquals(await weir.livingProcesses(), []);
  }
  const config = JSON.parse(await Deno.readTextFile(`${place.home}/config.jsonc`));
  config.mcp.servers = { hangs: tinyServer("hang") };
  await Deno.writeTextFile(`${place.home}/config.jsonc`, JSON.stringify(config));
  await using weir = await startWeir({ args, home: place.home });
  await weir.closeInput();
  while ((await weir.livingProcesses()).length < 2) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  weir.kill("SIGTERM");
  assertEquals(await weir.waitForExit(), { code: 143, signal: null });
  assertEquals(await weir.livingProcesses(), []);
  assertEquals(weir.records, []);
});
