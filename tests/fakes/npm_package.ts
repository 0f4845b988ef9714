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

/** The real Node.js; `undefined`, with the reason on the console, where there is none. */
export async function findNode(): Promise<string | undefined> {
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    try {
      if ((await Deno.stat(`${folder}/node`)).isFile) return `${folder}/node`;
    } catch {
      // Not here.
    }
  }
  console.log("skipped: there is no node on PATH");
  return undefined;
}
