import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { runExportCommand } from "../../src/cli/export_command.ts";
import { StartError } from "../../src/errors.ts";
import { openSessionFile } from "../../src/session/open_session_file.ts";
import { createTemporaryPlace, type TemporaryPlace } from "../temporary_place.ts";
import { recordIo } from "./recorded_io.ts";

const { signal } = new AbortController();
const TIME = "2026-01-01T00:00:00.000Z";

/** Stores a session of another folder: a prompt, an answer with an open call. Returns its path. */
async function store(place: TemporaryPlace, id: string): Promise<string> {
  const message = (id: string, parentId: string | null, message: unknown) => ({
    type: "message",
    id,
    parentId,
    timestamp: TIME,
    message,
  });
  const lines = [
    { type: "session", version: 3, id, timestamp: TIME, cwd: "/elsewhere" },
    message("a", null, { role: "user", content: "hello there", timestamp: 1 }),
    message("b", "a", {
      role: "assistant",
      content: [
        { type: "text", text: "good day" },
        { type: "toolCall", id: "c", name: "bash", arguments: { command: "sleep 9" } },
      ],
      model: "some-model",
      provider: "p",
      api: "openai-completions",
      stopReason: "toolUse",
      timestamp: 2,
    }),
  ];
  const path = `home/sessions/--elsewhere--/${id}.jsonl`;
  await place.write(path, lines.map((line) => JSON.stringify(line) + "\n").join(""));
  return `${place.root}/${path}`;
}

async function run(place: TemporaryPlace, session: string, file?: string) {
  const io = recordIo();
  const { host, home, workspace } = place;
  const options = { session, file, sessionDir: undefined, home, currentFolder: workspace, signal };
  assertEquals(await runExportCommand(host, options, io), 0);
  return io;
}

async function refusal(place: TemporaryPlace, session: string, file?: string): Promise<StartError> {
  const error = await assertRejects(() => run(place, session, file), StartError);
  assertEquals(error.exitCode, 1);
  return error;
}

Deno.test("runExportCommand() writes a session of any folder, found by the end of its id", async () => {
  await using place = await createTemporaryPlace();
  await store(place, "0001-abc");
  const { output, errors } = await run(place, "abc");
  assertEquals([output, errors], [[`${place.workspace}/0001-abc.html`], []]);
  const html = await place.read("project/0001-abc.html");
  for (const text of ["hello there", "good day", "some-model", "/elsewhere", "0001-abc"]) {
    assertStringIncludes(html, text);
  }
  // What opening would add stays out.
  assertStringIncludes(html, "○ bash");
  assert(!html.includes("Interrupted"));
});

Deno.test("runExportCommand() neither changes the session nor needs its lock", async () => {
  await using place = await createTemporaryPlace();
  const path = await store(place, "0001-abc");
  const half = '{"type":"message","id":"d","par';
  await Deno.writeTextFile(path, half, { append: true });
  const before = await Deno.readTextFile(path);
  {
    const options = { signal, workspace: place.workspace };
    await Deno.writeTextFile(path, before.slice(0, -half.length));
    await using _journal = (await openSessionFile(place.host, path, options)).journal;
    await Deno.writeTextFile(path, before);
    const { output } = await run(place, "0001-abc", "out.html");
    assertEquals(output, [`${place.workspace}/out.html`]);
    assertEquals(await Deno.readTextFile(path), before);
  }
});

Deno.test("runExportCommand() says what is wrong", async () => {
  await using place = await createTemporaryPlace();
  const path = await store(place, "0001-abc");
  await store(place, "0002-abc");
  assertEquals((await refusal(place, "none")).message, "unknown session: none");
  assertEquals((await refusal(place, "-abc")).message, "session id is ambiguous: -abc");
  const missing = `${place.workspace}/no/x.html`;
  assertEquals(
    (await refusal(place, "0001-abc", missing)).message,
    `No such file or directory: ${missing}`,
  );
  assertEquals(
    (await refusal(place, "0001-abc", path)).message,
    `Cannot export to "${path}": it is the file of the session itself, name another one`,
  );
});
