import { assertEquals } from "@std/assert";
import { readConfig } from "../../src/config/config.ts";
import { startExtensions } from "../../src/start/start_extensions.ts";
import { createTemporaryPlace } from "../temporary_place.ts";

Deno.test("startExtensions() loads a workspace's extensions only when it is trusted", async () => {
  await using place = await createTemporaryPlace();
  const extension = (name: string) =>
    `export default (weir) => weir.addTool({ name: "${name}", description: "d", run: () => "" });`;
  await place.write("home/extensions/a.js", extension("mine"));
  await place.write("project/.weir/extensions/a.js", extension("theirs"));
  const { host, home, workspace } = place;
  const signal = new AbortController().signal;
  const namesOf = async (trusted: boolean) => {
    const config = await readConfig(host, { home, workspace, trusted, signal });
    const started = await startExtensions({
      host,
      config,
      home,
      workspace,
      trusted,
      secretVariables: [],
      signal,
    });
    await started.stopServers();
    return started.moreTools.map(({ name }) => name);
  };
  assertEquals(await namesOf(false), ["mine"]);
  assertEquals(await namesOf(true), ["mine", "theirs"]);
});
