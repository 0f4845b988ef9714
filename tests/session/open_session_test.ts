import { assert, assertEquals, assertRejects } from "@std/assert";
import { StartError } from "../../src/errors.ts";
import { createMemoryHost } from "../../src/memory/memory_host.ts";
import { openConversation, type SessionChoice } from "../../src/session/open_session.ts";
import { readRecords, readText, sessionText, signal, store, user } from "./session_samples.ts";

const FOLDER = "/home/.weir/sessions/--project-app--";
const OTHER = "/home/.weir/sessions/--other--/o.jsonl";

function header(id: string, cwd = store.workspace): string {
  return JSON.stringify({ type: "session", version: 3, id, timestamp: "2026-01-01", cwd });
}

function newHost(files: Record<string, string> = {}) {
  const host = createMemoryHost({ files });
  const open = (choice: SessionChoice) => openConversation(host, { ...store, choice, signal });
  return { host, open };
}

const message = { type: "message", message: user("x") } as const;

async function refusal(opening: Promise<unknown>): Promise<[string, number]> {
  const error = await assertRejects(() => opening, StartError);
  return [error.message, error.exitCode];
}

Deno.test("openConversation() makes a new session without a file", async () => {
  const { host, open } = newHost();
  const { header, journal, entries } = await open({ kind: "new" });
  assertEquals([header.cwd, header.version, entries.length], ["/project/app", 3, 0]);
  const time = header.timestamp.replace(/[:.]/g, "-");
  assertEquals(journal.path, `${FOLDER}/${time}_${header.id}.jsonl`);
  await journal.close();
  assertEquals(await host.files.stat("/home"), undefined);
});

Deno.test("openConversation() keeps a session in memory", async () => {
  const { host, open } = newHost();
  const { journal } = await open({ kind: "memory", id: "mem-1" });
  journal.append(message);
  assertEquals([journal.id, journal.path], ["mem-1", undefined]);
  await journal.close();
  assertEquals(await host.files.stat("/home"), undefined);
});

Deno.test("openConversation() makes the session whose id was chosen, locked from the start", async () => {
  const { host, open } = newHost();
  const first = await open({ kind: "id", id: "s-1" });
  assertEquals(await refusal(open({ kind: "id", id: "s-1" })), [
    "session s-1 is open in process 1",
    1,
  ]);
  await first.journal.prepare();
  first.journal.append(message);
  assertEquals(
    (await refusal(open({ kind: "id", id: "s-1" })))[0],
    "session s-1 is open in process 1",
  );
  await first.journal.close();
  const second = await open({ kind: "id", id: "s-1" });
  assertEquals([second.header, second.entries.length], [first.header, 1]);
  await second.journal.close();
  assertEquals((await readRecords(host, first.journal.path!)).length, 2);
});

Deno.test("openConversation() refuses a chosen id that it must not open", async () => {
  const { open } = newHost({ [OTHER]: sessionText(["a"], header("o-1", "/other")) });
  assertEquals(await refusal(open({ kind: "id", id: "o-1" })), [
    "session belongs to a different workspace: /other",
    1,
  ]);
  assertEquals(await refusal(open({ kind: "id", id: "-x" })), [
    "--session-id takes letters, digits, ., _ and -, beginning and ending with a letter or digit",
    2,
  ]);
});

Deno.test("openConversation() opens a session of the workspace by a part of its id", async () => {
  const path = `${FOLDER}/1.jsonl`;
  const { open } = newHost({ [path]: sessionText(["a"], header("here-1")) });
  const { journal, entries } = await open({ kind: "find", text: "re-1" });
  assertEquals([journal.path, journal.id, entries.length], [path, "here-1", 1]);
  await journal.close();
  assertEquals(await refusal(open({ kind: "find", text: "nope" })), ["unknown session: nope", 1]);
});

