import { assertEquals, assertRejects } from "@std/assert";
import { runTrustCommand } from "../../src/cli/trust_command.ts";
import { StartError } from "../../src/errors.ts";
import { createTemporaryPlace, type TemporaryPlace } from "../temporary_place.ts";
import { recordIo } from "./recorded_io.ts";

const { signal } = new AbortController();

async function run(
  place: TemporaryPlace,
  action: "add" | "remove" | "list",
  folder?: string,
): Promise<string[]> {
  const io = recordIo();
  const { host, home, workspace } = place;
  const options = { action, folder, home, currentFolder: workspace, signal };
  assertEquals(await runTrustCommand(host, options, io), 0);
  return io.output;
}

Deno.test("runTrustCommand() adds, lists and removes folders", async () => {
  await using place = await createTemporaryPlace();
  const { root, workspace } = place;
  assertEquals(await run(place, "list"), []);
  assertEquals(await run(place, "add"), [`Trusted ${workspace}`]);
  assertEquals(await run(place, "add", ".."), [`Trusted ${root}`]);
  assertEquals(await run(place, "list"), [`trusted     ${workspace}`, `trusted     ${root}`]);
  assertEquals(await run(place, "remove", "."), [
    `No longer listed: ${workspace}`,
    `It is still trusted because of ${root}`,
  ]);
  assertEquals(await run(place, "remove", root), [`No longer listed: ${root}`]);
  assertEquals(await run(place, "list"), []);
});

Deno.test("runTrustCommand() refuses a folder that does not exist", async () => {
  await using place = await createTemporaryPlace();
  const error = await assertRejects(() => run(place, "add", "none"), StartError);
  assertEquals(error.message, `No such folder: ${place.workspace}/none`);
});
