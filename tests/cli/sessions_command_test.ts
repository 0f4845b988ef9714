import { assertEquals, assertMatch } from "@std/assert";
import { runSessionsCommand } from "../../src/cli/sessions_command.ts";
import { createTemporaryPlace, type TemporaryPlace } from "../temporary_place.ts";
import { recordIo } from "./recorded_io.ts";

const { signal } = new AbortController();

/** Stores a session below `sessions`, written `time` seconds after 1970. */
async function store(
  { root, write }: TemporaryPlace,
  { id, folder, prompt, name, time }: {
    id: string;
    folder: string;
    prompt?: string;
    name?: string;
    time: number;
  },
): Promise<void> {
  const timestamp = "2026-01-01T00:00:00.000Z";
  const entry = (fields: Record<string, unknown>, index: number) => ({
    id: `0000000${index}`,
    parentId: null,
    timestamp,
    ...fields,
  });
  const content = [{ type: "text", text: prompt }];
  const lines: unknown[] = [{ type: "session", version: 3, id, timestamp, cwd: folder }];
  if (prompt) {
    lines.push(entry({ type: "message", message: { role: "user", content, timestamp: 1 } }, 1));
  }
  if (name) lines.push(entry({ type: "session_info", name }, 2));
  const text = lines.map((line) => JSON.stringify(line) + "\n").join("");
  await write(`sessions/${id}.jsonl`, text);
  await Deno.utime(`${root}/sessions/${id}.jsonl`, time, time);
}

async function run(place: TemporaryPlace, { all = false, json = false } = {}) {
  const io = recordIo();
  const { host, home, root, workspace } = place;
  const sessionDir = `${root}/sessions`;
  const options = { all, json, sessionDir, home, currentFolder: workspace, signal };
  assertEquals(await runSessionsCommand(host, options, io), 0);
  return io;
}

Deno.test("runSessionsCommand() lists the newest first, in lines that cannot steer the terminal", async () => {
  await using place = await createTemporaryPlace();
  const { workspace: folder } = place;
  const prompt = `first\u001b[31m\nline ${"x".repeat(80)}`;
  await store(place, { id: "old", folder, prompt, time: 1000 });
  await store(place, { id: "new", folder, prompt, name: "my talk", time: 2000 });
  await store(place, { id: "other", folder: "/elsewhere", time: 3000 });
  const { output, errors } = await run(place);
  assertEquals([output.length, errors], [2, []]);
  assertMatch(output[0], /^new {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}my talk$/);
  assertMatch(output[1], /^old {2}\S+ \S+ {2}first \[31m line x{43}…$/);
});

Deno.test("runSessionsCommand() shows those of every folder with --all", async () => {
  await using place = await createTemporaryPlace();
  await store(place, { id: "here", folder: place.workspace, prompt: "hello", time: 1000 });
  await store(place, { id: "other", folder: "/elsewhere", time: 3000 });
  const { output } = await run(place, { all: true });
  assertEquals(output.length, 2);
  assertMatch(output[0], /^other {2}.* {2}\(empty\) {2}\/elsewhere$/);
  assertEquals(output[1].endsWith(`  hello  ${place.workspace}`), true);
});

Deno.test("runSessionsCommand() writes JSON lines with --json", async () => {
  await using place = await createTemporaryPlace();
  const { workspace: folder } = place;
  await store(place, { id: "one", folder, prompt: "hello", name: "talk", time: 2 });
  const { output } = await run(place, { json: true });
  assertEquals(output.map((line) => JSON.parse(line)), [{
    id: "one",
    name: "talk",
    firstPrompt: "hello",
    folder,
    modified: "1970-01-01T00:00:02.000Z",
  }]);
});

Deno.test("runSessionsCommand() says when there is nothing", async () => {
  await using place = await createTemporaryPlace();
  assertEquals(
    (await run(place)).errors,
    ["No saved sessions in this folder; --all shows all"],
  );
  assertEquals((await run(place, { all: true })).errors, ["No saved sessions"]);
  const { output, errors } = await run(place, { json: true });
  assertEquals([output, errors], [[], []]);
});
