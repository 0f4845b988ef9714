// Makes dist/weir.js: the whole program in one file that imports nothing but `node:` modules. Modules that the program
// imports dynamically are in it too, but run only when they are asked for.
import { chooseSource, sourceOptions } from "./choose_source.ts";

const root = new URL("..", import.meta.url);

/** Bundles src/main.ts into dist/weir.js; resolves to its URL. Throws when the program cannot be bundled. */
export async function bundle(): Promise<URL> {
  const target = new URL("dist/weir.js", root);
  await Deno.mkdir(new URL(".", target), { recursive: true });
  const made = new URL(`dist/.weir-${Deno.pid}.js`, root);
  try {
    const { success } = await new Deno.Command(Deno.execPath(), {
      args: [
        "bundle",
        ...sourceOptions(await chooseSource()),
        "--platform=deno",
        "--format=esm",
        "--minify",
        "--quiet",
        "-o",
        `dist/.weir-${Deno.pid}.js`,
        "src/main.ts",
      ],
      cwd: root,
      stdin: "null",
    }).spawn().status;
    if (!success) throw new Error("Cannot bundle src/main.ts: deno bundle failed, see its output");
    const code = await Deno.readTextFile(made);
    refuseImports(code);
    await Deno.writeTextFile(made, `${await preamble()}\n${code}`);
    await Deno.rename(made, target);
  } finally {
    await Deno.remove(made).catch(() => {});
  }
  return target;
}

/**
 * The line before the program: the build time that src/version.ts looks for, and `require`, which packages in CommonJS
 * need for `node:` modules and Deno 2.6 leaves out.
 */
async function preamble(): Promise<string> {
  const { version } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  const buildTime = Deno.env.get("WEIR_BUILD_TIME") ?? new Date().toISOString();
  return [
    `// Weir ${version}, ${buildTime}`,
    // Looked up when it is called: an import of node:module would cost more than the whole start.
    `const require=(name)=>process.getBuiltinModule(name),WEIR_BUILD_TIME=${
      JSON.stringify(buildTime)
    };`,
  ].join("\n");
}

/**
 * What would be fetched when the program starts, and static imports of `node:` modules: each of those costs the start 5 to 15 ms, so they are looked up
 * when they are used (src/deno/built_in_module.ts). Text that looks like an import but stands in a string of some package has no quote right after
 * `from`.
 */
function refuseImports(code: string): void {
  const outside = [...code.matchAll(/\b(?:from|import) ?\(?"((?:npm|jsr|https?):[^"]+)"/g)];
  const built = [...code.matchAll(/\b(?:from|import) ?"(node:[^"]+)"/g)];
  const names = [...outside, ...built].map(([, name]) => name);
  if (names.length === 0) return;
  throw new Error(
    `Cannot bundle src/main.ts: ${
      names.join(", ")
    } would be imported at the start, import packages through the import map and ` +
      `node: modules with builtInModule()`,
  );
}

if (import.meta.main) {
  const target = await bundle();
  const { size } = await Deno.stat(target);
  console.log(`dist/weir.js, ${Math.round(size / 1024)} KiB`);
}
