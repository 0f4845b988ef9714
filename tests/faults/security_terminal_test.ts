/** Text of strangers on a terminal: nothing in it may steer the terminal or be invisible there. With the real process, also on a real terminal. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { type PreparedHome, prepareHome } from "../fakes/prepare_home.ts";
import { cleanEnvironment, defaultProgram, startWeir } from "../fakes/weir_process.ts";
import { AcpClient } from "../program/_with_acp.ts";

/** Clears the screen, sets the title, fills the clipboard, and hides, turns and overwrites text. */
const EVIL =
  "A\x1b[2JB\x1b]0;title\x07C\x1b]52;c;ZXZpbA==\x1b\\D\x9b31mE\u202eF\u2066G\u200bH\x08I\rJ\x7fK\x00L";
// deno-lint-ignore no-control-regex -- they are what is looked for
const STEERING = new RegExp(
  "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u200b\\u202a-\\u202e\\u2066-\\u2069]",
);
const hasScript = Deno.build.os === "linux" &&
  await new Deno.Command("script", { args: ["--version"], stdout: "null", stderr: "null" })
    .output().then(({ success }) => success, () => false);

/** Everything that the program writes to a terminal, without the terminal's own carriage returns. */
async function runOnTerminal(args: readonly string[], place: PreparedHome): Promise<string> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.mkdir(`${folder}/tmp`);
    const quoted = [...defaultProgram(), ...args].map((word) =>
      `'${word.replaceAll("'", "'\\''")}'`
    );
    const { stdout } = await new Deno.Command("script", {
      args: ["-qec", quoted.join(" "), "/dev/null"],
      cwd: place.workspace,
      clearEnv: true,
      env: { ...cleanEnvironment(folder), WEIR_HOME: place.home },
      stdin: "null",
      stderr: "null",
    }).output();
    return new TextDecoder().decode(stdout).replaceAll("\r\n", "\n");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function assertHarmless(text: string, what: string): void {
  const match = STEERING.exec(text);
  assert(match === null, `${what}: ${JSON.stringify(text)} at ${match?.index}`);
}

Deno.test({
  name: "an answer on a terminal steers nothing, the same answer in a pipe is exact",
  ignore: !hasScript,
  fn: async () => {
    await using server = startModelServer();
    await using place = await prepareHome({ server });
    const text = `${EVIL}\n\tsecond 👨‍👩‍👧 line\n`;
    server.reply(
      {
        toolCalls: [
          { name: "bash", args: { command: `echo ${EVIL}`.replaceAll("\0", "") } },
          { name: "read", args: { path: EVIL } },
          { name: `tool_${EVIL}`.replaceAll(/[^\w]/g, "_"), args: { [EVIL]: EVIL } },
        ],
      },
      { text },
    );
    const shown = await runOnTerminal(["--verbose", "-p", "go on"], place);
    assertHarmless(shown, "the terminal");
    assertStringIncludes(shown, "\\u001b[2J");
    assertStringIncludes(shown, "\\u202eF");
    assertStringIncludes(shown, "\tsecond 👨‍👩‍👧 line\n");
    assertStringIncludes(shown, "Bash(echo A");
    server.reply({ text });
    assertEquals(await runInPipe(["-p", "go on"], place), text);
  },
});

Deno.test({
  name: "lists and errors on a terminal steer nothing, whatever names they quote",
  ignore: !hasScript,
  fn: async () => {
    await using server = startModelServer();
    await using place = await prepareHome({ server });
    server.reply({ text: "ok" });
    await runInPipe(["-p", "--name", EVIL.replaceAll("\0", ""), "go on"], place);
    server.reply({ text: "ok" });
    await runInPipe(["-p", "--", EVIL.replaceAll("\0", "")], place);
    server.reply({ status: 400, body: { error: { message: EVIL } } });
    const evilFolder = `${place.workspace}/${EVIL.replaceAll("\0", "").replaceAll("/", "")}`;
    await Deno.mkdir(`${evilFolder}/.weir`, { recursive: true });
    await Deno.writeTextFile(`${evilFolder}/.weir/config.jsonc`, JSON.stringify({ [EVIL]: 1 }));
    const evil = evilFolder.slice(place.workspace.length + 1);
    const runs = [
      ["-p", "go on"],
      ["sessions"],
      ["sessions", "--all"],
      ["sessions", "--json"],
      ["trust", evilFolder],
      ["trust", "--list"],
      ["doctor"],
      ["-p", evilFolder, "go on"],
      ["--mode", "rpc", "--no-approve", evilFolder],
      ["--mode", "rpc", `${evilFolder}/missing`],
      ["--mode", "rpc", `--${evil}`],
      ["--session", evil, "--mode", "rpc"],
      ["--model", evil, "-p", "go on"],
      ["export", evil],
      ["-p", `@${evil}`, "go on"],
    ];
    for (const args of runs) {
      server.answer(() => ({ text: "ok" }));
      const shown = await runOnTerminal(args, place);
      assertHarmless(shown, JSON.stringify(args));
      assert(shown !== "", JSON.stringify(args));
    }
    const listed = await runOnTerminal(["sessions", "--json"], place);
    const names = listed.trim().split("\n").map((line) => JSON.parse(line));
    assert(
      names.some(({ firstPrompt }) => String(firstPrompt).includes("\u202e")),
      "JSON keeps its meaning",
    );
  },
});

Deno.test("what a person is asked to allow shows what it hides", async () => {
  const command = `echo safe\u202e # \x1b[8m; touch x\u2066`;
  await using server = startModelServer();
  await using place = await prepareHome({ server });
  const reply = [
    {
      toolCalls: [{ name: "bash", args: { command } }, {
        name: "write",
        args: { path: `a${EVIL.replaceAll("\0", "")}`, content: "x" },
      }],
    },
    { text: "ok" },
  ];
  {
    server.reply(...reply);
    await using weir = await startWeir({ args: ["--mode", "acp"], home: place.home });
    const client = new AcpClient(weir);
    await client.initialize();
    const session = await client.open(place.workspace);
    const prompt = client.prompt(session, "go");
    for (let n = 0; n < 2; n++) {
      const { toolCall } = await client.permit("reject_once");
      const { title, rawInput } = toolCall as { title: string; rawInput: { command?: string } };
      assertHarmless(title, "the title");
      if (n === 0) assertEquals(rawInput.command, command);
    }
    assertEquals(await client.stopReason(prompt), "end_turn");
  }
  server.reply(...reply);
  await using weir = await startWeir({
    args: ["--mode", "rpc", "--dialect", "pi", "--approvals", "ask"],
    home: place.home,
    cwd: place.workspace,
  });
  await weir.send({ type: "prompt", message: "go" });
  for (let n = 0; n < 2; n++) {
    const { id, title } = await weir.next("extension_ui_request");
    assertHarmless(String(title), "the title");
    if (n === 0) assertStringIncludes(String(title), "safe\\u202e # \\u001b[8m");
    await weir.send({ type: "extension_ui_response", id, value: "Deny" });
  }
  await weir.next("agent_end");
});

async function runInPipe(
  args: readonly string[],
  place: PreparedHome,
): Promise<string> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.mkdir(`${folder}/tmp`);
    const [command, ...first] = defaultProgram();
    const { code, stdout, stderr } = await new Deno.Command(command!, {
      args: [...first, ...args],
      cwd: place.workspace,
      clearEnv: true,
      env: { ...cleanEnvironment(folder), WEIR_HOME: place.home },
      stdin: "null",
    }).output();
    const decoder = new TextDecoder();
    assertEquals(code, 0, decoder.decode(stderr));
    return decoder.decode(stdout);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
