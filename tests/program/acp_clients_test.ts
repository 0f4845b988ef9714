import { client, ndJsonStream } from "@agentclientprotocol/sdk";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { type PreparedHome, prepareHome } from "../fakes/prepare_home.ts";

/** The program and its first arguments, as `startWeir` finds it. */
function program(): string[] {
  const named = Deno.env.get("WEIR_PROGRAM");
  if (named) return [named, "--mode", "acp"];
  const root = new URL("../../", import.meta.url).pathname;
  const config = ["--config", `${root}deno.npm.json`];
  return [Deno.execPath(), "run", "-A", ...config, `${root}src/main.ts`, "--mode", "acp"];
}

Deno.test("acp serves the client of the protocol's own SDK", async () => {
  await using server = startModelServer();
  await using home = await prepareHome({ server });
  const [command, ...args] = program();
  const child = new Deno.Command(command!, {
    args,
    env: { WEIR_HOME: home.home },
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const updates: string[] = [];
  const asked: string[] = [];
  server.reply(
    { toolCalls: [{ name: "write", args: { path: "a.txt", content: "from the model" } }] },
    { text: "written" },
    { text: ["a", "b"], stallAfter: 1 },
  );
  const app = client()
    .onNotification("session/update", ({ params }) => {
      updates.push(params.update.sessionUpdate);
    })
    .onRequest("session/request_permission", ({ params }) => {
      asked.push(params.toolCall.title ?? "");
      return { outcome: { outcome: "selected", optionId: params.options[0]!.optionId } };
    })
    .onRequest("fs/read_text_file", () => ({ content: "" }))
    .onRequest("fs/write_text_file", async ({ params }) => {
      await Deno.writeTextFile(params.path, params.content);
      return {};
    });
  await app.connectWith(ndJsonStream(child.stdin, child.stdout), async (agent) => {
    const { agentInfo } = await agent.request("initialize", {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
    });
    assertEquals(agentInfo?.name, "weir");
    const cwd = home.workspace;
    const { sessionId } = await agent.request("session/new", { cwd, mcpServers: [] });
    const say = (text: string) =>
      agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
    assertEquals((await say("write")).stopReason, "end_turn");
    assertEquals(await Deno.readTextFile(`${cwd}/a.txt`), "from the model");
    const slow = say("slow");
    await server.waitForRequests(3);
    await agent.notify("session/cancel", { sessionId });
    assertEquals((await slow).stopReason, "cancelled");
    const { sessions } = await agent.request("session/list", {});
    assertEquals(sessions.map((session) => session.sessionId), [sessionId]);
    await agent.request("session/close", { sessionId });
    updates.length = 0;
    await agent.request("session/load", { sessionId, cwd, mcpServers: [] });
  });
  assertEquals(asked, ["Write a.txt"]);
  assertEquals(updates.slice(0, 3), ["user_message_chunk", "tool_call", "agent_message_chunk"]);
  await child.stdin.close().catch(() => {});
  assertEquals((await child.status).code, 0);
  assertEquals(server.complaints, []);
});

/** The headless client `acpx` in a folder of its own; `undefined`, with the reason, when it cannot be had. */
async function installAcpx(folder: string, version: string): Promise<string | undefined> {
  const args = ["install", "--no-fund", "--no-audit", "--prefix", folder, `acpx@${version}`];
  try {
    const { success, stderr } = await new Deno.Command("npm", { args }).output();
    if (success) return `${folder}/node_modules/.bin/acpx`;
    console.log(`skipped: npm cannot install acpx: ${new TextDecoder().decode(stderr).trim()}`);
  } catch (error) {
    console.log(`skipped: ${(error as Error).message}`);
  }
  return undefined;
}

async function hasEnded(home: PreparedHome): Promise<boolean> {
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^[0-9]+$/.test(name)) continue;
    const environment = await Deno.readTextFile(`/proc/${name}/environ`).catch(() => "");
    if (environment.split("\0").includes(`HOME=${home.home}`)) return false;
  }
  return true;
}

/** Newer versions open a session again without its replay, older ones load it. */
const VERSIONS = [["0.19", "session/resume"], ["0.1", "session/load"]] as const;

for (const [version, opening] of VERSIONS) {
  Deno.test({
    name: `acp serves the headless client acpx ${version}: a question, a cancel, ${opening}`,
    ignore: Deno.build.os !== "linux",
    fn: () => driveAcpx(version, opening),
  });
}

async function driveAcpx(version: string, opening: string): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "weir_acpx_" });
  await using server = startModelServer();
  await using home = await prepareHome({ server });
  try {
    const acpx = await installAcpx(folder, version);
    if (acpx === undefined) return;
    const run = async (...args: string[]) => {
      const output = await new Deno.Command(acpx, {
        args: [
          ...["--cwd", home.workspace, "--ttl", "1", "--format", "json", "--approve-all"],
          ...["--agent", program().join(" "), ...args],
        ],
        env: {
          HOME: home.home,
          WEIR_HOME: home.home,
          DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
        },
        stdin: "null",
      }).output();
      const text = new TextDecoder().decode(output.stdout);
      assert(output.success, `acpx ${args}: ${text}${new TextDecoder().decode(output.stderr)}`);
      return text;
    };
    server.reply(
      { toolCalls: [{ name: "write", args: { path: "a.txt", content: "by acpx" } }] },
      { text: "written" },
    );
    await run("sessions", "new");
    const first = await run("prompt", "write the file");
    assertStringIncludes(first, '"method":"session/request_permission"');
    assertStringIncludes(first, '"stopReason":"end_turn"');
    assertEquals(await Deno.readTextFile(`${home.workspace}/a.txt`), "by acpx");
    server.reply({ text: ["a", "b"], stallAfter: 1 });
    const slow = run("prompt", "slow");
    await server.waitForRequests(3);
    await run("cancel");
    assertStringIncludes(await slow, '"stopReason":"cancelled"');
    // The process ends when nobody uses it for a second; the next one loads the session.
    while (!await hasEnded(home)) await new Promise((resolve) => setTimeout(resolve, 100));
    server.reply({ text: "I remember" });
    const last = await run("prompt", "again");
    assertStringIncludes(last, `"method":"${opening}"`);
    assertStringIncludes(last, '"stopReason":"end_turn"');
    assertStringIncludes(JSON.stringify(server.requests.at(-1)!.messages), "write the file");
    while (!await hasEnded(home)) await new Promise((resolve) => setTimeout(resolve, 100));
    assertEquals(server.complaints, []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
