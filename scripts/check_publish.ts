// Asks `deno publish` whether the package could be published, without publishing it: documentation of every export, no slow types, no file
// outside the package. Where JSR does not answer, on a copy in which the packages that would come from there are files of the copy.
import { chooseSource } from "./choose_source.ts";

/** Nothing that is published needs them. */
const forTests = ["@std/assert", "@std/testing"];
const root = new URL("..", import.meta.url);

Deno.exitCode = await run(["doc", "--lint", "--config", "deno.npm.json", "mod.ts"], root) ||
  await checkPublish();

async function checkPublish(): Promise<number> {
  if (await chooseSource() === "jsr") {
    return await run(["publish", "--dry-run", "--allow-dirty", "--config", "deno.json"], root);
  }
  const folder = await Deno.makeTempDir({ prefix: "weir-publish-" });
  try {
    const copied = new URL(`file://${encodeURI(folder)}/`);
    await copyPackage(copied);
    return await run(["publish", "--dry-run", "--allow-dirty"], copied);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function run(args: string[], cwd: URL): Promise<number> {
  const { code } = await new Deno.Command(Deno.execPath(), { args, cwd, stdin: "null" })
    .spawn().status;
  return code;
}

/** The files of the package and, in `std/`, those that take the place of JSR packages. */
async function copyPackage(to: URL): Promise<void> {
  const { publish, imports, ...config } = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", root)),
  );
  for (const path of publish.include) await copy(new URL(path, root), new URL(path, to));
  for (const name of Object.keys(imports)) {
    if (!imports[name].startsWith("jsr:@std/") || forTests.includes(name)) continue;
    const short = name.replace("@std/", "");
    const { exports } = JSON.parse(
      await Deno.readTextFile(new URL(`scripts/std/${short}/deno.json`, root)),
    );
    await copy(new URL(`scripts/std/${short}/`, root), new URL(`std/${short}/`, to));
    await Deno.remove(new URL(`std/${short}/deno.json`, to));
    delete imports[name];
    for (const [entry, file] of Object.entries<string>(toMap(exports))) {
      imports[name + entry.slice(1)] = new URL(file, new URL(`std/${short}/`, to)).href
        .replace(to.href, "./");
    }
  }
  await Deno.writeTextFile(
    new URL("deno.json", to),
    JSON.stringify({
      ...config,
      imports,
      publish: { ...publish, include: [...publish.include, "std/"] },
    }),
  );
}

function toMap(exports: unknown): Record<string, string> {
  return typeof exports === "string" ? { ".": exports } : exports as Record<string, string>;
}

async function copy(from: URL, to: URL): Promise<void> {
  const { isDirectory } = await Deno.stat(from);
  if (!isDirectory) return await Deno.copyFile(from, to);
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    const path = isDirectory ? `${name}/` : name;
    await copy(new URL(path, from), new URL(path, to));
  }
}
