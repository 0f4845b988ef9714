// Makes executables of dist/weir.js: one for this machine, or with --all one for each system that releases are made for. Each permission
// is named; ffi and import from the network are not among them.
//
//   compile.ts          dist/weir
//   compile.ts --all    dist/weir-<system>-<processor> and dist/SHA256SUMS; exit 1 when one could not be made, the others are there
//
// `DENO_COMPILE_BIN` is the deno that compiles (default: the one that runs this), `DENORT_BIN` the runtime to put this machine's program on
// (default, and always for other systems: the one that deno downloads for itself).
import { bundle } from "./bundle.ts";

/** A system that releases are made for. */
interface Target {
  readonly triple: string;
  /** Of its file in dist/. */
  readonly name: string;
}

const TARGETS: readonly Target[] = [
  { triple: "x86_64-unknown-linux-gnu", name: "weir-linux-x86_64" },
  { triple: "aarch64-unknown-linux-gnu", name: "weir-linux-aarch64" },
  { triple: "x86_64-apple-darwin", name: "weir-macos-x86_64" },
  { triple: "aarch64-apple-darwin", name: "weir-macos-aarch64" },
  { triple: "x86_64-pc-windows-msvc", name: "weir-windows-x86_64.exe" },
];
const PERMISSIONS = ["read", "write", "net", "env", "run", "sys"];
const SUMS = "SHA256SUMS";
const dist = new URL("../dist/", import.meta.url);

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: readonly string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== "--all");
  if (unknown !== undefined) {
    console.error(`Cannot compile: unknown option "${unknown}", the only one is --all`);
    return 2;
  }
  await bundle();
  const own = { triple: Deno.build.target, name: executableName("weir") };
  if (args.length === 0) return await compile(own) ? 0 : 1;
  const made: Target[] = [];
  for (const target of TARGETS) if (await compile(target)) made.push(target);
  await writeSums(made.map(({ name }) => name));
  console.log(`dist/${SUMS}, ${made.length} of ${TARGETS.length} executables`);
  return made.length === TARGETS.length ? 0 : 1;
}

/** Makes one executable and says so; false after a line that says why it could not. Never leaves an old one under its name. */
async function compile({ triple, name }: Target): Promise<boolean> {
  const file = new URL(name, dist);
  await Deno.remove(file).catch(() => {});
  const problem = await runCompiler(triple, name);
  if (problem !== undefined) {
    console.error(`Cannot make dist/${name}: ${problem}`);
    return false;
  }
  const { size } = await Deno.stat(file);
  console.log(`dist/${name}, ${Math.round(size / 1024 / 1024)} MiB`);
  return true;
}

/** What went wrong, `undefined` for nothing. */
async function runCompiler(triple: string, name: string): Promise<string | undefined> {
  const compiler = Deno.env.get("DENO_COMPILE_BIN") || Deno.execPath();
  const isOwn = triple === Deno.build.target;
  const environment = Deno.env.toObject();
  if (!isOwn) delete environment.DENORT_BIN;
  const args = [
    "compile",
    "--quiet",
    "--no-config",
    "--no-lock",
    "--no-check",
    "--no-prompt",
    ...PERMISSIONS.map((permission) => `--allow-${permission}`),
    ...isOwn ? [] : ["--target", triple],
    "--output",
    name,
    "weir.js",
  ];
  try {
    const { success, stderr } = await new Deno.Command(compiler, {
      args,
      cwd: dist,
      clearEnv: true,
      env: environment,
      stdin: "null",
      stdout: "null",
    }).output();
    if (success) return undefined;
    const output = new TextDecoder().decode(stderr);
    // What follows is of use to nobody.
    console.error(output.replace(/\n\s*Stack backtrace:[\s\S]*$/, "").trimEnd());
    return describeFailure(output, isOwn);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return `there is no "${compiler}", set DENO_COMPILE_BIN to a deno`;
  }
}

function describeFailure(output: string, isOwn: boolean): string {
  if (!/denort|download/i.test(output)) return "deno compile failed, see its output";
  return "deno's runtime for that system could not be fetched, " +
    (isOwn
      ? "set DENORT_BIN to a denort file and DENO_COMPILE_BIN to the deno of the same version"
      : "try again where deno's downloads can be reached");
}

/** Writes the file that `sha256sum --check` reads. */
async function writeSums(names: readonly string[]): Promise<void> {
  const lines: string[] = [];
  for (const name of names) {
    const bytes = await Deno.readFile(new URL(name, dist));
    const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    lines.push(
      `${Array.from(sum, (byte) => byte.toString(16).padStart(2, "0")).join("")}  ${name}`,
    );
  }
  await Deno.writeTextFile(new URL(SUMS, dist), lines.map((line) => `${line}\n`).join(""));
}

function executableName(name: string): string {
  return Deno.build.os === "windows" ? `${name}.exe` : name;
}
