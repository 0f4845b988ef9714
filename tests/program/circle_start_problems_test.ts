/** What a circle process says when it cannot start: one line on stderr, nothing on stdout, an exit code. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type HomeOptions, type PreparedHome, prepareHome } from "../fakes/prepare_home.ts";
import { startWeir, type WeirOptions } from "../fakes/weir_process.ts";

interface Problem {
  args: readonly string[];
  code: number;
  text: string;
}

/** Starts the program in a prepared home and checks how it ends. `W` in `args` is the workspace. */
async function expectProblem(
  home: PreparedHome,
  { args, code, text }: Problem,
  more: Partial<WeirOptions> = {},
): Promise<void> {
  const given = args.map((arg) => arg === "W" ? home.workspace : arg);
  await using weir = await startWeir({
    args: given,
    home: home.home,
    cwd: home.workspace,
    ...more,
  });
  // Nothing is read from stdin: the exit comes while the input is open.
  const exit = await weir.waitForExit();
  const about = `${args.join(" ")}\n${weir.stderr}`;
  assertEquals(exit, { code, signal: null }, about);
  assertEquals(weir.records, [], about);
  assertMatch(weir.stderr, /^✖ [^\n]+\n$/, about);
  assertStringIncludes(weir.stderr, text, about);
}

async function expectProblems(problems: Problem[], options: HomeOptions = {}): Promise<void> {
  await using home = await prepareHome(options);
  for (const problem of problems) await expectProblem(home, problem);
}

const RPC = ["--mode", "rpc"];

function usage(text: string, ...args: string[]): Problem {
  return { args, code: 2, text };
}

Deno.test("circle start refuses words and files where commands are read", async () => {
  const text = "--mode rpc takes its prompts as commands on standard input, not as words";
  await expectProblems([
    usage(text, ...RPC, "W", "do it"),
    usage(text, ...RPC, "W", "do", "it"),
    usage(text, ...RPC, "two words"),
    usage(text, ...RPC, "W", "@notes.txt"),
    usage(text, ...RPC, "-p", "W"),
    usage(text, ...RPC, "W", "--", "--yolo"),
    { args: [...RPC, "wrokspace"], code: 2, text: "No such folder: " },
  ]);
});

Deno.test("circle start refuses options that cannot go together", async () => {
  const fork = "--fork starts a new conversation; it cannot go with";
  const sessionId = "--session-id chooses the conversation; it cannot go with";
  const noSession = "--no-session keeps nothing; it cannot go with";
  await expectProblems([
    usage("-r opens a list to choose from", ...RPC, "-r", "W"),
    usage("-r opens a list to choose from", "--mode", "json", "--resume", "W", "hi there"),
    usage("-r opens a list to choose from", "-p", "-r", "W", "hi there"),
    usage("--mode rpc and --line cannot go together", ...RPC, "--line", "W"),
    usage("--mode json and --line cannot go together", "--mode", "json", "--line", "W"),
    usage(`${fork} -c`, ...RPC, "--fork", "a", "-c", "W"),
    usage(`${fork} --continue`, ...RPC, "--continue", "--fork", "a", "W"),
    usage(`${fork} --session`, ...RPC, "--fork", "a", "--session", "b", "W"),
    usage(`${fork} --no-session`, ...RPC, "--fork=a", "--no-session", "W"),
    usage(`${sessionId} -c`, ...RPC, "--session-id", "a1", "-c", "W"),
    usage(`${sessionId} --session`, ...RPC, "--session-id", "a1", "--session=b", "W"),
    usage(`${noSession} -c`, ...RPC, "--no-session", "-c", "W"),
    usage(`${noSession} --session`, ...RPC, "--no-session", "--session", "a", "W"),
    usage(`${noSession} --session-id`, ...RPC, "--no-session", "--session-id", "a1", "W"),
    usage(
      "--yolo and --approvals deny cannot go together",
      ...RPC,
      "--yolo",
      "--approvals",
      "deny",
      "W",
    ),
    usage(
      "--yolo and --approvals ask cannot go together",
      ...RPC,
      "--approvals=ask",
      "--yolo",
      "W",
    ),
  ]);
});

