import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  type CommandLine,
  type CommandLineEnvironment,
  parseCommandLine,
  type RunCommandLine,
} from "../src/cli/command_line.ts";
import { HELP_TEXT } from "../src/cli/help.ts";
import { StartError } from "../src/errors.ts";

const PIPE: CommandLineEnvironment = { isTerminal: false, isFolder: () => false };

function parse(line: string, environment: Partial<CommandLineEnvironment> = {}): CommandLine {
  const args = line === "" ? [] : line.split(" ").map((word) => word.replaceAll("_", " "));
  return parseCommandLine(args, { ...PIPE, ...environment });
}

function parseRun(line: string, environment: Partial<CommandLineEnvironment> = {}): RunCommandLine {
  const result = parse(line, environment);
  assert(result.kind === "run");
  return result;
}

function assertRefused(
  line: string,
  text: string,
  { kind = "usage", exitCode = 2, ...environment }: Partial<CommandLineEnvironment> & {
    kind?: string;
    exitCode?: number;
  } = {},
): void {
  const error = assertThrows(() => parse(line, environment), StartError);
  assertEquals([error.message, error.kind, error.exitCode], [text, kind, exitCode], line);
}

const NO_WORDS = "--mode rpc takes its prompts as commands on standard input, not as words";
const FORK = "--fork starts a new conversation; it cannot go with ";
const SESSION_ID = "--session-id chooses the conversation; it cannot go with ";
const NO_SESSION = "--no-session keeps nothing; it cannot go with ";
const BAD_ID =
  "--session-id takes letters, digits, ., _ and -, beginning and ending with a letter or digit";

Deno.test("parseCommandLine() refuses in the circle dialect what the usage table names", () => {
  const refusals: [string, string][] = [
    ["--mode rpc . hello", NO_WORDS],
    ["--mode rpc two_words", NO_WORDS],
    ["--mode rpc -- hello", NO_WORDS],
    ["--mode rpc @notes.txt", NO_WORDS],
    ["--mode rpc -p", NO_WORDS],
    ["--mode rpc -r", "-r opens a list to choose from"],
    ["--mode json --resume x", "-r opens a list to choose from"],
    ["-p -r x", "-r opens a list to choose from"],
    ["--mode rpc --line", "--mode rpc and --line cannot go together"],
    ["--mode json --line", "--mode json and --line cannot go together"],
    ["-p --line", "-p and --line cannot go together"],
    ["--mode rpc --fork a1 -c", FORK + "-c"],
    ["--mode rpc --fork a1 --continue", FORK + "--continue"],
    ["--line --fork a1 -r", FORK + "-r"],
    ["--mode rpc --session b2 --fork a1", FORK + "--session"],
    ["--mode rpc --fork a1 --no-session", FORK + "--no-session"],
    ["--mode rpc --session-id a1 -c", SESSION_ID + "-c"],
    ["--line --session-id a1 --resume", SESSION_ID + "--resume"],
    ["--mode rpc --session-id a1 --session b2", SESSION_ID + "--session"],
    ["--mode rpc -c --session a1", "--session and -c cannot go together"],
    ["--mode rpc --no-session -c", NO_SESSION + "-c"],
    ["--mode rpc --no-session --session a1", NO_SESSION + "--session"],
    ["--mode rpc --no-session --session-id a1", NO_SESSION + "--session-id"],
    ["--mode rpc --session-id -a", "--session-id requires a value"],
    ["--mode rpc --session-id=-a", BAD_ID],
    ["--mode rpc --session-id a.", BAD_ID],
    ["--mode rpc --session-id a/b", BAD_ID],
    [`--mode rpc --session-id ${"a".repeat(201)}`, BAD_ID],
    ["--mode rpc --session-id a\n", BAD_ID],
    ["--mode rpc --yolo --approvals deny", "--yolo and --approvals deny cannot go together"],
    ["--mode rpc --approvals ask --yolo", "--yolo and --approvals ask cannot go together"],
    ["--mode rpc --approvals maybe", "--approvals must be deny, ask or allow"],
    ["--mode rpc --fly", "unknown option: --fly"],
    ["--mode rpc --fly=high", "unknown option: --fly"],
    ["--mode rpc -z", "unknown option: -z"],
    ["--mode rpc -pc", "unknown option: -pc"],
    ["--mode rpc --constructor", "unknown option: --constructor"],
    ["--mode rpc --model", "--model requires a value"],
    ["--mode rpc -m --yolo", "-m requires a value"],
    ["--mode rpc --model -- x", "--model requires a value"],
    ["--mode rpc --model=", "--model requires a value"],
    ["--mode rpc --name _", "--name requires a value"],
    ["--mode", "--mode requires a value"],
    ["--dialect", "--dialect requires a value"],
    ["--mode rpc --yolo=true", "--yolo does not take a value"],
    ["--mode rpc -nt=", "-nt does not take a value"],
    ["--mode fast", "--mode must be text, json, rpc or acp"],
    ["--mode rpc --dialect elvish", "--dialect must be circle, nimlet, pi or acp"],
    ["--mode acp --dialect circle", "--mode acp and --dialect circle cannot go together"],
    ["--mode json --dialect acp", "--mode json and --dialect acp cannot go together"],
    ["--dialect acp", "--dialect acp needs --mode rpc"],
    ["--mode rpc --thinking deep", "unknown thinking depth"],
    ["--mode rpc --thinking none", "unknown thinking depth"],
    ["--mode rpc --trust --no-approve", "--trust and --no-approve cannot go together"],
    ["--mode rpc --no-approve --approve", "--approve and --no-approve cannot go together"],
  ];
  for (const [line, text] of refusals) assertRefused(line, text);
  assertRefused("--mode rpc", "WEIR_DIALECT must be circle, nimlet, pi or acp", {
    dialect: "elvish",
  });
});

