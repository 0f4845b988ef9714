import { assertEquals, assertRejects } from "@std/assert";
import { StartError } from "../../src/errors.ts";
import { createMemoryHost } from "../../src/memory/memory_host.ts";
import {
  findNewestSession,
  findSessionById,
  findSessionBySuffix,
  findSessionFiles,
  sessionFolder,
} from "../../src/session/find_session.ts";
import { listSessions } from "../../src/session/list_sessions.ts";
import { createSessionId, isSessionId } from "../../src/session/session_id.ts";
import { sessionText, signal, store } from "./session_samples.ts";

const FOLDER = "/home/.weir/sessions/--project-app--";

function header(id: string, cwd = store.workspace): string {
  return JSON.stringify({ type: "session", version: 3, id, timestamp: `2026-01-01T${id}`, cwd });
}

const ids = (files: { header: { id: string } }[]) => files.map(({ header }) => header.id);

Deno.test("createSessionId() makes UUIDs of version 7 that sort by time", () => {
  const before = Date.now();
  const id = createSessionId();
  assertEquals(
    /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id),
    true,
  );
  const time = parseInt(id.replaceAll("-", "").slice(0, 12), 16);
  assertEquals(time >= before && time <= Date.now(), true);
  assertEquals(new Set(Array.from({ length: 1000 }, createSessionId)).size, 1000);
});

Deno.test("isSessionId() takes what may be chosen", () => {
  for (const id of ["ab", "a-1", "A.b_c-9", "00", createSessionId(), "a".repeat(200)]) {
    assertEquals([id, isSessionId(id)], [id, true]);
  }
  for (const id of ["", "a", "-a", "a-", "a/b", "..", "a b", "ä1", "ab\n", "a".repeat(201)]) {
    assertEquals([id, isSessionId(id)], [id, false]);
  }
});

Deno.test("sessionFolder() names the folder after the workspace", () => {
  const host = createMemoryHost();
  assertEquals(sessionFolder(host, store), FOLDER);
  assertEquals(
    sessionFolder(host, { ...store, workspace: "C:\\a\\b" }),
    "/home/.weir/sessions/--C--a-b--",
  );
  assertEquals(sessionFolder(host, { ...store, sessionDir: "/x/y" }), "/x/y");
  assertEquals(sessionFolder(host, { ...store, sessionDir: "y" }), "/project/app/y");
  const long = (end: string) =>
    host.paths.basename(sessionFolder(host, { ...store, workspace: "/ü".repeat(200) + end }));
  assertEquals(new TextEncoder().encode(long("/a")).length < 220, true);
  assertEquals(long("/a") === long("/b"), false);
});

Deno.test("findSessionFiles() passes over files that are no sessions", async () => {
  const host = createMemoryHost({
    files: {
      [`${FOLDER}/1.jsonl`]: sessionText(["a"], header("one")),
      [`${FOLDER}/2.jsonl`]: "",
      [`${FOLDER}/3.jsonl`]: "{not json\n",
      [`${FOLDER}/4.jsonl`]: "\0".repeat(9000),
      [`${FOLDER}/5.txt`]: sessionText(["a"], header("five")),
      [`${FOLDER}/.6.jsonl`]: sessionText(["a"], header("six")),
      [`${FOLDER}/7.jsonl/x`]: "",
      [`${FOLDER}/8.jsonl`]: "\n\r\n" + sessionText([], header("eight")),
      [`${FOLDER}/9.jsonl`]: sessionText(["a"], header("nine", "/other")),
      "/home/.weir/sessions/loose": "",
      "/home/.weir/sessions/--other--/1.jsonl": sessionText(["a"], header("ten", "/other")),
    },
    symlinks: { [`${FOLDER}/0.jsonl`]: "/nowhere" },
  });
  assertEquals(ids(await findSessionFiles(host, store, { signal })).sort(), ["eight", "one"]);
  const all = await findSessionFiles(host, store, { signal, everywhere: true });
  assertEquals(ids(all).sort(), ["eight", "nine", "one", "ten"]);
  const empty = createMemoryHost();
  assertEquals(await findSessionFiles(empty, store, { signal, everywhere: true }), []);
  const aborted = AbortSignal.abort(new Error("enough"));
  await assertRejects(() => findSessionFiles(host, store, { signal: aborted }), Error, "enough");
});

Deno.test("findSessionFiles() looks into nothing but the session folder that was given", async () => {
  const host = createMemoryHost({
    files: {
      "/x/1.jsonl": sessionText([], header("one")),
      "/x/2.jsonl": sessionText([], header("two", "/other")),
      [`${FOLDER}/3.jsonl`]: sessionText([], header("three")),
    },
  });
  const own = { ...store, sessionDir: "/x" };
  assertEquals(ids(await findSessionFiles(host, own, { signal })), ["one"]);
  const all = await findSessionFiles(host, own, { signal, everywhere: true });
  assertEquals(ids(all).sort(), ["one", "two"]);
});