Deno.test("circle start refuses --fork and --session-id with -r by the first problem it names", async () => {
  await using home = await prepareHome();
  for (const args of [["--fork", "a", "-r"], ["--session-id", "a1", "-r"]]) {
    await using weir = await startWeir({
      args: [...RPC, ...args, home.workspace],
      home: home.home,
    });
    assertEquals((await weir.waitForExit()).code, 2);
    assertMatch(weir.stderr, /^✖ (-r opens a list|--fork starts|--session-id chooses)[^\n]*\n$/);
  }
});

Deno.test("circle start refuses options that are wrong by themselves", async () => {
  const badId =
    "--session-id takes letters, digits, ., _ and -, beginning and ending with a letter or digit";
  await expectProblems([
    usage(badId, ...RPC, "--session-id", "../up", "W"),
    usage(badId, ...RPC, "--session-id=-a", "W"),
    usage(badId, ...RPC, "--session-id", "a.", "W"),
    usage("unknown option: --fly", ...RPC, "--fly", "W"),
    usage("unknown option: --fly", ...RPC, "--fly=high", "W"),
    usage("unknown option: -q", ...RPC, "-q", "W"),
    usage("--model requires a value", ...RPC, "W", "--model"),
    usage("-m requires a value", ...RPC, "W", "-m"),
    usage("--session requires a value", ...RPC, "--session", "--yolo", "W"),
    usage("--yolo does not take a value", ...RPC, "--yolo=true", "W"),
    usage("--no-session does not take a value", ...RPC, "--no-session=1", "W"),
    usage("--mode must be text, json, rpc or acp", "--mode", "tui", "W"),
    usage("--dialect must be circle, nimlet, pi or acp", ...RPC, "--dialect", "klingon", "W"),
    usage("unknown thinking depth", ...RPC, "--thinking", "deep", "W"),
  ]);
});

Deno.test("circle start refuses a folder that is missing, a file, or not trusted", async () => {
  await using home = await prepareHome({ trust: [] });
  const missing = `${home.workspace}/missing`;
  const untrusted =
    `This folder is not trusted yet: ${home.workspace}; run weir trust or pass --trust`;
  await expectProblem(home, {
    args: [...RPC, missing],
    code: 2,
    text: `No such folder: ${missing}`,
  });
  await expectProblem(home, {
    args: [...RPC, `${home.workspace}/notes.txt`],
    code: 2,
    text: "No such folder: ",
  });
  await expectProblem(home, { args: [...RPC, "W"], code: 2, text: untrusted });
  // Without a folder it is the current one.
  await expectProblem(home, { args: RPC, code: 2, text: untrusted });
  await using weir = await startWeir({
    args: [...RPC, "--trust"],
    home: home.home,
    cwd: home.workspace,
  });
  await weir.request({ type: "get_state" });
  await weir.closeInput();
  assertEquals((await weir.waitForExit()).code, 0);
});

Deno.test("circle start takes trust from the nearest folder above and --no-approve takes it away", async () => {
  await using home = await prepareHome();
  await Deno.mkdir(`${home.workspace}/sub/deep`, { recursive: true });
  const untrusted = "This folder is not trusted yet: ";
  await expectProblem(home, { args: [...RPC, "--no-approve", "W"], code: 2, text: untrusted });
  const projects = { [home.workspace]: true, [`${home.workspace}/sub`]: false };
  await Deno.writeTextFile(`${home.home}/trust.json`, JSON.stringify({ projects }));
  await expectProblem(home, {
    args: [...RPC, `${home.workspace}/sub/deep`],
    code: 2,
    text: untrusted,
  });
  await using weir = await startWeir({ args: [...RPC, `${home.workspace}/src`], home: home.home });
  await weir.request({ type: "get_state" });
  await weir.closeInput();
  assertEquals((await weir.waitForExit()).code, 0);
});

