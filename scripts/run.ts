// Starts a task of deno.json: decides where packages come from, then runs `deno` with the configuration for that source.
// Runs with --no-config, so it imports no package.
import { chooseSource, configFile, type Source, sourceOptions } from "./choose_source.ts";

interface Step {
  name: string;
  args: string[];
  /** Ends with the summary of a test run, which is counted. */
  counts?: boolean;
  /** Added to the environment. */
  env?: Record<string, string>;
}
interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

const root = new URL("..", import.meta.url);

const tasks: Record<string, (args: string[], source: Source) => Step[]> = {
  demo: script("demo.ts"),
  bundle: script("bundle.ts"),
  compile: script("compile.ts"),
  bench: script("bench/bench.ts"),
  // The fault tests take as long as all others; they have a task of their own.
  test: (args, source) => [testStep({ args, source, paths: usualTests() })],
  "test:faults": (args, source) => {
    const { rounds, rest } = takeRounds(args);
    return [{
      ...testStep({ args: rest, source, paths: ["tests/faults"] }),
      env: { WEIR_ROUNDS: rounds },
    }];
  },
  ok: (args, source) => [
    { name: "format", args: ["fmt", "--check", "--config", configFile(source)] },
    { name: "lint", args: ["lint", "--config", configFile(source)] },
    // Only the product is silent: scripts and tests may print.
    {
      name: "no console in src",
      args: [
        "lint",
        "--config",
        configFile(source),
        "--rules-include=no-console",
        ...existing(["mod.ts", "src"]),
      ],
    },
    {
      name: "types",
      args: ["check", ...sourceOptions(source), ...existing(["mod.ts", "src", "tests", "scripts"])],
    },
    {
      name: "web standards only",
      args: ["run", "-A", ...sourceOptions(source), "scripts/check_web.ts"],
    },
    { name: "layers", args: ["run", "-A", ...sourceOptions(source), "scripts/check_layers.ts"] },
    {
      name: "could be published",
      args: ["run", "-A", ...sourceOptions(source), "scripts/check_publish.ts"],
    },
    testStep({ args: ["--doc", ...args], source, paths: ["mod.ts", "src", ...usualTests()] }),
  ],
};

const [task = "", ...rest] = Deno.args;
if (!Object.hasOwn(tasks, task)) {
  stop(`Cannot run "${task}": no such task, use one of ${Object.keys(tasks).join(", ")}`);
}
const source = await chooseSource().catch((error: Error) => stop(error.message));
Deno.exit(await runSteps(tasks[task](rest, source)));

function stop(reason: string): never {
  console.error(reason);
  Deno.exit(2);
}

function script(name: string): (args: string[], source: Source) => Step[] {
  return (args, source) => [{
    name,
    args: ["run", "-A", ...sourceOptions(source), `scripts/${name}`, ...args],
  }];
}

/** `--rounds N`: N times as many rounds as in every run of the tests; 25 without it. */
function takeRounds(args: string[]): { rounds: string; rest: string[] } {
  const at = args.findIndex((arg) => arg === "--rounds" || arg.startsWith("--rounds="));
  if (at < 0) return { rounds: "25", rest: args };
  const isJoined = args[at].includes("=");
  const rounds = isJoined ? args[at].slice("--rounds=".length) : args[at + 1];
  if (!(Number(rounds) > 0)) stop(`Cannot run rounds: --rounds takes a number above 0`);
  return { rounds, rest: args.toSpliced(at, isJoined ? 1 : 2) };
}

function testStep(
  { args, source, paths }: { args: string[]; source: Source; paths: string[] },
): Step {
  return {
    name: "tests",
    args: ["test", "-A", "--parallel", ...sourceOptions(source), ...places(args, paths), ...args],
    counts: true,
  };
}