Deno.test("parseCommandLine() reads every option", () => {
  const line =
    "--mode rpc --dialect circle -m openai/x --thinking _HIGH_ -t read,ls,read -xt=bash " +
    "--system-prompt= --append-system-prompt one --append-system-prompt=-two -nc -n _my__talk_ " +
    "--session-id s-1 --session-dir /s --approvals allow --yolo --extensions --approve " +
    "--api-key k --base-url http://127.0.0.1/v1 --verbose folder";
  assertEquals(parse(line), {
    kind: "run",
    mode: "rpc",
    dialect: "circle",
    folder: "folder",
    messages: [],
    atFiles: [],
    warnings: [],
    options: {
      model: "openai/x",
      provider: undefined,
      models: undefined,
      thinking: "high",
      tools: ["read", "ls"],
      excludeTools: ["bash"],
      noTools: false,
      systemPrompt: "",
      appendSystemPrompt: ["one", "-two"],
      noContextFiles: true,
      name: "my talk",
      session: undefined,
      sessionId: "s-1",
      fork: undefined,
      continue: false,
      resume: false,
      noSession: false,
      sessionDir: "/s",
      approvals: "allow",
      extensions: true,
      trust: true,
      apiKey: "k",
      baseUrl: "http://127.0.0.1/v1",
      verbose: true,
    },
  });
});

Deno.test("parseCommandLine() takes the last of repeated options", () => {
  const { options, mode } = parseRun("--mode json -m a --model b --model=c --mode rpc");
  assertEquals([options.model, mode], ["c", "rpc"]);
});

Deno.test("parseCommandLine() cuts a name after 80 characters", () => {
  const { options } = parseRun(`--mode rpc --name ${"é😀".repeat(60)}`);
  assertEquals(options.name, "é😀".repeat(40));
});

Deno.test("parseCommandLine() finds the mode", () => {
  const modes: [string, boolean, string | undefined][] = [
    ["", true, undefined],
    ["folder", true, undefined],
    ["", false, "print"],
    ["-p", true, "print"],
    ["--print", true, "print"],
    ["--mode text", true, "print"],
    ["--mode json", true, "json"],
    ["-p --mode json", true, "json"],
    ["--mode=rpc", true, "rpc"],
    ["--mode acp", true, "rpc"],
    ["--line", true, "line"],
  ];
  for (const [line, isTerminal, mode] of modes) {
    assertEquals(parseRun(line, { isTerminal }).mode, mode, line);
  }
});

