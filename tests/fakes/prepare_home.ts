/**
 * A home and a workspace for a test of the real program, with a scripted endpoint as its provider.
 * It writes files and starts nothing.
 */

import type { ModelServer } from "./model_server.ts";

/** What the home's configuration says. */
export interface HomeOptions {
  /** Becomes provider `local`; without it `demo/demo` is the model. */
  server?: ModelServer;
  /** Which API the provider speaks; default `chat`. */
  api?: "chat" | "responses";
  /** Model id without the provider; default `test-model`. */
  model?: string;
  /** Trusted folders; default: the workspace. */
  trust?: readonly string[];
  /** US$ per million tokens. Default: `{ input: 1, output: 2, cacheRead: 0.1, cacheWrite: 0 }`. */
  price?: Record<string, number> | null;
  /** Tokens; default 100000. */
  contextWindow?: number;
  /** Merged into the configuration, key by key at every depth. */
  extraConfig?: Record<string, unknown>;
  /** Files of the workspace by relative path; default: a few small ones. */
  files?: Record<string, string>;
}

/** Absolute paths with symlinks resolved; disposing removes both folders. */
export interface PreparedHome extends AsyncDisposable {
  /** `WEIR_HOME`. */
  home: string;
  workspace: string;
  dispose(): Promise<void>;
}

/** The workspace's files unless a test brings its own. */
export const SAMPLE_FILES: Readonly<Record<string, string>> = {
  "README.md": "# Sample\n\nA small project for tests.\n",
  "notes.txt": "first line\nsecond line\nthird line\n",
  "src/main.ts": 'export function main(): string {\n  return "hello";\n}\n',
};

/** Writes `config.jsonc` and `trust.json` into a new home and fills a new workspace. */
export async function prepareHome(options: HomeOptions = {}): Promise<PreparedHome> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "weir_home_" }));
  const home = `${root}/home`;
  const workspace = `${root}/workspace`;
  const dispose = () =>
    Deno.remove(root, { recursive: true }).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  try {
    await Deno.mkdir(home, { mode: 0o700 });
    await Deno.mkdir(workspace);
    for (const [path, content] of Object.entries(options.files ?? SAMPLE_FILES)) {
      const file = `${workspace}/${path}`;
      await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
      await Deno.writeTextFile(file, content);
    }
    const config = merge(baseConfig(options), options.extraConfig ?? {});
    const trusted = options.trust ?? [workspace];
    const trust = { projects: Object.fromEntries(trusted.map((folder) => [folder, true])) };
    await writeJson(`${home}/config.jsonc`, config);
    await writeJson(`${home}/trust.json`, trust);
  } catch (error) {
    await dispose();
    throw error;
  }
  return { home, workspace, dispose, [Symbol.asyncDispose]: dispose };
}

function baseConfig(options: HomeOptions): Record<string, unknown> {
  if (!options.server) return { model: "demo/demo" };
  const {
    model = "test-model",
    price = { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 0 },
    contextWindow = 100_000,
  } = options;
  const details = {
    contextWindow,
    maxOutputTokens: 8_000,
    reasoning: true,
    input: ["text", "image"],
    ...(price && { price }),
  };
  const provider = {
    baseUrl: options.server.url,
    apiKey: "test-key",
    api: options.api ?? "chat",
    models: { [model]: details },
  };
  return { model: `local/${model}`, providers: { local: provider } };
}

function merge(base: Record<string, unknown>, extra: Record<string, unknown>) {
  const merged = { ...base };
  for (const [key, value] of Object.entries(extra)) {
    const before = merged[key];
    merged[key] = isObject(before) && isObject(value) ? merge(before, value) : value;
  }
  return merged;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await Deno.writeTextFile(path, JSON.stringify(value, null, 2) + "\n", { mode: 0o600 });
}
