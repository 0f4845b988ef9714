import { assert, assertEquals } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { startWeir, type WeirProcess } from "../fakes/weir_process.ts";
import { DIALECTS, drive } from "./_drive.ts";
import { rounds } from "./_rounds.ts";

/** Resident memory in MiB. */
function residentMiB(pid: number): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

async function waitUntil(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!await isSo()) {
    if (Date.now() > deadline) throw new Error(`${what}: not within 30 s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The memory has not grown for a while: producers wait. */
async function waitForRest(weir: WeirProcess): Promise<number> {
  let before = -1;
  let now = residentMiB(weir.pid);
  while (now - before > 1) {
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 400));
    now = residentMiB(weir.pid);
  }
  return now;
}

const linuxOnly = { ignore: Deno.build.os !== "linux" };

Deno.test({
  name: "a client that reads nothing for a while loses nothing and costs little memory",
  ...linuxOnly,
  fn: async () => {
    const pieces = rounds(50_000);
    await using server = await startModelServer();
    server.reply({ text: "a piece of text ", pieces });
    await using place = await prepareHome({ server });
    await using weir = await startWeir({
      args: ["--mode", "rpc", "--yolo", place.workspace],
      home: place.home,
      timeoutMs: 60_000,
    });
    await weir.request({ type: "set_event_detail", detail: "full" });
    weir.pauseReading();
    weir.send({ id: "p", type: "prompt", message: "go" });
    await server.waitForRequests(1);
    const resting = await waitForRest(weir);
    // 50,000 records of about 100 bytes would be 5 MiB of text, and several times that as objects; much more would mean that all are kept.
    assert(resting < 260, `${resting} MiB`);
    weir.resumeReading();
    const records = await weir.until("agent_settled");
    const deltas = records.filter((record) => record.type === "message_delta");
    assertEquals(deltas.length, pieces);
    assertEquals((await weir.request({ type: "get_state" })).success, true);
  },
});

Deno.test({
  name: "the output of a command is not read faster than the client takes it",
  ...linuxOnly,
  fn: async () => {
    const mebibytes = rounds(40);
    await using server = await startModelServer();
    server.reply(
      {
        toolCalls: [{
          name: "bash",
          args: { command: `head -c ${mebibytes}M /dev/zero | tr '\\0' 'x' | fold -w 99` },
        }],
      },
      { text: "done" },
    );
    await using place = await prepareHome({ server });
    await using weir = await startWeir({
      args: ["--mode", "rpc", "--yolo", place.workspace],
      home: place.home,
      timeoutMs: 60_000,
    });
    await weir.request({ type: "set_event_detail", detail: "full" });
    weir.pauseReading();
    weir.send({ id: "p", type: "prompt", message: "go" });
    await server.waitForRequests(1);
    const resting = await waitForRest(weir);
    assert(resting < 260, `${resting} MiB`);
    weir.resumeReading();
    const records = await weir.until("agent_settled");
    const bytes = records
      .filter((record) => record.type === "tool_output")
      .reduce((sum, record) => sum + String(record.delta).length, 0);
    const lines = Math.ceil(mebibytes * 1024 * 1024 / 99);
    assertEquals(bytes, mebibytes * 1024 * 1024 + lines - 1);
  },
});

for (const moment of ["idle", "streaming", "tool"] as const) {
  Deno.test({
    name: `a client that goes away while the program is ${moment} ends it and all it started`,
    ...linuxOnly,
    fn: async () => {
      await using server = await startModelServer();
      await using place = await prepareHome({ server });
      await using weir = await startWeir({
        args: ["--mode", "rpc", "--yolo", place.workspace],
        home: place.home,
      });
      await weir.request({ type: "set_event_detail", detail: "full" });
      if (moment === "streaming") server.reply({ text: "piece ", pieces: 1_000_000 });
      if (moment === "tool") {
        const command = "sleep 300 & while true; do echo busy; sleep 0.05; done";
        server.reply({ toolCalls: [{ name: "bash", args: { command } }] });
      }
      if (moment !== "idle") {
        await weir.request({ type: "prompt", message: "go" });
        await weir.next(moment === "tool" ? "tool_output" : "message_delta");
      }
      weir.closeOutput();
      // While idle nothing is written, so it is the end of the input that tells.
      if (moment === "idle") weir.closeInput();
      const { code } = await weir.waitForExit({ timeoutMs: 10_000 });
      assertEquals(code, 0);
      await waitUntil("nothing is left", async () => (await weir.livingProcesses()).length === 0);
    },
  });
}

Deno.test("a stderr that nobody reads holds nothing up, and what was said first is there", async () => {
  await using place = await prepareHome();
  await using weir = await startWeir({
    args: ["--mode", "acp", "--verbose"],
    home: place.home,
    cwd: place.workspace,
    holdsErrors: true,
  });
  // Writing is not waited for: a program that is held up does not read.
  const ask = async (method: string, params: unknown) => {
    weir.send({ jsonrpc: "2.0", id: method, method, params });
    return await weir.response(method);
  };
  // Each is worth a line to people.
  const dropped = '{"jsonrpc":"2.0","method":"nope/nope"}\n'.repeat(1000);
  for (let i = 0; i < rounds(10); i++) weir.sendRaw(dropped);
  await ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { result } = await ask("session/new", { cwd: place.workspace, mcpServers: [] });
  const { sessionId } = result as { sessionId: string };
  const end = await ask("session/prompt", { sessionId, prompt: [{ type: "text", text: "hi" }] });
  assertEquals((end.result as { stopReason: string }).stopReason, "end_turn");
  await weir.closeInput();
  assertEquals((await weir.waitForExit()).code, 0);
  const said = weir.stderr.split("nope/nope").length - 1;
  assert(said >= 100, `${said} lines`);
});

const LOUD: Record<string, string> = {
  "console": "console.log(text); console.error(text);",
  "Deno.stdout": "Deno.stdout.writeSync(new TextEncoder().encode(text));",
  "process.stdout": "process.stdout.write(text);",
};

for (const [where, code] of Object.entries(LOUD)) {
  Deno.test(`an extension that writes a lot to ${where} does not hold up what nobody reads`, async () => {
    await using place = await prepareHome();
    await Deno.mkdir(`${place.home}/extensions`);
    await Deno.writeTextFile(
      `${place.home}/extensions/loud.ts`,
      `import process from "node:process";
void process;
const text = "x".repeat(1000) + "\\n";
for (let i = 0; i < 300; i++) { ${code} }
export default () => {};
`,
    );
    await using weir = await startWeir({
      args: ["--mode", "rpc", "--extensions", place.workspace],
      home: place.home,
      holdsErrors: true,
    });
    assertEquals((await weir.request({ type: "get_state" })).success, true);
    await weir.closeInput();
    assertEquals((await weir.waitForExit()).code, 0);
    assert(weir.stderr.includes("xxxxx"));
  });
}

Deno.test("what is said on stderr is all there when somebody reads", async () => {
  await using place = await prepareHome();
  await using weir = await startWeir({
    args: ["--mode", "acp", "--verbose"],
    home: place.home,
    cwd: place.workspace,
  });
  for (let i = 0; i < 2000; i++) {
    weir.send({ jsonrpc: "2.0", method: `nope/${i}.` });
  }
  await weir.closeInput();
  assertEquals((await weir.waitForExit()).code, 0);
  const said = [...weir.stderr.matchAll(/nope\/(\d+)\./g)].map(([, n]) => Number(n));
  assertEquals(said, Array.from({ length: 2000 }, (_, i) => i));
});

for (const dialect of DIALECTS) {
  Deno.test({
    name: `${dialect}: a client that reads no more is noticed while a command runs in silence`,
    ...linuxOnly,
    fn: async () => {
      await using server = await startModelServer();
      server.reply({ toolCalls: [{ name: "bash", args: { command: "sleep 300 & sleep 300" } }] });
      await using home = await prepareHome({ server });
      await using driver = await drive({ dialect, home });
      await driver.prompt("go");
      await waitUntil("it runs", async () => (await driver.weir.livingProcesses()).length >= 4);
      // Its input stays open.
      await driver.weir.closeOutput();
      const { code } = await driver.weir.waitForExit({ timeoutMs: 10_000 });
      assertEquals(code, 0);
      await waitUntil(
        "nothing is left",
        async () => (await driver.weir.livingProcesses()).length === 0,
      );
    },
  });
}

for (const what of ["a turn", "a job"] as const) {
  Deno.test({
    name: `a client that dies while ${what} runs in silence is noticed`,
    ...linuxOnly,
    fn: async () => {
      await using server = await startModelServer();
      const args = what === "a turn"
        ? { command: "sleep 300" }
        : { command: "sleep 300", background: true };
      server.reply({ toolCalls: [{ name: "bash", args }] }, { text: "started" });
      await using place = await prepareHome({ server });
      await using weir = await startWeir({
        args: ["--mode", "rpc", "--yolo", place.workspace],
        home: place.home,
      });
      await weir.request({ type: "set_event_detail", detail: "full" });
      await weir.request({ type: "prompt", message: "go" });
      await weir.next(what === "a turn" ? "tool_start" : "agent_settled");
      // A process that dies closes both of its ends.
      weir.closeOutput();
      weir.closeInput();
      const { code } = await weir.waitForExit({ timeoutMs: 10_000 });
      assertEquals(code, 0);
      await waitUntil("nothing is left", async () => (await weir.livingProcesses()).length === 0);
    },
  });
}