Deno.test("parseCommandLine() finds the dialect", () => {
  const dialects: [string, string | undefined, string][] = [
    ["--mode rpc", undefined, "circle"],
    ["--mode rpc", "", "circle"],
    ["--mode rpc", "pi", "pi"],
    ["--mode rpc --dialect nimlet", "pi", "nimlet"],
    ["--mode rpc --dialect=pi --dialect nimlet", undefined, "nimlet"],
    ["--mode acp", "pi", "acp"],
    ["--mode rpc", "acp", "acp"],
    ["-p x_y", "acp", "circle"],
    ["-p -- --dialect", "pi", "pi"],
  ];
  for (const [line, dialect, expected] of dialects) {
    assertEquals(parseRun(line, { dialect }).dialect, expected, line);
  }
});

Deno.test("parseCommandLine() sorts words into folder, files and messages", () => {
  const sorted: [string, string | undefined, string[], string[]][] = [
    ["-p . two_words", ".", ["two words"], []],
    ["-p two_words .", undefined, ["two words", "."], []],
    ["-p one two three", "one", ["two", "three"], []],
    ["-p @a.txt . @b_c.txt x_y", ".", ["x y"], ["a.txt", "b c.txt"]],
    ["-p -- . @a", undefined, [".", "@a"], []],
    ["-p . -- -x -- y", ".", ["-x", "--", "y"], []],
    ["-p -", "-", [], []],
    ["-p @", "@", [], []],
  ];
  for (const [line, folder, messages, atFiles] of sorted) {
    const run = parseRun(line);
    assertEquals([run.folder, run.messages, run.atFiles], [folder, messages, atFiles], line);
  }
});

Deno.test("parseCommandLine() shows help and version before it checks combinations", () => {
  assertEquals(parse("--mode rpc hello world -h"), { kind: "help" });
  assertEquals(parse("--version"), { kind: "version" });
  assertEquals(parse("setup --help"), { kind: "help" });
  assertRefused("--help --fly", "unknown option: --fly");
});

Deno.test("parseCommandLine() reads the sub-commands", () => {
  assertEquals(parse("setup --provider local --base-url http://x/v1 -m m --no-key --yes"), {
    kind: "setup",
    provider: "local",
    baseUrl: "http://x/v1",
    model: "m",
    api: undefined,
    key: { from: "none" },
    trust: undefined,
    yes: true,
  });
  assertEquals(parse("trust"), { kind: "trust", action: "add", folder: undefined });
  assertEquals(parse("trust --remove dir"), { kind: "trust", action: "remove", folder: "dir" });
  assertEquals(parse("trust --list"), { kind: "trust", action: "list", folder: undefined });
  assertEquals(parse("sessions --all --json"), {
    kind: "sessions",
    all: true,
    json: true,
    sessionDir: undefined,
  });
  assertEquals(parse("export abc out.html"), {
    kind: "export",
    session: "abc",
    file: "out.html",
    sessionDir: undefined,
  });
  assertEquals(parse("schema --dialect pi"), { kind: "schema", dialect: "pi", types: false });
  assertEquals(parse("doctor --json"), { kind: "doctor", json: true });
  assertEquals(parseRun("-p setup x_y").folder, "setup");
});

Deno.test("parseCommandLine() refuses what a sub-command does not take", () => {
  const refusals: [string, string][] = [
    ["setup now", 'weir setup does not take "now"; see weir --help'],
    ["setup --yolo", "unknown option: --yolo"],
    ["setup --api soap", "--api must be chat or responses"],
    ["setup --api-key k --no-key", "--api-key and --no-key cannot go together"],
    [
      "setup --provider a/b",
      "--provider takes letters, digits, ., _ and -, beginning with a letter or digit",
    ],
    ["setup --provider demo", "--provider demo is built in; choose another name"],
    [
      "setup --base-url ftp://x",
      "--base-url must be an http or https address such as https://api.openai.com/v1",
    ],
    ["trust a b", 'weir trust does not take "b"; see weir --help'],
    ["trust --list a", "--list takes no folder"],
    ["trust --list --remove", "--remove and --list cannot go together"],
    ["export", "weir export needs the id of a session; weir sessions lists them"],
    ["export a b c", 'weir export does not take "c"; see weir --help'],
  ];
  for (const [line, text] of refusals) assertRefused(line, text);
});

