/** The published clients of pi, and pi itself, with the real program: they are installed from npm, or the test says why not. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type ModelServer, startModelServer } from "../fakes/model_server.ts";
import { findNode, installPackage } from "../fakes/npm_package.ts";
import { type PreparedHome, prepareHome } from "../fakes/prepare_home.ts";
import { defaultProgram } from "../fakes/weir_process.ts";
import { allOf, type Json, Pi, textOf } from "./_with_pi.ts";

const PI = { name: "@earendil-works/pi-coding-agent", version: "1.6.0" };
const PI_ACP = { name: "pi-acp", version: "0.0.34" };

/** A folder with a program of this name that hands over to Weir; `shift` drops the first argument. */
async function makeProgram(
  folder: string,
  { name, shift }: { name: string; shift: boolean },
): Promise<void> {
  const words = [...defaultProgram(), "--dialect", "pi"].map((word) => `'${word}'`).join(" ");
  const text = `#!/bin/sh\n${shift ? "shift\n" : ""}exec ${words} "$@"\n`;
  await Deno.writeTextFile(`${folder}/${name}`, text, { mode: 0o755 });
}

/** Runs a script of Node.js; returns what it printed as its last line, parsed. */
async function runScript(
  script: string,
  { node, folder, home, env = {} }: {
    node: string;
    folder: string;
    home: PreparedHome;
    env?: Record<string, string>;
  },
): Promise<Json> {
  const file = `${folder}/client.mjs`;
  await Deno.writeTextFile(file, script);
  const { code, stdout, stderr } = await new Deno.Command(node, {
    args: [file],
    cwd: home.workspace,
    env: {
      PATH: `${folder}:${Deno.env.get("PATH")}`,
      WEIR_HOME: home.home,
      HOME: folder,
      DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
      ...env,
    },
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assertEquals(code, 0, `${out}\n${err}`);
  return JSON.parse(out.trimEnd().split("\n").at(-1)!);
}

async function withPlace(
  test: (place: { server: ModelServer; home: PreparedHome; folder: string }) => Promise<void>,
): Promise<void> {
  await using server = startModelServer({ strict: false });
  await using home = await prepareHome({ server });
  const folder = await Deno.makeTempDir({ prefix: "weir_pi_" });
  try {
    await test({ server, home, folder });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("pi's own RpcClient drives the program", async () => {
  const [modules, node] = [await installPackage(PI.name, PI.version), await findNode()];
  if (modules === undefined || node === undefined) return;
  await withPlace(async ({ server, home, folder }) => {
    await makeProgram(folder, { name: "node", shift: true });
    server.reply(
      { text: ["Hel", "lo"] },
      { toolCalls: [{ name: "bash", args: { command: "sleep 0.5" } }] },
      { text: "steered" },
      { text: "followed" },
      { text: ["part", "never"], stallAfter: 1 },
    );
    const script = `
import { RpcClient } from ${JSON.stringify(`${modules}/${PI.name}/dist/modes/rpc/rpc-client.js`)};
const client = new RpcClient({ cliPath: "cli.js", provider: "local", model: "test-model", args: ["--no-themes"] });
await client.start();
const result = {};
const events = [];
client.onEvent((event) => events.push(event.type));
const next = (type) => new Promise((resolve) => {
  const stop = client.onEvent((event) => { if (event.type === type) { stop(); resolve(event); } });
});
await client.promptAndWait("hello");
result.last = await client.getLastAssistantText();
const idle = client.waitForIdle();
const tool = next("tool_execution_start");
await client.prompt("work");
await tool;
await client.steer("be quick");
await client.followUp("and then");
await idle;
result.messages = (await client.getMessages()).map(({ role }) => role);
const begun = next("message_update");
await client.prompt("long");
await begun;
await client.abort();
result.state = await client.getState();
result.bash = await client.bash("echo direct");
result.models = (await client.getAvailableModels()).map(({ id }) => id);
result.model = (await client.setModel("local", "test-model")).id;
result.cycle = await client.cycleModel();
await client.setThinkingLevel("high");
result.level = await client.cycleThinkingLevel();
await client.setSteeringMode("all");
await client.setFollowUpMode("all");
await client.setAutoCompaction(false);
await client.setAutoRetry(true);
await client.abortRetry();
await client.abortBash();
await client.setSessionName("named");
result.commands = await client.getCommands();
result.stats = await client.getSessionStats();
result.exported = (await client.exportHtml("page.html")).path;
result.compact = await client.compact().catch((error) => error.message);
const points = await client.getForkMessages();
result.fork = await client.fork(points[1].entryId);
result.clone = await client.clone();
result.switched = await client.switchSession(result.state.sessionFile);
result.fresh = await client.newSession();
result.file = result.state.sessionFile;
await client.stop();
result.events = [...new Set(events)].sort();
console.log(JSON.stringify(result));
process.exit(0);
`;
    const result = await runScript(script, { node, folder, home });
    assertEquals(result.last, "Hello");
    assertEquals(result.messages, [
      "user",
      "assistant",
      "user",
      "assistant",
      "toolResult",
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    assertEquals((result.state as Json).isStreaming, false);
    assertEquals((result.bash as Json).output, "direct\n");
    assertEquals([result.models, result.model, result.cycle], [["test-model"], "test-model", null]);
    assertEquals(result.level, { level: "off" });
    assertEquals(result.fork, { text: "work", cancelled: false });
    for (const key of ["clone", "switched", "fresh"]) {
      assertEquals(result[key], { cancelled: false });
    }
    assertEquals(result.compact, "Nothing to compact (session too small)");
    assert((await Deno.stat(String(result.exported))).isFile);
    assertEquals(server.complaints, []);
  });
});

Deno.test("pi-acp drives the program", async () => {
  const [modules, node] = [await installPackage(PI_ACP.name, PI_ACP.version), await findNode()];
  if (modules === undefined || node === undefined) return;
  await withPlace(async ({ server, home, folder }) => {
    await makeProgram(folder, { name: "pi", shift: false });
    server.reply(
      { toolCalls: [{ name: "write", args: { path: "a.txt", content: "from the model" } }] },
      { text: "written" },
      { text: ["a", "b"], stallAfter: 1 },
    );
    const script = `
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
const child = spawn(process.execPath, [${
      JSON.stringify(`${modules}/pi-acp/dist/index.js`)
    }], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
const updates = [];
let onUpdate = () => {};
createInterface({ input: child.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.id !== undefined && message.method === undefined) return waiting.get(message.id)(message);
  if (message.method === "session/update") { updates.push(message.params.update.sessionUpdate); onUpdate(message.params.update); }
});
let id = 0;
const write = (message) => child.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const ask = (method, params) => new Promise((resolve, reject) => {
  waiting.set(++id, ({ result, error }) => error ? reject(new Error(JSON.stringify(error))) : resolve(result));
  write({ id, method, params });
});
await ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
const { sessionId } = await ask("session/new", { cwd: process.cwd(), mcpServers: [] });
const say = (text) => ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
const result = {};
result.first = (await say("write")).stopReason;
const chunk = new Promise((resolve) => { onUpdate = (update) => update.sessionUpdate === "agent_message_chunk" && resolve(); });
const slow = say("slow");
await chunk;
write({ method: "session/cancel", params: { sessionId } });
result.second = (await slow).stopReason;
result.updates = [...new Set(updates)].sort();
console.log(JSON.stringify(result));
child.kill();
process.exit(0);
`;
    const result = await runScript(script, { node, folder, home });
    assertEquals([result.first, result.second], ["end_turn", "cancelled"]);
    for (const update of ["agent_message_chunk", "tool_call", "tool_call_update"]) {
      assert((result.updates as string[]).includes(update), JSON.stringify(result.updates));
    }
    assertEquals(await Deno.readTextFile(`${home.workspace}/a.txt`), "from the model");
  });
});

Deno.test("sessions of pi open in the program, and its sessions in pi", async () => {
  const [modules, node] = [await installPackage(PI.name, PI.version), await findNode()];
  if (modules === undefined || node === undefined) return;
  await withPlace(async ({ server, home, folder }) => {
    const agent = `${folder}/agent`;
    await Deno.mkdir(agent);
    const models = [{ id: "test-model" }];
    const local = { baseUrl: server.url, api: "openai-completions", apiKey: "k", models };
    await Deno.writeTextFile(
      `${agent}/models.json`,
      JSON.stringify({ providers: { local } }),
    );
    const runPi = async (commands: Json[], args: string[] = []) => {
      const child = new Deno.Command(node, {
        args: [
          `${modules}/${PI.name}/dist/cli.js`,
          "--mode",
          "rpc",
          "--offline",
          "--provider",
          "local",
          "--model",
          "test-model",
          ...args,
        ],
        cwd: home.workspace,
        env: { PI_CODING_AGENT_DIR: agent, HOME: folder },
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      const writer = child.stdin.getWriter();
      let rest = "";
      const records: Json[] = [];
      const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
      const until = async (matches: (record: Json) => boolean) => {
        for (;;) {
          const found = records.find(matches);
          if (found) return found;
          const { value, done } = await reader.read();
          if (done) throw new Error("pi has ended");
          const lines = (rest + value).split("\n");
          rest = lines.pop()!;
          records.push(...lines.filter((line) => line !== "").map((line) => JSON.parse(line)));
        }
      };
      const answers: Json[] = [];
      for (const [id, command] of commands.entries()) {
        await writer.write(
          new TextEncoder().encode(JSON.stringify({ id: `i${id}`, ...command }) + "\n"),
        );
        answers.push(await until((record) => record.type === "response" && record.id === `i${id}`));
        if (command.type !== "prompt") continue;
        await until(({ type }) => type === "agent_end");
        records.length = 0;
      }
      await writer.close().catch(() => {});
      try {
        child.kill("SIGTERM");
      } catch {
        // It has ended with its input.
      }
      await reader.cancel();
      await child.stderr.cancel();
      await child.status;
      return answers.map(({ data }) => data as Json);
    };
    server.reply({ toolCalls: [{ name: "ls", args: {} }] }, { text: "from Weir" });
    await using pi = new Pi({ server, home });
    await pi.start();
    await pi.run("asked of Weir");
    await pi.ask({ type: "bash", command: "echo direct" });
    const file = String((await pi.state()).sessionFile);
    await pi.end();
    server.reply({ text: "from pi" });
    const [before, , state] = await runPi([
      { type: "get_messages" },
      { type: "prompt", message: "asked of pi" },
      { type: "get_state" },
    ], ["--session", file]);
    const shown = (before.messages as Json[]).filter(({ role }) => role !== "system");
    assertEquals(shown.map(({ role }) => role), [
      "user",
      "assistant",
      "toolResult",
      "assistant",
      "bashExecution",
    ]);
    assertEquals(state.sessionFile, file);
    await pi.start(["--session", file]);
    const after = await pi.messages();
    assertEquals(after.slice(-2).map(textOf), ["asked of pi", "from pi"]);
    server.reply({ text: "again from Weir" });
    const records = await pi.run("asked again");
    assertEquals(allOf(records, "agent_settled").length, 1);
    assertStringIncludes(JSON.stringify(pi.lastRequest.messages), "from pi");
    server.reply({ toolCalls: [{ name: "bash", args: { command: "echo x" } }] }, { text: "own" });
    const [, own] = await runPi([{ type: "prompt", message: "new" }, { type: "get_state" }]);
    await pi.start(["--session", String(own.sessionFile)]);
    assertEquals((await pi.messages()).map(({ role }) => role), [
      "user",
      "assistant",
      "toolResult",
      "assistant",
    ]);
    assertEquals(((await pi.state()).model as Json).id, "test-model");
    server.reply({ text: "goes on" });
    await pi.run("and now");
    assertEquals(pi.lastRequest.messages.filter(({ role }) => role === "system").length, 1);
    await pi.end();
  });
});
