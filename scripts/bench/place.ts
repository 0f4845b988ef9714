// Where measuring happens: a folder with a home, a workspace and everything else that programs write to, and an endpoint. Nothing
// of the user's own is read or written.
import { Endpoint } from "./endpoint.ts";
import type { Program } from "./child.ts";

/** What the measures start and use. */
export interface Place {
  /** The program under measurement, in the circle dialect unless the words say otherwise. */
  weir(...words: string[]): Program;
  /** The same without any option. */
  bare(...words: string[]): Program;
  /** A script of this folder as a program. */
  floor(script: string, ...args: string[]): Program;
  /** What answers lines, made in the same way as the program under measurement. */
  readonly floorLines: Program;
  readonly env: Record<string, string>;
  /** All of it; removed in the end. */
  readonly folder: string;
  readonly home: string;
  readonly workspace: string;
  readonly endpoint: Endpoint;
}

const here = new URL("./", import.meta.url);

/** Prepares the folder for a program, an executable or a script that Deno runs. The caller removes the folder. */
export async function preparePlace(
  { folder, program, endpoint }: { folder: string; program: string; endpoint: Endpoint },
): Promise<Place> {
  const [home, workspace] = [`${folder}/weir`, `${folder}/work`];
  const user = `${folder}/user`;
  for (const path of [home, workspace, user, `${folder}/tmp`]) await Deno.mkdir(path);
  const local = {
    baseUrl: endpoint.url,
    apiKey: "k",
    models: { m: { contextWindow: 100_000_000, price: { input: 1, output: 2 } } },
  };
  await Deno.writeTextFile(
    `${home}/config.jsonc`,
    JSON.stringify({ model: "local/m", providers: { local } }),
  );
  const env = {
    PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin",
    HOME: user,
    XDG_CONFIG_HOME: `${user}/config`,
    XDG_CACHE_HOME: `${user}/cache`,
    XDG_DATA_HOME: `${user}/data`,
    XDG_STATE_HOME: `${user}/state`,
    TMPDIR: `${folder}/tmp`,
    WEIR_HOME: home,
    DENO_DIR: `${folder}/deno`,
    DENO_NO_UPDATE_CHECK: "1",
    NO_COLOR: "1",
  };
  const started = (...argv: string[]): Program => ({ argv, env, cwd: workspace });
  // Programs and floors under the same conditions: without looking for a configuration.
  const script = (path: string) => [Deno.execPath(), "run", "-A", "--no-config", path];
  const floor = (name: string, ...args: string[]) =>
    started(...script(new URL(name, here).pathname), ...args);
  const isScript = program.endsWith(".js");
  const own = isScript ? script(program) : [program];
  const lines = `${folder}/floor_lines`;
  const isCompiled = !isScript && await compileFloor(lines);
  return {
    weir: (...words) => started(...own, "--mode", "rpc", "--trust", ...words, workspace),
    bare: (...words) => started(...own, ...words),
    floor,
    floorLines: isCompiled ? started(lines) : floor("floor_lines.js"),
    env,
    folder,
    home,
    workspace,
    endpoint,
  };
}

/** Makes an executable of the floor too; false where it cannot be made, then Deno runs it. */
async function compileFloor(output: string): Promise<boolean> {
  const compiler = Deno.env.get("DENO_COMPILE_BIN") || Deno.execPath();
  const args = ["compile", "-A", "--quiet", "--no-config", "--no-lock", "--no-check", "--output"];
  const { success } = await new Deno.Command(compiler, {
    args: [...args, output, new URL("floor_lines.js", here).pathname],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).output();
  return success;
}