Deno.test("circle start says that nothing is set up, before it looks at the folder", async () => {
  await using home = await prepareHome({ trust: [] });
  await Deno.remove(`${home.home}/config.jsonc`);
  const text = "Weir is not set up yet; run weir setup";
  for (const folder of ["W", "missing"]) {
    await expectProblem(home, { args: [...RPC, folder], code: 2, text });
  }
  await expectProblem(home, {
    args: [...RPC, "missing"],
    code: 2,
    text: "No such folder: ",
  }, { env: { OPENAI_API_KEY: "k" } });
});

Deno.test("circle start takes OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL without a configuration", async () => {
  await using home = await prepareHome();
  await Deno.remove(`${home.home}/config.jsonc`);
  await using weir = await startWeir({
    args: [...RPC, home.workspace],
    home: home.home,
    env: {
      OPENAI_API_KEY: "k",
      OPENAI_BASE_URL: "http://127.0.0.1:9/v1",
      OPENAI_MODEL: "from-environment",
    },
  });
  const { data } = await weir.request({ type: "get_state" });
  assertEquals((data as Record<string, unknown>).model, "from-environment");
  await weir.closeInput();
  assertEquals((await weir.waitForExit()).code, 0);
});

Deno.test("circle start names the place in a configuration that it cannot read", async () => {
  await using home = await prepareHome({ trust: [] });
  const file = `${home.home}/config.jsonc`;
  await Deno.writeTextFile(file, '{\n  // a comment\n  "model": "demo/demo",\n  "thinking": }\n');
  // Before the folder is looked at.
  await expectProblem(home, {
    args: [...RPC, "missing"],
    code: 2,
    text: `settings could not be read: ${file}:4:15: `,
  });
  await Deno.writeTextFile(file, '{\n  "model": "demo/demo",\n  "thinking": "deep"\n}\n');
  await expectProblem(home, {
    args: [...RPC, "W"],
    code: 2,
    text: `settings could not be read: ${file}:3:`,
  });
  // An option is told before the configuration.
  await expectProblem(home, usage("unknown option: --fly", ...RPC, "--fly", "W"));
});

Deno.test("circle start misses the key of the provider, after it has checked the folder", async () => {
  const extraConfig = {
    model: "locked/m",
    providers: { locked: { baseUrl: "http://127.0.0.1:9/v1", apiKeyEnv: "WEIR_TEST_UNSET_KEY" } },
  };
  await using home = await prepareHome({ extraConfig });
  const text = "missing API key; re-run weir setup";
  await expectProblem(home, { args: [...RPC, "W"], code: 1, text });
  await expectProblem(home, { args: [...RPC, "missing"], code: 2, text: "No such folder: " });
  await using weir = await startWeir({
    args: [...RPC, home.workspace],
    home: home.home,
    env: { WEIR_TEST_UNSET_KEY: "k" },
  });
  await weir.request({ type: "get_state" });
  await weir.closeInput();
  assertEquals((await weir.waitForExit()).code, 0);
});

Deno.test("circle start refuses conversations that it cannot find", async () => {
  await expectProblems([
    { args: [...RPC, "--session", "nope", "W"], code: 1, text: "unknown session: nope" },
    { args: [...RPC, "--fork", "nope", "W"], code: 1, text: "unknown session to fork: nope" },
    { args: [...RPC, "-c", "W"], code: 1, text: "no saved session in this folder" },
  ]);
});

Deno.test("circle start writes one short line without a mode on --line", async () => {
  await using home = await prepareHome();
  await using weir = await startWeir({ args: ["--line", home.workspace], home: home.home });
  assertEquals((await weir.waitForExit()).code, 2);
  assertEquals(weir.records, []);
  assert(weir.stderr.includes("--mode rpc"), weir.stderr);
});

Deno.test("circle is the dialect that WEIR_DIALECT names, unless an option says otherwise", async () => {
  await using home = await prepareHome();
  const env = { WEIR_DIALECT: "klingon" };
  await expectProblem(home, usage("circle, nimlet, pi or acp", ...RPC, "W"), { env });
  await using weir = await startWeir({
    args: [...RPC, "--dialect", "circle", home.workspace],
    home: home.home,
    env: { WEIR_DIALECT: "pi" },
  });
  const { data } = await weir.request({ type: "get_state" });
  assertEquals((data as Record<string, unknown>).pendingMessageCount, 0);
});
