// Starts a task of deno.json: decides where packages come from, then runs `deno` with the configuration for that source.
// Runs with --no-config and imports nothing, because what it decides is where imports come from.

type Source = "jsr" | "npm";
interface Step {
  name: string;
  args: string[];
  /** Ends with the summary of a test run, which is counted. */
  counts?: boolean;
}
interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

const root = new URL("..", import.meta.url);
const probeMs = 3000;

const tasks: Record<string, (args: string[], source: Source) => Step[]> = {
  demo: script("demo.ts"),
  bundle: script("bundle.ts"),
  compile: script("compile.ts"),
  bench: (args, source) => [{
    name: "bench",
    args: ["bench", "-A", ...configured(source), ...args, ...places(args, ["scripts/bench"])],
  }],
  test: (args, source) => [testStep({ args, source, paths: ["tests"] })],
  ok: (args, source) => [
    { name: "format", args: ["fmt", "--check", ...configured(source)] },
    { name: "lint", args: ["lint", ...configured(source)] },
    {
      name: "types",
      args: ["check", ...frozen(source), ...existing(["mod.ts", "src", "tests", "scripts"])],
    },
    { name: "web standards only", args: ["run", "-A", ...frozen(source), "scripts/check_web.ts"] },
    { name: "layers", args: ["run", "-A", ...frozen(source), "scripts/check_layers.ts"] },
    testStep({ args: ["--doc", ...args], source, paths: ["mod.ts", "src", "tests"] }),
  ],
};

const [task = "", ...rest] = Deno.args;
const steps = Object.hasOwn(tasks, task) ? tasks[task] : undefined;
if (!steps) {
  console.error(`Cannot run "${task}": no such task, use one of ${Object.keys(tasks).join(", ")}`);
  Deno.exit(2);
}
Deno.exit(await runSteps(steps(rest, await chooseSource())));

/** `WEIR_STD` decides; without it JSR is used when it answers in time. */
async function chooseSource(): Promise<Source> {
  const wanted = Deno.env.get("WEIR_STD") ?? "";
  if (wanted === "jsr" || wanted === "npm") return wanted;
  if (wanted !== "") {
    console.error(`Cannot use WEIR_STD="${wanted}": unknown source, set it to jsr or npm`);
    Deno.exit(2);
  }
  const registry = Deno.env.get("JSR_URL") ?? "https://jsr.io/";
  try {
    const response = await fetch(new URL("@std/assert/meta.json", registry), {
      signal: AbortSignal.timeout(probeMs),
    });
    const meta: unknown = await response.json();
    return response.ok && typeof meta === "object" && meta !== null && "versions" in meta
      ? "jsr"
      : "npm";
  } catch {
    return "npm";
  }
}

function configured(source: Source): string[] {
  return ["--config", source === "jsr" ? "deno.json" : "deno.npm.json"];
}

/** In CI the lock file has to be complete as it is. */
function frozen(source: Source): string[] {
  const isFrozen = source === "npm" && Boolean(Deno.env.get("CI"));
  return [...configured(source), ...(isFrozen ? ["--frozen"] : [])];
}

function script(name: string): (args: string[], source: Source) => Step[] {
  return (args, source) => [{
    name,
    args: ["run", "-A", ...frozen(source), `scripts/${name}`, ...args],
  }];
}

function testStep(
  { args, source, paths }: { args: string[]; source: Source; paths: string[] },
): Step {
  return {
    name: "tests",
    args: ["test", "-A", ...frozen(source), ...places(args, paths), ...args],
    counts: true,
  };
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

async function runDeno({ args, counts }: Step): Promise<{ code: number; output: string }> {
  const child = new Deno.Command(Deno.execPath(), {
    args,
    cwd: root,
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
