// Makes dist/weir, an executable of its own, from dist/weir.js. Each permission is named; ffi is not among them.
//
// `DENO_COMPILE_BIN` is the deno that compiles (default: the one that runs this), `DENORT_BIN` the runtime to put the program
// on (default: the one that deno downloads for itself).
import { bundle } from "./bundle.ts";

const root = new URL("..", import.meta.url);
const permissions = ["read", "write", "net", "env", "run", "sys"].map((name) => `--allow-${name}`);
const target = Deno.build.os === "windows" ? "dist/weir.exe" : "dist/weir";

await bundle();
const compiler = Deno.env.get("DENO_COMPILE_BIN") || Deno.execPath();
const { success, stderr } = await runCompiler();
await Deno.stderr.write(stderr);
if (!success) {
  console.error(describeFailure(new TextDecoder().decode(stderr)));
  Deno.exit(1);
}
const { size } = await Deno.stat(new URL(target, root));
console.log(`${target}, ${Math.round(size / 1024 / 1024)} MiB`);

async function runCompiler(): Promise<Deno.CommandOutput> {
  const args = [
    "compile",
    "--no-config",
    "--no-lock",
    "--no-check",
    "--no-prompt",
    ...permissions,
    "-o",
    target,
    "dist/weir.js",
  ];
  try {
    return await new Deno.Command(compiler, { args, cwd: root, stdin: "null", stdout: "inherit" })
      .output();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    console.error(
      `Cannot compile dist/weir.js: there is no "${compiler}", set DENO_COMPILE_BIN to a deno`,
    );
    Deno.exit(1);
  }
}

function describeFailure(output: string): string {
  const isRuntimeMissing = /denort/i.test(output);
  return isRuntimeMissing
    ? "Cannot compile dist/weir.js: the runtime for executables could not be fetched, set DENORT_BIN to a " +
      "denort file (and DENO_COMPILE_BIN to the deno of the same version)"
    : "Cannot compile dist/weir.js: deno compile failed, see its output";
}
