/** The executable that `deno task compile` makes. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";

const root = new URL("../../", import.meta.url);
/** A folder for tests that need the network may hold a runtime for machines without one. */
const HELPER = new URL("../shared/tools/denort.sh", root).pathname;
const name = Deno.build.os === "windows" ? "weir.exe" : "weir";

interface Compiled {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function compile(args: readonly string[], env: Record<string, string>): Promise<Compiled> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--config", "deno.npm.json", "scripts/compile.ts", ...args],
    cwd: root,
    env: { NO_COLOR: "1", ...env },
  }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** Where the compiler finds its runtime: what the environment says, else what the helper does, else nothing. */
async function runtime(): Promise<Record<string, string>> {
  if (Deno.env.has("DENORT_BIN")) return {};
  const { success, stdout } = await new Deno.Command("sh", {
    args: ["-c", `[ -f "$1" ] && sh "$1"`, "sh", HELPER],
    stderr: "null",
  }).output().catch(() => ({ success: false, stdout: new Uint8Array() }));
  if (!success) return {};
  const found = new TextDecoder().decode(stdout).matchAll(/(\w+)='([^']*)'/g);
  return Object.fromEntries(Array.from(found, ([, key, value]) => [key!, value!]));
}

/** Whether there is an executable; says on stderr why not. */
async function isCompiled(context: Deno.TestContext): Promise<boolean> {
  const { code, stderr } = await compile([], await runtime());
  if (code === 0) return true;
  assertStringIncludes(stderr, "runtime for that system could not be fetched");
  console.error("No runtime for executables can be had: the tests of dist/weir are skipped");
  await context.step({ name: "skipped: no runtime for executables", ignore: true, fn() {} });
  return false;
}

Deno.test("compile.ts makes an executable that needs nothing else", async (context) => {
  if (!await isCompiled(context)) return;
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "weir_compile_" }));
  try {
    const [home, project] = [`${folder}/home`, `${folder}/project`];
    for (const path of [home, project]) await Deno.mkdir(path);
    const program = new URL(`dist/${name}`, root).pathname;
    const env = { HOME: home, PATH: "/usr/bin:/bin", TMPDIR: folder };
    await context.step("--version tells the version and the time of the build", async () => {
      const { stdout } = await run(program, ["--version"], { cwd: project, env });
      assertMatch(stdout, /^weir \d+\.\d+\.\d+ \(built \d{4}-\d\d-\d\dT[\d:.]+Z\)\n$/);
    });
    await context.step("a whole turn of the demo in an empty folder", async () => {
      const input = '{"type":"prompt","message":"run `echo made; sleep 0.01`"}\n';
      const args = ["--mode", "rpc", "--model", "demo", "--trust", "--yolo", "."];
      const { code, stdout, stderr } = await run(program, args, { cwd: project, env, input });
      assertEquals([code, stderr], [0, ""]);
      const records = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
      const result = records.find(({ type }) => type === "tool_result");
      assertEquals([result.status, result.output], ["success", "made\nExit code: 0"]);
      assertEquals(records.at(-1).type, "jobs_stopped");
      assertEquals([...Deno.readDirSync(project)], []);
      const made = [...Deno.readDirSync(`${home}/.weir/sessions`)];
      assertEquals(made.length, 1);
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test({
  name: "compile.ts --all names what could not be made and makes the others",
  ignore: Deno.build.os === "windows",
  async fn() {
    const folder = await Deno.makeTempDir({ prefix: "weir_compiler_" });
    try {
      // Stands for a deno whose download of one runtime fails.
      const compiler = `${folder}/deno`;
      await Deno.writeTextFile(
        compiler,
        `#!/bin/sh
target=own out=
for arg; do
  case $previous in --target) target=$arg ;; --output) out=$arg ;; esac
  previous=$arg
  case $arg in -A|--allow-all|--allow-ffi) echo "too much: $arg" >&2; exit 9 ;; esac
done
case $target in *windows*) echo "error: download of denort failed" >&2; exit 1 ;; esac
for needed in read write net env run sys; do
  case " $* " in *" --allow-$needed "*) ;; *) echo "no $needed" >&2; exit 9 ;; esac
done
echo "$target" >"$out"
`,
        { mode: 0o755 },
      );
      const { code, stdout, stderr } = await compile(["--all"], { DENO_COMPILE_BIN: compiler });
      assertEquals(code, 1);
      assertStringIncludes(stdout, "dist/SHA256SUMS, 4 of 5 executables");
      assertStringIncludes(
        stderr,
        "Cannot make dist/weir-windows-x86_64.exe: deno's runtime for that system could not be fetched",
      );
      const sums = await Deno.readTextFile(new URL("dist/SHA256SUMS", root));
      assertEquals(sums.split("\n").map((line) => line.slice(66)), [
        ...["weir-linux-x86_64", "weir-linux-aarch64", "weir-macos-x86_64", "weir-macos-aarch64"],
        "",
      ]);
      const checked = await new Deno.Command("sh", {
        args: ["-c", "sha256sum --check --quiet SHA256SUMS || shasum -a 256 --check SHA256SUMS"],
        cwd: new URL("dist/", root),
      }).output();
      assert(checked.success);
    } finally {
      for (const entry of Deno.readDirSync(new URL("dist/", root))) {
        if (/^weir-|^SHA256SUMS$/.test(entry.name)) {
          await Deno.remove(new URL(`dist/${entry.name}`, root));
        }
      }
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test("compile.ts refuses an option that it does not know", async () => {
  const { code, stderr } = await compile(["--every"], {});
  assertEquals([code, stderr], [
    2,
    'Cannot compile: unknown option "--every", the only one is --all\n',
  ]);
});

async function run(
  program: string,
  args: readonly string[],
  { cwd, env, input }: { cwd: string; env: Record<string, string>; input?: string },
): Promise<Compiled> {
  const child = new Deno.Command(program, {
    args: [...args],
    cwd,
    env,
    clearEnv: true,
    stdin: input === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (input !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
  }
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
