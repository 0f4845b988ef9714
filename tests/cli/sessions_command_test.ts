import { assertEquals, assertMatch } from "@std/assert";
import {
  type ListedSession,
  type ListSessions,
  runSessionsCommand,
} from "../../src/cli/sessions_command.ts";
import { recordIo } from "./recorded_io.ts";

const { signal } = new AbortController();
const OLD: ListedSession = {
  id: "old",
  name: undefined,
  firstPrompt: `first\u001b[31m\nline ${"x".repeat(80)}`,
  folder: "/a",
  modifiedMs: 1_000,
};
const NEW: ListedSession = {
  id: "new",
  name: "my talk",
  firstPrompt: "hello",
  folder: "/b",
  modifiedMs: 2_000,
};

async function run(
  found: ListedSession[],
  { all = false, json = false }: { all?: boolean; json?: boolean } = {},
) {
  const io = recordIo();
  const asked: (string | undefined)[] = [];
  const listSessions: ListSessions = async function* ({ folder, sessionDir }) {
    asked.push(folder, sessionDir);
    yield* found;
  };
  const place = { home: "/home", currentFolder: "/a", signal };
  const options = { all, json, sessionDir: "/s", listSessions, ...place };
  assertEquals(await runSessionsCommand(options, io), 0);
  return { ...io, asked };
}

Deno.test("runSessionsCommand() lists the newest first, in lines that cannot steer the terminal", async () => {
  const { output, errors, asked } = await run([OLD, NEW]);
  assertEquals(asked, ["/a", "/s"]);
  assertEquals([output.length, errors], [2, []]);
  assertMatch(output[0], /^new {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}my talk$/);
  assertMatch(output[1], /^old {2}\S+ \S+ {2}first \[31m line x{43}…$/);
});

Deno.test("runSessionsCommand() shows the folder with --all", async () => {
  const { output, asked } = await run([NEW, { ...OLD, firstPrompt: undefined }], { all: true });
  assertEquals(asked, [undefined, "/s"]);
  assertMatch(output[0], / {2}my talk {2}\/b$/);
  assertMatch(output[1], / {2}\(empty\) {2}\/a$/);
});

Deno.test("runSessionsCommand() writes JSON lines with --json", async () => {
  const { output } = await run([NEW], { json: true });
  assertEquals(output, [
    '{"id":"new","name":"my talk","firstPrompt":"hello","folder":"/b","modified":"1970-01-01T00:00:02.000Z"}',
  ]);
  const empty = await run([], { json: true });
  assertEquals([empty.output, empty.errors], [[], []]);
});

Deno.test("runSessionsCommand() says when there is nothing", async () => {
  assertEquals((await run([])).errors, ["No saved sessions in this folder; --all shows all"]);
  assertEquals((await run([], { all: true })).errors, ["No saved sessions"]);
});
