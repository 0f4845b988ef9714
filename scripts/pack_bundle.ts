// Makes a bundle start faster. What a start does not need is kept packed in it, as text that costs next to nothing until it is asked for; what
// it does need is written in a way that the engine compiles it with the file and keeps it in its cache, instead of once per start.

/** A module that is kept packed: how it is written in `import(…)`, and the entry that stands for it, beside dist/. */
export interface Part {
  readonly specifier: string;
  readonly entry: string;
}

export const PARTS: readonly Part[] = [
  { specifier: "openai", entry: 'export { OpenAI } from "openai";' },
  { specifier: "./mcp_sdk.ts", entry: 'export * from "../src/mcp/mcp_sdk.ts";' },
];

/** The modules of which a start needs all that they import: for each dialect, up to its first answer. */
const START_MODULES = [
  "src/serve.ts",
  "src/session/hub.ts",
  "src/start/start_agent.ts",
  "src/start/start_connection.ts",
  "src/dialects/acp/dialect.ts",
  "src/dialects/circle/dialect.ts",
  "src/dialects/nimlet/dialect.ts",
  "src/dialects/pi/dialect.ts",
];

/** Gone in the end: esbuild would leave out the parentheses of a function that is only parenthesized. */
const EAGER = "WEIR_EAGER";

/** A module in the bundle: the lines of the function that initializes it, without the first two and the last two. */
interface BundledModule {
  readonly name: string;
  readonly first: number;
  readonly end: number;
}

/**
 * Changes a bundle that esbuild has written without minifying. The functions that initialize what a start needs become parenthesized ones, which V8
 * compiles at once; imports of parts become calls of `loadPart`. Throws when a part is not imported or the form of the bundle is not the known one.
 */
export function prepareBundle(code: string): string {
  const lines = code.split("\n");
  for (const { name, first, end } of startModules(lines, findModules(lines))) {
    lines[first - 2] = `var ${name} = __esm({ init: ${EAGER}(() => {`;
    lines[first - 1] = "";
    lines[end] = "";
    lines[end + 1] = "})});";
  }
  let text = lines.join("\n");
  for (const { specifier } of PARTS) {
    const written = `import(${JSON.stringify(specifier)})`;
    if (!text.includes(written)) throw new Error(`Cannot pack ${specifier}: nothing imports it`);
    text = text.replaceAll(written, `loadPart(${JSON.stringify(specifier)})`);
  }
  return text;
}

/** By path. */
function findModules(lines: readonly string[]): Map<string, BundledModule> {
  const modules = new Map<string, BundledModule>();
  for (const [i, line] of lines.entries()) {
    const [, name] = /^var (init_\w+) = __esm\(\{$/.exec(line) ?? [];
    const [, path] = /^ {2}"(src\/[^"]+)"\(\) \{$/.exec(lines[i + 1] ?? "") ?? [];
    if (name === undefined || path === undefined) continue;
    const end = lines.indexOf("});", i) - 1;
    if (lines[end] !== "  }") throw new Error(`Cannot find the end of ${path} in the bundle`);
    modules.set(path, { name, first: i + 2, end });
  }
  return modules;
}

/** The modules of a start and all that they import, in turn. What they import later is not among them. */
function startModules(
  lines: readonly string[],
  modules: ReadonlyMap<string, BundledModule>,
): Set<BundledModule> {
  const byName = new Map([...modules.values()].map((module) => [module.name, module]));
  const found = new Set<BundledModule>();
  const add = (module: BundledModule) => {
    if (found.has(module)) return;
    found.add(module);
    for (const line of lines.slice(module.first, module.end)) {
      const imported = byName.get(/^ {4}(init_\w+)\(\);$/.exec(line)?.[1] ?? "");
      if (imported !== undefined) add(imported);
    }
  };
  for (const path of START_MODULES) {
    const module = modules.get(path);
    if (module === undefined) throw new Error(`Cannot find ${path} in the bundle`);
    add(module);
  }
  return found;
}

/** The minified bundle with the parentheses that `prepareBundle` has asked for. */
export function finishBundle(code: string): string {
  return code.replaceAll(`${EAGER}(`, "(");
}

/** The statements that hold the parts, each a CommonJS module, and load them. */
export async function packParts(codes: ReadonlyMap<string, string>): Promise<string> {
  const packed: Record<string, string> = {};
  for (const [specifier, code] of codes) packed[specifier] = await pack(code);
  return `const loadedParts=new Map,packedParts=${JSON.stringify(packed)};` +
    `const loadPart=${loadPart.toString().replace(/\s*\n\s*/g, " ")};`;
}

async function pack(code: string): Promise<string> {
  const stream = new Blob([code]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer()).toBase64();
}

// What follows runs in the bundle; its source is copied there.
declare const loadedParts: Map<string, Promise<unknown>>;
declare const packedParts: Record<string, string>;
declare const require: (name: string) => unknown;

function loadPart(name: string): Promise<unknown> {
  const load = async () => {
    const bytes = Uint8Array.from(atob(packedParts[name]!), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const code = await new Response(stream).text();
    const part = { exports: {} };
    new Function("module", "exports", "require", code)(part, part.exports, require);
    return part.exports;
  };
  const loading = loadedParts.get(name) ?? load();
  loadedParts.set(name, loading);
  return loading;
}