Deno.test("parseCommandLine() follows the rules of the nimlet dialect", () => {
  const environment = { dialect: "nimlet", isFolder: (path: string) => path === "here" };
  const run = parseRun("--mode json here @a word", environment);
  assertEquals([run.folder, run.messages, run.atFiles], ["here", ["@a", "word"], []]);
  assertEquals(parseRun("--mode json fix it", environment).messages, ["fix", "it"]);
  assertEquals(parseRun("--mode rpc -r", environment).options.continue, true);
  assertEquals(parseRun("--mode rpc --thinking none", environment).options.thinking, "off");
  assertEquals(
    parseRun("--mode rpc --no-session --session-id ab", environment).options.sessionId,
    "ab",
  );
  const refusals: [string, string][] = [
    ["--mode rpc there", "RPC mode accepts commands on stdin, not a CLI prompt."],
    ["--mode rpc -- here", "RPC mode accepts commands on stdin, not a CLI prompt."],
    ["--mode rpc --no-session --session a", "--no-session and --session cannot go together"],
    ["--mode rpc --no-session --fork a", "--no-session and --fork cannot go together"],
    ["--mode rpc --no-session -c", "--no-session and -c cannot go together"],
    ["--mode rpc --no-session --resume", "--no-session and --resume cannot go together"],
    ["--mode rpc --approve --no-approve", "--approve and --no-approve cannot go together"],
  ];
  for (const [line, text] of refusals) assertRefused(line, text, environment);
  const failedStart = { ...environment, exitCode: 1 };
  assertRefused("--mode rpc --thinking deep", "invalid thinking level: deep", {
    ...failedStart,
    kind: "configuration",
  });
  assertRefused("--mode rpc --session a/b", "Invalid session ID.", {
    ...failedStart,
    kind: "session",
  });
});

Deno.test("parseCommandLine() follows the rules of the pi dialect", () => {
  const environment = { dialect: "pi" };
  const run = parseRun("--mode rpc -na -ne --offline -e x.ts --theme=dark a b", environment);
  assertEquals([run.folder, run.messages, run.options.trust], [undefined, [], false]);
  assertEquals(run.warnings, [
    "weir: -e x.ts is ignored: pi extensions do not run in Weir",
    "weir: --theme dark is ignored: pi extensions do not run in Weir",
    "weir: RPC mode takes prompts on stdin, ignored: a b",
  ]);
  assertEquals(parseRun("--mode json fix it", environment).messages, ["fix", "it"]);
  assertEquals(parse("-v", environment), { kind: "version" });
  const { options } = parseRun("--mode rpc --provider p -m x:high --models a,b", environment);
  assertEquals([options.provider, options.model, options.models], ["p", "x:high", ["a", "b"]]);
  assertRefused("--mode rpc --provider p", "--provider needs --model", environment);
  assertRefused(
    "--mode rpc @a",
    "--mode rpc takes its prompts and images as commands on stdin, not as @file or -p",
    environment,
  );
});

Deno.test("parseCommandLine() follows the rules of the acp dialect", () => {
  assertEquals(parseRun("--mode acp folder").folder, "folder");
  assertEquals(parse("--mode acp --setup").kind, "setup");
  for (const option of ["--session a", "--session-id a", "--fork a", "-c", "-r", "--name a"]) {
    const [written] = option.split(" ");
    assertRefused(
      `--mode acp ${option}`,
      `${written} names one conversation; it cannot go with the acp dialect, whose client opens them`,
    );
  }
  assertRefused("--mode acp --line", "--mode acp and --line cannot go together");
  const words = "the acp dialect takes its prompts from the client, not as words or with -p";
  for (const line of ["--mode acp -p", "--mode acp . x", "--mode acp x_y"]) {
    assertRefused(line, words);
  }
});

Deno.test("HELP_TEXT fits on a screen", () => {
  const lines = HELP_TEXT.split("\n");
  assert(lines.length <= 24, `${lines.length} lines`);
  for (const line of lines) assert([...line].length <= 80, line);
});
