import { assertEquals, assertMatch } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { type DialectName, drive } from "./_drive.ts";
import { mountSmallDisk, needsSmallDisk } from "./_small_disk.ts";

const onDisk = await needsSmallDisk();
const DIALECTS: readonly DialectName[] = ["circle", "pi"];
const OLD = "the old text\n";

/** What the model is told of each call of a reply whose calls come when the disk has become read-only, and again when it is not. */
async function resultsOn(
  { dialect, folder }: { dialect: DialectName; folder: "workspace" | "jobs" },
  toolCalls: { name: string; args: Record<string, unknown> }[],
): Promise<{ without: string[]; again: string[]; notes: string }> {
  await using server = startModelServer();
  server.answer(() => ({ text: "fine" }));
  await using home = await prepareHome({ server, files: { "notes.txt": OLD } });
  const path = folder === "workspace" ? home.workspace : `${home.home}/jobs`;
  await Deno.mkdir(path, { recursive: true });
  await using disk = await mountSmallDisk(path);
  // Its own folder must not keep the disk busy for writing.
  await using driver = await drive({ dialect, home });
  const run = async (prepare: () => Promise<void>) => {
    const gate = Promise.withResolvers<void>();
    const asked = server.requests.length + 1;
    server.reply({ gate: gate.promise, toolCalls });
    const end = await driver.prompt("work");
    await server.waitForRequests(asked);
    await prepare();
    gate.resolve();
    assertEquals(await end(), "answer");
    const { messages } = server.requests.at(-1)!;
    return messages.slice(-toolCalls.length).map((message) => JSON.stringify(message));
  };
  const without = await run(() => disk.remount("ro"));
  const notes = await Deno.readTextFile(`${home.workspace}/notes.txt`);
  const again = await run(() => disk.remount("rw"));
  await driver.finish();
  assertEquals(server.complaints, []);
  return { without, again, notes };
}

for (const dialect of DIALECTS) {
  Deno.test({
    name:
      `${dialect}: a workspace that becomes read-only in a turn is told to the model, and the turn goes on`,
    ...onDisk,
    fn: async () => {
      const edits = [{ oldText: "old", newText: "new" }];
      const { without, again, notes } = await resultsOn({ dialect, folder: "workspace" }, [
        { name: "read", args: { path: "notes.txt" } },
        { name: "write", args: { path: "deep/new.txt", content: "new" } },
        { name: "edit", args: { path: "notes.txt", edits } },
        { name: "bash", args: { command: "echo new > other.txt" } },
      ]);
      assertMatch(without[0]!, /the old text/);
      for (const text of without.slice(1)) assertMatch(text, /read-only/i);
      assertEquals(notes, OLD);
      for (const text of again) assertEquals(/read-only/i.test(text), false, text);
    },
  });

  Deno.test({
    name: `${dialect}: a command runs when there is no place for its log`,
    ...onDisk,
    fn: async () => {
      const command = "seq 1 50000; echo end of it";
      const { without, again } = await resultsOn({ dialect, folder: "jobs" }, [
        { name: "bash", args: { command } },
        { name: "bash", args: { command: "echo small" } },
      ]);
      assertMatch(without[0]!, /Read-only file system|read-only/);
      assertMatch(without[1]!, /small/);
      assertMatch(again[0]!, /all of it is in .*end of it/);
      assertMatch(again[1]!, /small/);
    },
  });
}
