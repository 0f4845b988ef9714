// Makes two files that import nothing but `node:` modules: dist/weir.js, the whole program, and dist/weir_lib.js, what mod.ts
// exports, for web pages and Node. Modules that are imported dynamically are in them too, but run only when they are asked for.
import { chooseSource, sourceOptions } from "./choose_source.ts";
import { finishBundle, packParts, PARTS, prepareBundle } from "./pack_bundle.ts";

const root = new URL("..", import.meta.url);

/** Bundles src/main.ts into dist/weir.js; resolves to its URL. Throws when the program cannot be bundled. */
export async function bundle(): Promise<URL> {
  const parts = new Map<string, string>();
  for (const { specifier, entry } of PARTS) {
    const file = await writeEntry(specifier.replace(/\W/g, ""), entry);
    try {
      const options = ["--format=cjs", "--minify", "--platform=deno"];
      parts.set(specifier, await runBundler(file, options));
    } finally {
      await Deno.remove(new URL(file, root));
    }
  }
  const external = PARTS.flatMap(({ specifier }) => ["--external", specifier]);
  return await make("weir.js", {
    entry: "src/main.ts",
    options: ["--format=esm", "--platform=deno", ...external],
    finish: async (code) =>
      `${await preamble()}\n${await packParts(parts)}\n${
        finishBundle(await minify(prepareBundle(code)))
      }`,
  });
}

/** Bundles what mod.ts exports into dist/weir_lib.js; resolves to its URL. Throws when it cannot be bundled. */
export async function bundleLibrary(): Promise<URL> {
  const entry = await writeEntry("weir_lib", await libraryEntry());
  try {
    return await make("weir_lib.js", {
      entry,
      options: ["--format=esm", "--platform=browser", "--minify"],
      finish: async (code) => `// Weir ${await readVersion()}, library\n${await lower(code)}`,
    });
  } finally {
    await Deno.remove(new URL(entry, root));
  }
}

/** mod.ts without its last lines, which start the program. */
async function libraryEntry(): Promise<string> {
  const text = await Deno.readTextFile(new URL("mod.ts", root));
  const end = text.indexOf("\nif (import.meta.main)");
  if (end < 0) throw new Error("Cannot bundle mod.ts: its start as a program is not where it was");
  return text.slice(0, end).replaceAll('"./src/', '"../src/');
}

/** Writes a module for the bundler into dist/; resolves to its path. The caller removes it. */
async function writeEntry(name: string, code: string): Promise<string> {
  const entry = `dist/.${name}-${Deno.pid}.ts`;
  await Deno.mkdir(new URL("dist/", root), { recursive: true });
  await Deno.writeTextFile(new URL(entry, root), code);
  return entry;
}

async function make(
  name: string,
  { entry, options, finish }: {
    entry: string;
    options: readonly string[];
    finish(code: string): Promise<string>;
  },
): Promise<URL> {
  const target = new URL(`dist/${name}`, root);
  await Deno.mkdir(new URL(".", target), { recursive: true });
  const made = new URL(`dist/.${Deno.pid}-${name}`, root);
  try {
    const code = await finish(await runBundler(entry, options));
    refuseImports(code, entry);
    await Deno.writeTextFile(made, code);
    await Deno.rename(made, target);
  } finally {
    await Deno.remove(made).catch(() => {});
  }
  return target;
}

/** The code that `deno bundle` makes of an entry. */
async function runBundler(entry: string, options: readonly string[]): Promise<string> {
  const made = await Deno.makeTempFile({ prefix: "weir_bundle_", suffix: ".js" });
  try {
    const { success } = await new Deno.Command(Deno.execPath(), {
      args: [
        "bundle",
        ...sourceOptions(await chooseSource()),
        ...options,
        "--quiet",
        "-o",
        made,
        entry,
      ],
      cwd: root,
      stdin: "null",
    }).spawn().status;
    if (!success) throw new Error(`Cannot bundle ${entry}: deno bundle failed, see its output`);
    return await Deno.readTextFile(made);
  } finally {
    await Deno.remove(made);
  }
}

/** The same program in few characters. */
async function minify(code: string): Promise<string> {
  return await runEsbuild(code, { target: "esnext" });
}

/** Syntax and functions of 2022, which Node 20 and browsers have. */
async function lower(code: string): Promise<string> {
  return await runEsbuild(code, {
    inject: [decodeURIComponent(new URL("scripts/old_engines.js", root).pathname)],
    define: {
      "Promise.withResolvers": "withResolvers",
      AsyncDisposableStack: "AsyncDisposables",
    },
    target: "es2022",
  });
}

async function runEsbuild(
  code: string,
  options: { target: string; inject?: string[]; define?: Record<string, string> },
): Promise<string> {
  const esbuild = await import("esbuild");
  try {
    const { outputFiles: [file] } = await esbuild.build({
      stdin: { contents: code, resolveDir: decodeURIComponent(root.pathname) },
      external: ["node:*"],
      bundle: true,
      write: false,
      format: "esm",
      minify: true,
      ...options,
    });
    return file.text;
  } finally {
    await esbuild.stop();
  }
}

async function readVersion(): Promise<string> {
  const { version } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  return version;
}

/**
 * The line before the program: the build time that src/version.ts looks for, and `require`, which packages in CommonJS
 * need for `node:` modules and Deno 2.6 leaves out.
 */
async function preamble(): Promise<string> {
  const version = await readVersion();
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
function refuseImports(code: string, entry: string): void {
  const outside = [...code.matchAll(/\b(?:from|import) ?\(?"((?:npm|jsr|https?):[^"]+)"/g)];
  const built = [...code.matchAll(/\b(?:from|import) ?"(node:[^"]+)"/g)];
  const names = [...outside, ...built].map(([, name]) => name);
  if (names.length === 0) return;
  throw new Error(
    `Cannot bundle ${entry}: ${
      names.join(", ")
    } would be imported at the start, import packages through the import map and ` +
      `node: modules with builtInModule()`,
  );
}

if (import.meta.main) {
  const isLibrary = Deno.args[0] === "library";
  for (const make of isLibrary ? [bundleLibrary] : [bundle, bundleLibrary]) {
    const target = await make();
    const { size } = await Deno.stat(target);
    console.log(`dist/${target.pathname.split("/").at(-1)}, ${Math.round(size / 1024)} KiB`);
  }
}
