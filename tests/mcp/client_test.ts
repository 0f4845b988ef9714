import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { Tool, ToolOutcome } from "../../src/agent/tool.ts";
import { createDenoHost } from "../../src/deno/deno_host.ts";
import { connectMcpServers, type McpServers } from "../../src/mcp/client.ts";
import type { ServerConfig } from "../../src/mcp/server_config.ts";
import { createToolContext } from "../tools/_tool_context.ts";
import { startHttpServer } from "./http_server.ts";

const host = createDenoHost();

interface Bench extends AsyncDisposable {
  readonly folder: string;
  readonly warnings: string[];
  readonly servers: McpServers;
  call(name: string, args?: Record<string, unknown>, signal?: AbortSignal): Promise<ToolOutcome>;
}

function program(mode: string, env: Record<string, string> = {}): ServerConfig {
  const script = new URL("./tiny_server.ts", import.meta.url).pathname;
  return { command: Deno.execPath(), args: ["run", "-A", "--no-config", script, mode], env };
}

async function open(
  servers: Record<string, ServerConfig>,
  options: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<Bench> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "weir_mcp_" }));
  const warnings: string[] = [];
  try {
    const connected = await connectMcpServers({
      servers,
      host,
      folder,
      environment: { PATH: Deno.env.get("PATH") ?? "", HOME: folder, MCP_TEST: folder },
      signal: options.signal ?? new AbortController().signal,
      warn: (line) => warnings.push(line),
      timeoutMs: options.timeoutMs ?? 30_000,
    });
    return {
      folder,
      warnings,
      servers: connected,
      call: async (name, args = {}, signal) =>
        await find(connected, name).run(
          args,
          createToolContext(host, signal === undefined ? {} : { signal }),
        ),
      [Symbol.asyncDispose]: async () => {
        await connected[Symbol.asyncDispose]();
        await connected[Symbol.asyncDispose]();
        assertEquals(await living(folder), [], "nothing runs after dispose");
        await Deno.remove(folder, { recursive: true });
      },
    };
  } catch (error) {
    assertEquals(await living(folder), [], "nothing runs after a failed start");
    await Deno.remove(folder, { recursive: true });
    throw error;
  }
}

function find(servers: McpServers, name: string): Tool {
  const tool = servers.tools.find((tool) => tool.name === name);
  assert(tool !== undefined, `no tool ${name} in ${servers.tools.map((tool) => tool.name)}`);
  return tool;
}

/** Processes that have the folder's mark in their environment. */
async function living(folder: string): Promise<string[]> {
  if (Deno.build.os !== "linux") return [];
  const found: string[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^[0-9]+$/.test(name)) continue;
    const environment = await Deno.readTextFile(`/proc/${name}/environ`).catch(() => "");
    if (environment.split("\0").includes(`MCP_TEST=${folder}`)) found.push(name);
  }
  return found;
}

function textOf(outcome: ToolOutcome): string {
  return outcome.content.map((block) => block.type === "text" ? block.text : `<${block.mimeType}>`)
    .join("|");
}

Deno.test("connectMcpServers() gives the tools of a program, with names that models accept", async () => {
  await using bench = await open({ tiny: program("good") });
  assertEquals(bench.warnings, []);
  const names = bench.servers.tools.map((tool) => tool.name);
  assertEquals(names.slice(0, 2), ["tiny_echo", "tiny_get_env_"]);
  const echo = find(bench.servers, "tiny_echo");
  assertEquals(echo.description, "The tool echo");
  assertEquals(echo.parameters, { properties: {}, type: "object" });
  assertEquals(echo.group, undefined);
  assertEquals(textOf(await bench.call("tiny_echo", { text: "é\u2028" })), "echo: é\u2028");
});

Deno.test("connectMcpServers() makes every kind of answer readable", async () => {
  await using bench = await open({ tiny: program("good") });
  assertEquals(await bench.call("tiny_fail"), {
    content: [{ type: "text", text: "it did not work" }],
    isError: true,
  });
  assertEquals(textOf(await bench.call("tiny_image")), "<image/png>");
  assertEquals(textOf(await bench.call("tiny_structured")), '{"a":1}');
  const big = textOf(await bench.call("tiny_big"));
  assertEquals(big.length, 1_000_004);
  assert(big.endsWith("…end"));
});

Deno.test("connectMcpServers() keeps tools of the same name apart", async () => {
  await using bench = await open({
    "a": program("good", { WHO: "a" }),
    "a b": program("good", { WHO: "a b" }),
    "a.b": program("good", { WHO: "a.b" }),
  });
  const names = bench.servers.tools.map((tool) => tool.name);
  assertEquals(new Set(names).size, names.length);
  const who = async (tool: string) => textOf(await bench.call(tool, { name: "WHO" }));
  assertEquals(await who("a_get_env_"), "a");
  assertEquals(await who("a_b_get_env_"), "a b");
  assertEquals(await who("a_b_get_env__2"), "a.b");
});

