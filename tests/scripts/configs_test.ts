import { assertEquals } from "@std/assert";
import { version } from "../../src/version.ts";

const root = new URL("../../", import.meta.url);

async function readConfig(path: string): Promise<Record<string, unknown>> {
  return JSON.parse(await Deno.readTextFile(new URL(path, root)));
}

Deno.test("deno.npm.json is deno.json plus links and a lock file", async () => {
  const { lock: _, ...jsr } = await readConfig("deno.json");
  const { lock, links, ...npm } = await readConfig("deno.npm.json");
  assertEquals(npm, jsr);
  assertEquals(lock, { path: "./deno.npm.lock" });
  const names = Object.keys(jsr.imports as object).filter((name) => name.startsWith("@std/"));
  assertEquals(links, names.map((name) => name.replace("@", "./scripts/")));
});

Deno.test("scripts/std has the packages that deno.npm.json links", async () => {
  const { links } = await readConfig("deno.npm.json");
  for (const link of links as string[]) {
    const { name } = await readConfig(`${link}/deno.json`);
    assertEquals(name, link.replace("./scripts/", "@"));
  }
});

Deno.test("version is that of the package", async () => {
  assertEquals((await readConfig("deno.json")).version, version);
});