Deno.test("findSessionFiles() knows the workspace by another path, too", async () => {
  const host = createMemoryHost({
    files: { "/real/app/x": "", [`${FOLDER}/1.jsonl`]: sessionText([], header("a1", "/real/app")) },
    symlinks: { "/project": "/real" },
  });
  assertEquals(ids(await findSessionFiles(host, store, { signal })), ["a1"]);
});

Deno.test("findSessionById() and findSessionBySuffix() find by the id in the header", async () => {
  const host = createMemoryHost({
    files: {
      [`${FOLDER}/any.jsonl`]: sessionText([], header("abc-1")),
      [`${FOLDER}/thing.jsonl`]: sessionText([], header("xbc-1")),
      "/home/.weir/sessions/--other--/1.jsonl": sessionText([], header("zz-9", "/other")),
      "/home/.weir/sessions/--other--/2.jsonl": sessionText([], header("abc-1", "/other")),
      "/home/.weir/sessions/--other--/3.jsonl": sessionText([], header("9", "/other")),
    },
  });
  const byId = async (id: string) => (await findSessionById(host, store, { id, signal }))?.path;
  assertEquals(await byId("abc-1"), `${FOLDER}/any.jsonl`);
  assertEquals(await byId("zz-9"), "/home/.weir/sessions/--other--/1.jsonl");
  assertEquals(await byId("bc-1"), undefined);
  const bySuffix = async (text: string, match?: "start") =>
    (await findSessionBySuffix(host, store, { text, match, signal })).path;
  assertEquals(await bySuffix("z-9"), "/home/.weir/sessions/--other--/1.jsonl");
  assertEquals(await bySuffix("9"), "/home/.weir/sessions/--other--/3.jsonl");
  assertEquals(await bySuffix("abc-1"), `${FOLDER}/any.jsonl`);
  assertEquals(await bySuffix("xb", "start"), `${FOLDER}/thing.jsonl`);
  const refusals = {
    "bc-1": "session id is ambiguous: bc-1",
    "none": "unknown session: none",
    "": "unknown session: ",
  };
  for (const [text, expected] of Object.entries(refusals)) {
    const error = await assertRejects(() => bySuffix(text), StartError);
    assertEquals([error.message, error.kind, error.exitCode], [expected, "session", 1]);
  }
});

Deno.test("findNewestSession() finds the one that was written last", async () => {
  const host = createMemoryHost({
    files: {
      [`${FOLDER}/2.jsonl`]: sessionText([], header("two")),
      [`${FOLDER}/1.jsonl`]: sessionText([], header("one")),
    },
  });
  const file = await host.files.openAppend(`${FOLDER}/1.jsonl`, { mode: 0o600 });
  const { modifiedMs } = (await host.files.stat(`${FOLDER}/2.jsonl`))!;
  do {
    await new Promise((resolve) => setTimeout(resolve));
    file.write(new Uint8Array([10]));
  } while ((await host.files.stat(`${FOLDER}/1.jsonl`))!.modifiedMs === modifiedMs);
  file.close();
  assertEquals((await findNewestSession(host, store, { signal }))?.header.id, "one");
  assertEquals(await findNewestSession(host, { ...store, workspace: "/z" }, { signal }), undefined);
});

Deno.test("listSessions() gives name and first prompt", async () => {
  const info = (name: string) =>
    JSON.stringify({ type: "session_info", id: name, parentId: null, timestamp: "", name }) + "\n";
  const notice = JSON.stringify({
    type: "message",
    id: "n",
    parentId: null,
    timestamp: "",
    message: { role: "user", content: "job", timestamp: 1, weir: { internal: "job_notice" } },
  }) + "\n";
  const host = createMemoryHost({
    files: {
      [`${FOLDER}/1.jsonl`]: sessionText(['say "session_info"', "b"], header("c")) +
        info("first") + info("last") + "{torn",
      [`${FOLDER}/2.jsonl`]: sessionText([], header("b")) + notice +
        sessionText(["line one\nline two"], header("x")).split("\n")[1] + "\n",
      [`${FOLDER}/3.jsonl`]: sessionText([], header("a")),
      [`${FOLDER}/4.jsonl`]: "junk",
    },
  });
  const listings = await listSessions(host, store, { signal });
  const shown = listings.map(({ header, name, firstPrompt }) => [header.id, name, firstPrompt]);
  assertEquals(shown.sort(), [
    ["a", "", ""],
    ["b", "", "line one\nline two"],
    ["c", "last", 'say "session_info"'],
  ]);
  const page = await listSessions(host, store, { signal, skip: 1, limit: 1 });
  assertEquals(page, [listings[1]!]);
});