/** What is in tests/, without the fault tests. Deno's own `--ignore` does not hold with `--doc`. */
function usualTests(): string[] {
  try {
    const names = [...Deno.readDirSync(new URL("tests/", root))].map(({ name }) => name);
    return names.filter((name) => name !== "faults").sort().map((name) => `tests/${name}`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** The default paths, unless the arguments name a path themselves. */
function places(args: string[], paths: string[]): string[] {
  const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  return own.some((arg) => !arg.startsWith("-") && existing([arg]).length > 0)
    ? []
    : existing(paths);
}

function existing(paths: string[]): string[] {
  return paths.filter((path) => {
    try {
      Deno.statSync(new URL(path, root));
      return true;
    } catch {
      return false;
    }
  });
}

/** Runs all steps, also after a failed one, and returns the exit code: that of the first step which failed. */
async function runSteps(steps: Step[]): Promise<number> {
  const totals: Totals = { passed: 0, failed: 0, skipped: 0 };
  let firstCode = 0;
  for (const step of steps) {
    if (steps.length > 1) console.log(`\n── ${step.name}`);
    const { code, output } = await runDeno(step);
    const counted = step.counts ? parseSummary(output) : undefined;
    if (counted && (code === 0 || counted.failed > 0)) {
      totals.passed += counted.passed;
      totals.failed += counted.failed;
      totals.skipped += counted.skipped;
    } else if (code === 0) {
      totals.passed++;
    } else {
      totals.failed++;
      if (steps.length > 1) console.log(`✖ ${step.name}`);
    }
    firstCode ||= code;
  }
  if (steps.some((step) => step.counts)) {
    const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : "";
    console.log(`${totals.passed} passed, ${totals.failed} failed${skipped}`);
  }
  return firstCode;
}

async function runDeno({ args, counts, env }: Step): Promise<{ code: number; output: string }> {
  const child = new Deno.Command(Deno.execPath(), {
    args,
    cwd: root,
    env: { ...childEnvironment(), ...env },
    stdin: "inherit",
    stdout: counts ? "piped" : "inherit",
    stderr: "inherit",
  }).spawn();
  const signals: Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT", "SIGBREAK"]
    : ["SIGINT", "SIGTERM", "SIGHUP"];
  const forwards = signals.map((signal) => {
    const forward = () => {
      try {
        child.kill(signal);
      } catch {
        // It has ended already; its status follows.
      }
    };
    Deno.addSignalListener(signal, forward);
    return () => Deno.removeSignalListener(signal, forward);
  });
  try {
    const output = counts ? await passOn(child.stdout) : "";
    const { code } = await child.status;
    return { code, output };
  } finally {
    for (const stop of forwards) stop();
  }
}

/** Children use the same source without asking again, and trust the machine's certificates as every Deno from 2.9 on does. */
function childEnvironment(): Record<string, string> {
  const store = Deno.env.get("DENO_TLS_CA_STORE") ?? "mozilla,system";
  // Most tests wait for processes most of the time, so more of them run than there are cores.
  const jobs = Deno.env.get("DENO_JOBS") ?? "4";
  return { WEIR_STD: source, DENO_TLS_CA_STORE: store, DENO_JOBS: jobs };
}

/** Copies the child's output to ours as it comes; resolves to the end of it, where the summary is. */
async function passOn(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let tail = "";
  for await (const chunk of output) {
    for (let written = 0; written < chunk.length;) {
      written += await Deno.stdout.write(chunk.subarray(written));
    }
    tail = (tail + decoder.decode(chunk, { stream: true })).slice(-20_000);
  }
  return tail;
}

/** Reads the runner's last line: `ok | 12 passed (3 steps) | 0 failed | 1 ignored (2s)`. */
function parseSummary(output: string): Totals | undefined {
  // deno-lint-ignore no-control-regex -- colours
  const plain = output.replace(/\x1b\[[0-9;]*m/g, "");
  const line = plain.split("\n").findLast((text) => /^(ok|FAILED) \| .*\d+ passed/.test(text));
  if (line === undefined) return undefined;
  const count = (word: string) => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0);
  return { passed: count("passed"), failed: count("failed"), skipped: count("ignored") };
}