Deno.test("openConversation() copies a session of another workspace", async () => {
  const text = sessionText(["a", "b"], header("o-1", "/other"));
  const { host, open } = newHost({ [OTHER]: text });
  const original = await openConversation(host, {
    ...store,
    workspace: "/other",
    choice: { kind: "id", id: "o-1" },
    signal,
  });
  const copy = await open({ kind: "find", text: "o-1" });
  assert(copy.header.id !== "o-1");
  assertEquals(copy.header.parentSession, OTHER);
  assertEquals(host.paths.dirname(copy.journal.path!), FOLDER);
  copy.journal.append(message);
  const records = await readRecords(host, copy.journal.path!);
  assertEquals(records[0], { ...copy.header });
  assertEquals(
    records.slice(1, 3).map((record) => JSON.stringify(record)),
    text.split("\n").slice(1, 3),
  );
  assertEquals(records[3]!.parentId, "e1");
  assertEquals(await readText(host, OTHER), text);
  await copy.journal.close();
  await original.journal.close();
});

Deno.test("openConversation() forks, under a chosen id when it is free", async () => {
  const path = `${FOLDER}/1.jsonl`;
  const torn = sessionText(["a", "b"], header("s-1")) + '{"type":"mess';
  const { host, open } = newHost({ [path]: torn });
  const fork = await open({ kind: "fork", text: "s-1", id: "s-2" });
  assertEquals([fork.header.id, fork.header.parentSession], ["s-2", path]);
  assertEquals(fork.entries.map(({ id }) => id), ["e0", "e1"]);
  await fork.journal.close();
  assertEquals(await readText(host, path), torn);
  const again = await open({ kind: "id", id: "s-2" });
  assertEquals(again.entries, fork.entries);
  await again.journal.close();
  const taken = { kind: "fork", text: "s-1", id: "s-1" } as const;
  assertEquals(await refusal(open(taken)), ["session s-1 exists already", 2]);
  const unknown = { kind: "fork", text: "no" } as const;
  assertEquals(await refusal(open(unknown)), ["unknown session to fork: no", 1]);
  assertEquals(
    await refusal(open({ kind: "fork", text: "s-1", id: "a/b" })).then(([, exit]) => exit),
    2,
  );
  const ambiguous = await open({ kind: "fork", text: "s-1", id: "x-s-1" });
  await ambiguous.journal.close();
  assertEquals(
    (await refusal(open({ kind: "fork", text: "-1" })))[0],
    "session id is ambiguous: -1",
  );
});

Deno.test("openConversation() copies every branch and what it does not know, as pi wrote it", async () => {
  const text = await Deno.readTextFile(new URL("pi_session.jsonl", import.meta.url));
  const { host, open } = newHost({ [OTHER]: text });
  const { journal } = await open({ kind: "fork", text: "7e11" });
  const lines = (await readText(host, journal.path!)).split("\n").slice(1);
  assertEquals(lines, text.split("\n").slice(1));
  await journal.close();
});

Deno.test("openConversation() goes on with the session that was written last", async () => {
  const { open } = newHost({ [`${FOLDER}/1.jsonl`]: sessionText(["a"], header("s-1")) });
  const { journal } = await open({ kind: "continue" });
  assertEquals(journal.id, "s-1");
  await journal.close();
  const none = newHost({ [OTHER]: sessionText(["a"], header("o-1", "/other")) });
  assertEquals(await refusal(none.open({ kind: "continue" })), [
    "no saved session in this folder",
    1,
  ]);
  const fresh = await none.open({ kind: "continue", orNew: true });
  assertEquals(fresh.entries, []);
});

Deno.test("openConversation() opens or begins the session in a file", async () => {
  const { host, open } = newHost({ "/x/1.jsonl": sessionText(["a"], header("s-1", "/other")) });
  const { journal } = await open({ kind: "path", path: "/x/1.jsonl" });
  assertEquals([journal.id, journal.isSaved], ["s-1", true]);
  await journal.close();
  const fresh = await open({ kind: "path", path: "sub/2.jsonl" });
  assertEquals([fresh.journal.path, fresh.journal.isSaved], ["/project/app/sub/2.jsonl", false]);
  await fresh.journal.prepare();
  fresh.journal.append(message);
  assertEquals((await readRecords(host, "/project/app/sub/2.jsonl")).length, 2);
  await fresh.journal.close();
});
