/** Runs a script in a real editor without a window, with a folder, a home and the program with its demo model. Knows no editor. */

import { cleanEnvironment } from "../fakes/weir_process.ts";

/** The repository, with a slash at its end. */
export const ROOT = new URL("../../", import.meta.url).pathname;

/** What the script has written into the file that is named by `RESULT`. */
export interface EditorRun {
  readonly code: number;
  /** Everything that the editor itself wrote. */
  readonly output: string;
  /** Made by the script, in JSON. */
  readonly result: Readonly<Record<string, unknown>>;
}

/** For `ignore` of a test: whether the editor is not installed; then it is said on stderr. */
export function lacksProgram(name: string): boolean {
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    try {
      if (Deno.statSync(`${folder}/${name}`).isFile) return false;
    } catch {
      // Not here.
    }
  }
  console.error(`No ${name} on PATH: its tests are skipped`);
  return true;
}

/**
 * The command that editors are told to start, word by word. It leaves its process id in the
 * file `PID` when it starts.
 */
export function weirCommand(): string[] {
  return [
    ...["sh", "-c", 'echo $$ >"$PID"; exec "$@"', "sh"],
    ...[Deno.execPath(), "run", "-A", "--config", `${ROOT}deno.npm.json`, `${ROOT}src/main.ts`],
    ...["--mode", "rpc", "--model", "demo", "--trust"],
  ];
}

/** Runs an editor in a folder with a README. `script` is written to the file that `args` is called with. */
export async function runEditor(
  program: string,
  { script, args }: { script: string; args(file: string): string[] },
): Promise<EditorRun> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "weir_editor_" }));
  try {
    for (const name of ["home", "home/tmp", "project"]) await Deno.mkdir(`${folder}/${name}`);
    await Deno.writeTextFile(`${folder}/project/README.md`, "# Kettle\n");
    await Deno.writeTextFile(`${folder}/script`, script);
    const { code, stdout, stderr } = await new Deno.Command(program, {
      args: args(`${folder}/script`),
      cwd: `${folder}/project`,
      clearEnv: true,
      env: {
        ...cleanEnvironment(`${folder}/home`),
        WEIR_HOME: `${folder}/home/weir`,
        RESULT: `${folder}/result`,
        PID: `${folder}/pid`,
      },
      stdin: "null",
      signal: AbortSignal.timeout(120_000),
    }).output();
    const decoder = new TextDecoder();
    const output = decoder.decode(stdout) + decoder.decode(stderr);
    const text = await Deno.readTextFile(`${folder}/result`).catch(() => "");
    if (text === "") throw new Error(`${program} left no result, exit code ${code}: ${output}`);
    return { code, output, result: JSON.parse(text) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