Deno.test("connectMcpServers() gives up what hangs, crashes or does not exist, and the others work", async () => {
  await using bench = await open({
    hangs: program("hang"),
    stops: program("hang-list"),
    crashes: program("crash"),
    absent: { command: "no-such-program", args: [], env: {} },
    works: program("good"),
  }, { timeoutMs: 3000 });
  assertEquals(bench.warnings.toSorted(), [
    "weir: MCP server absent does not start: No such program: no-such-program",
    "weir: MCP server crashes does not start: the server has ended (exit code 3): no database",
    "weir: MCP server hangs does not start: no answer within 3 s",
    "weir: MCP server stops does not start: no answer within 3 s",
  ]);
  assertEquals(textOf(await bench.call("works_echo", { text: 1 })), "echo: 1");
  assert(bench.servers.tools.every((tool) => tool.name.startsWith("works_")));
});

Deno.test("connectMcpServers() passes over what is no message on stdout", async () => {
  await using bench = await open({ noisy: program("junk") });
  assertEquals(textOf(await bench.call("noisy_echo", { text: "a" })), "echo: a");
  assertEquals(bench.warnings, [
    "weir: MCP server noisy writes lines that are no messages to stdout; they are ignored",
  ]);
});

Deno.test("connectMcpServers() throws the signal's reason and stops what it started", async () => {
  const controller = new AbortController();
  const starting = open({ hangs: program("hang"), stubborn: program("stubborn") }, {
    signal: controller.signal,
  });
  const reason = new Error("stop it");
  setTimeout(() => controller.abort(reason), 200);
  assertEquals(await assertRejects(() => starting), reason);
  assertEquals(
    await assertRejects(() => open({ a: program("good") }, { signal: controller.signal })),
    reason,
  );
});

Deno.test("disposing ends a server that does not want to, and what it left running", async () => {
  const bench = await open({ stubborn: program("stubborn") });
  await bench.call("stubborn_leave");
  // What the server has started is its own only once it has become that program.
  while (Deno.build.os === "linux" && (await living(bench.folder)).length !== 2) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await bench[Symbol.asyncDispose]();
});

Deno.test("a call throws the signal's reason and the server is told", async () => {
  await using bench = await open({ tiny: program("good") });
  const controller = new AbortController();
  const reason = new Error("enough");
  const call = bench.call("tiny_wait", {}, controller.signal);
  setTimeout(() => controller.abort(reason), 50);
  assertEquals(await assertRejects(() => call), reason);
  assertEquals(await assertRejects(() => bench.call("tiny_echo", {}, controller.signal)), reason);
  // The server handles its input in order, so that it has seen the cancel when it answers this.
  await bench.call("tiny_echo", { text: "b" });
  assert((await Deno.stat(`${bench.folder}/cancelled`)).isFile);
});

Deno.test("a call of a server that has ended is an error that says so", async () => {
  await using bench = await open({ tiny: program("good"), other: program("good") });
  const during = await bench.call("tiny_die");
  assertEquals(during.isError, true);
  assertEquals(textOf(during), "Cannot run tiny_die: the server has ended (exit code 7)");
  const after = await bench.call("tiny_echo", { text: "a" });
  assertEquals(textOf(after), "Cannot run tiny_echo: the server has ended (exit code 7)");
  assertEquals(textOf(await bench.call("other_echo", { text: "a" })), "echo: a");
});

Deno.test("connectMcpServers() reaches a server over HTTP, with the headers of the configuration", async () => {
  await using http = startHttpServer();
  {
    await using bench = await open({
      web: { url: http.url, headers: { Authorization: "Bearer t" } },
    });
    assertEquals(bench.warnings, []);
    assertEquals(textOf(await bench.call("web_echo", { text: "a" })), "echo: a");
    assertEquals(textOf(await bench.call("web_big")).length, 1_000_004);
    const controller = new AbortController();
    const call = bench.call("web_wait", {}, controller.signal);
    setTimeout(() => controller.abort(new Error("enough")), 50);
    await assertRejects(() => call, Error, "enough");
  }
  assert(http.requests.every(({ headers }) => headers.get("authorization") === "Bearer t"));
  assertEquals(http.requests.at(-1)?.method, "DELETE");
});

Deno.test("connectMcpServers() gives up servers over HTTP that hang or refuse", async () => {
  await using hanging = startHttpServer({ hang: true });
  const refusing = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response("who\nare you", { status: 401 }),
  );
  try {
    await using bench = await open({
      hangs: { url: hanging.url, headers: {} },
      refuses: { url: `http://127.0.0.1:${refusing.addr.port}/`, headers: {} },
    }, { timeoutMs: 500 });
    assertEquals(bench.servers.tools, []);
    const [first, second] = bench.warnings.toSorted();
    assertEquals(first, "weir: MCP server hangs does not start: no answer within 0.5 s");
    assertStringIncludes(second!, "weir: MCP server refuses does not start: ");
    assertStringIncludes(second!, "who are you");
  } finally {
    await refusing.shutdown();
  }
});
