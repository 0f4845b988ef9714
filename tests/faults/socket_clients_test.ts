/** Clients that run on Node.js, whose children get sockets and no pipes for their input and output, and that die while nothing is written to them. */

import { assert } from "@std/assert";
import { findNode } from "../fakes/npm_package.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { cleanEnvironment, defaultProgram } from "../fakes/weir_process.ts";
import { type DialectName, DIALECTS } from "./_drive.ts";
import { linuxOnly } from "./_processes.ts";

/** Starts the program, writes the lines it is given, prints the id of the process, and reads what comes. */
const CLIENT = `
import { spawn } from "node:child_process";
const [argv, lines] = process.argv.slice(2).map((text) => JSON.parse(text));
const child = spawn(argv[0], argv.slice(1), { stdio: ["pipe", "pipe", "ignore"] });
process.stdout.write(child.pid + "\\n");
child.on("error", () => {});
child.stdin.write(lines.map((line) => JSON.stringify(line) + "\\n").join(""));
let text = "";
child.stdout.on("data", (data) => {
  text += data;
  const found = /"sessionId":"([^"]+)"/.exec(text);
  if (found === null || lines[0].method !== "initialize") return;
  text = "";
  const params = { sessionId: found[1], prompt: [{ type: "text", text: "go" }] };
  child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id: 2, method: "session/prompt", params }) + "\\n");
});
`;

function commandLine(dialect: DialectName, workspace: string): readonly string[] {
  if (dialect === "acp") return ["--mode", "acp", "--yolo"];
  if (dialect === "pi") return ["--mode", "rpc", "--dialect", "pi"];
  return ["--mode", "rpc", "--dialect", dialect, "--yolo", workspace];
}

function firstLines(dialect: DialectName, cwd: string): readonly unknown[] {
  if (dialect !== "acp") return [{ id: "p", type: "prompt", message: "go" }];
  const capabilities = { protocolVersion: 1, clientCapabilities: {} };
  return [
    { jsonrpc: "2.0", id: 0, method: "initialize", params: capabilities },
    { jsonrpc: "2.0", id: 1, method: "session/new", params: { cwd, mcpServers: [] } },
  ];
}

for (const dialect of DIALECTS) {
  Deno.test({
    name: `${dialect}: nothing outlives a client on Node.js that is killed during a silent command`,
    ...linuxOnly,
    fn: async () => {
      const node = await findNode();
      if (node === undefined) return;
      await using server = startModelServer();
      await using place = await prepareHome({ server });
      const command = "echo $$ > pid.part; mv pid.part pid; exec sleep 300";
      server.answer(() => ({ toolCalls: [{ name: "bash", args: { command } }] }));
      const script = `${place.home}/client.mjs`;
      await Deno.writeTextFile(script, CLIENT);
      const client = new Deno.Command(node, {
        args: [
          script,
          JSON.stringify([...defaultProgram(), ...commandLine(dialect, place.workspace)]),
          JSON.stringify(firstLines(dialect, place.workspace)),
        ],
        cwd: place.workspace,
        env: { ...cleanEnvironment(place.home), WEIR_HOME: place.home },
        clearEnv: true,
        stdout: "piped",
        stderr: "inherit",
      }).spawn();
      const pids: number[] = [];
      try {
        for await (const text of client.stdout.pipeThrough(new TextDecoderStream())) {
          pids.push(Number(text));
          break;
        }
        await until("the command runs", async () => {
          const text = await Deno.readTextFile(`${place.workspace}/pid`).catch(() => "");
          if (text !== "") pids.push(Number(text));
          return text !== "";
        });
        client.kill("SIGKILL");
        await until("program and command end", () => !pids.some(isAlive));
      } finally {
        if (isAlive(client.pid)) client.kill("SIGKILL");
        await client.status;
        for (const pid of pids.filter(isAlive)) Deno.kill(pid, "SIGKILL");
      }
    },
  });
}

function isAlive(pid: number): boolean {
  try {
    // A zombie that its new parent has not asked about has ended.
    return !/^State:\s+Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!await isSo()) {
    assert(Date.now() < deadline, `${what}: not within 15 s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
