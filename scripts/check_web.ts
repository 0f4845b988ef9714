// Type-checks mod.ts with the types of a web browser and without Deno's: what it reaches uses web standards only.
// src/main.ts is left out, because mod.ts imports it only when it is run as the program, and so is the host's code that starts one.
import { chooseSource, configFile } from "./choose_source.ts";

const root = new URL("..", import.meta.url);

const folder = await Deno.makeTempDir({ prefix: "weir-web-" });
try {
  const file = new URL(configFile(await chooseSource()), root);
  await writeConfig(JSON.parse(await Deno.readTextFile(file)), folder);
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["check", "--config", `${folder}/deno.json`, "mod.ts"],
    cwd: root,
    stdin: "null",
  }).spawn().status;
  Deno.exitCode = code;
} finally {
  await Deno.remove(folder, { recursive: true });
}

interface Config {
  imports: Record<string, string>;
  links?: string[];
  compilerOptions: Record<string, unknown>;
}

async function writeConfig(config: Config, folder: string): Promise<void> {
  const inRoot = (path: string) => decodeURIComponent(new URL(path, root).pathname);
  const web = {
    imports: {
      ...config.imports,
      [new URL("src/main.ts", root).href]: "./main.ts",
      [new URL("src/deno/start_program.ts", root).href]: "./start_program.ts",
    },
    ...(config.links ? { links: config.links.map(inRoot), lock: false } : {}),
    compilerOptions: {
      ...config.compilerOptions,
      lib: ["dom", "dom.iterable", "dom.asynciterable", "esnext"],
      types: ["./import_meta.d.ts"],
    },
  };
  await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify(web));
  await Deno.writeTextFile(
    `${folder}/main.ts`,
    "export function main(): Promise<void> { return Promise.resolve(); }\n",
  );
  const client = new URL("src/client/client_process.ts", root).href;
  await Deno.writeTextFile(
    `${folder}/start_program.ts`,
    `import type { ProgramProcess, ProgramStart } from "${client}";\n` +
      "export declare function startProgram(start: ProgramStart): Promise<ProgramProcess>;\n",
  );
  // The one thing that mod.ts needs and the web does not have.
  await Deno.writeTextFile(
    `${folder}/import_meta.d.ts`,
    "interface ImportMeta { main: boolean }\n",
  );
}
