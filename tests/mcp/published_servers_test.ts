/** The published reference servers, as real processes. Skipped, with the reason, where they cannot be fetched. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createDenoHost } from "../../src/deno/deno_host.ts";
import { connectMcpServers } from "../../src/mcp/client.ts";
import { createToolContext } from "../tools/_tool_context.ts";

const PACKAGES = [
  "@modelcontextprotocol/server-everything",
  "@modelcontextprotocol/server-filesystem",
] as const;
const FETCH_TIMEOUT_MS = 120_000;

/** Why the packages cannot be had; `undefined` when they are in the cache. */
async function findProblem(): Promise<string | undefined> {
  try {
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["cache", "--no-config", "--no-lock", ...PACKAGES.map((name) => `npm:${name}`)],
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
      stdout: "null",
      stderr: "piped",
    }).output();
    if (success) return undefined;
    return new TextDecoder().decode(stderr).trim().split("\n").at(-1);
  } catch (error) {
    return String(error);
  }
}

Deno.test("connectMcpServers() works with the published reference servers", async (test) => {
  const problem = await findProblem();
  if (problem !== undefined) console.log(`skipped: the servers cannot be fetched: ${problem}`);
  await test.step({
    name: "server-everything and server-filesystem",
    ignore: problem !== undefined,
    fn: () => useServers(),
  });
});

async function useServers(): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "weir_mcp_" }));
  const host = createDenoHost();
  const run = (name: string, ...args: string[]) => ({
    command: Deno.execPath(),
    args: ["run", "-A", "--no-config", "--no-lock", `npm:${name}`, ...args],
    env: {},
  });
  try {
    const warnings: string[] = [];
    await using servers = await connectMcpServers({
      servers: { everything: run(PACKAGES[0]), files: run(PACKAGES[1], folder) },
      host,
      folder,
      environment: Deno.env.toObject(),
      signal: new AbortController().signal,
      warn: (line) => warnings.push(line),
    });
    assertEquals(warnings, []);
    const call = async (name: string, args: Record<string, unknown>) => {
      const tool = servers.tools.find((tool) => tool.name === name);
      assert(tool !== undefined, `no tool ${name}`);
      return await tool.run(args, createToolContext(host));
    };
    const text = async (name: string, args: Record<string, unknown>) => {
      const { content, isError } = await call(name, args);
      const texts = content.map((block) => block.type === "text" ? block.text : "");
      return { text: texts.join("\n"), isError };
    };
    assertEquals(await text("everything_echo", { message: "hi" }), {
      text: "Echo: hi",
      isError: false,
    });
    const { content } = await call("everything_get-tiny-image", {});
    assert(content.some((block) => block.type === "image" && block.mimeType === "image/png"));
    const path = `${folder}/a.txt`;
    assertEquals((await text("files_write_file", { path, content: "one\n" })).isError, false);
    assertEquals(await Deno.readTextFile(path), "one\n");
    assertStringIncludes((await text("files_list_directory", { path: folder })).text, "a.txt");
    assertEquals((await text("files_read_text_file", { path: "/etc/hostname" })).isError, true);
    assertEquals((await text("files_read_text_file", {})).isError, true);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
