import { assert, assertEquals, assertRejects } from "@std/assert";
import { StartError } from "../../src/errors.ts";
import type { Host } from "../../src/host.ts";
import { createMemoryHost } from "../../src/memory/memory_host.ts";
import { type OpenSession, openSessionFile } from "../../src/session/open_session_file.ts";
import type { StoredEntry } from "../../src/session/entry.ts";
import { textOf } from "../../src/agent/message.ts";
import {
  HEADER_LINE,
  readRecords,
  readText,
  sessionText,
  signal,
  store,
  user,
} from "./session_samples.ts";

const PATH = "/s/a.jsonl";
const encoder = new TextEncoder();

interface Opened {
  readonly host: Host;
  readonly said: string[];
  readonly session: OpenSession;
}

async function openText(content: string | Uint8Array): Promise<Opened> {
  const said: string[] = [];
  const host = createMemoryHost({
    files: { [PATH]: content },
    onWarning: (line) => said.push(line),
  });
  const session = await openSessionFile(host, PATH, { signal, workspace: store.workspace });
  assertEquals(session.warnings, said);
  return { host, said, session };
}

function textsOf(entries: readonly StoredEntry[]): string[] {
  return entries.map((entry) => entry.type === "message" ? textOf(entry.message) : entry.type);
}

/** Appends, closes, opens again. */
async function goOn({ host, session }: Opened): Promise<OpenSession> {
  await session.journal.prepare();
  session.journal.append({ type: "message", message: user("new") });
  await session.journal.close();
  const again = await openSessionFile(host, PATH, { signal, workspace: store.workspace });
  await again.journal.close();
  return again;
}

Deno.test("openSessionFile() gives the entries and changes nothing", async () => {
  const text = sessionText(["a", "b"]);
  const { host, session, said } = await openText(text);
  assertEquals(session.header.id, "s-1");
  assertEquals(textsOf(session.entries), ["a", "b"]);
  assertEquals(session.journal.leafId, "e1");
  assertEquals(said, []);
  await session.journal.close();
  assertEquals(await readText(host, PATH), text);
});

Deno.test("openSessionFile() keeps every whole line when the last is cut at any byte", async () => {
  const start = encoder.encode(sessionText(["a", "b"]));
  const whole = encoder.encode(sessionText(["a", "b", "ü€😀"]));
  for (let size = start.length; size < whole.length; size++) {
    const opened = await openText(whole.slice(0, size));
    const isComplete = size === whole.length - 1;
    const isWhole = size === start.length;
    assertEquals(textsOf(opened.session.entries), ["a", "b", ...(isComplete ? ["ü€😀"] : [])]);
    assertEquals(
      opened.said,
      isComplete || isWhole ? [] : [
        `Session file "${PATH}": the last line was incomplete, its ${
          size - start.length
        } bytes were cut off`,
      ],
    );
    if (!isComplete) {
      assertEquals((await opened.host.files.stat(PATH))!.size, start.length);
    }
    const again = await goOn(opened);
    assertEquals(again.warnings, []);
    assertEquals(textsOf(again.entries).at(-1), "new");
    assertEquals(again.entries.length, isComplete ? 4 : 3);
    const records = await readRecords(opened.host, PATH);
    assertEquals(records.length, isComplete ? 5 : 4);
  }
});

Deno.test("openSessionFile() cuts off a last line that is no record", async () => {
  for (const tail of ["rubbish\n", "\0\0\0\0", "\0\0\n", "[1]\n", '{"a":', "5"]) {
    const text = sessionText(["a"]);
    const opened = await openText(text + tail);
    assertEquals(opened.said.length, 1);
    assertEquals(await readText(opened.host, PATH), text);
    assertEquals(textsOf((await goOn(opened)).entries), ["a", "new"]);
  }
});

Deno.test("openSessionFile() leaves JSON that is no entry where it is", async () => {
  for (const tail of ['{"a":1}', '{"type":"session"}\n', '{"type":5}\n']) {
    const text = sessionText(["a"]) + tail;
    const opened = await openText(text);
    assertEquals(opened.said, [
      `Session file "${PATH}": line 3 cannot be read, everything else was kept`,
    ]);
    assertEquals(textsOf((await goOn(opened)).entries), ["a", "new"]);
    assert((await readText(opened.host, PATH)).startsWith(text));
  }
});

Deno.test("openSessionFile() skips lines that cannot be read and says which, once", async () => {
  const lines = sessionText(["a", "b", "c", "d", "e"]).trimEnd().split("\n");
  lines[2] = "\0".repeat(4096);
  lines[4] = lines[4]!.slice(0, 40);
  const text = lines.join("\n") + "\n";
  const opened = await openText(text);
  assertEquals(opened.said, [
    `Session file "${PATH}": lines 3, 5 cannot be read, everything else was kept`,
  ]);
  assertEquals(textsOf(opened.session.entries), ["a", "c", "e"]);
  assertEquals(opened.session.entries.map((entry) => entry.parentId), [null, "e0", "e2"]);
  assertEquals(await readText(opened.host, PATH), text);
  const again = await goOn(opened);
  assertEquals(textsOf(again.entries), ["a", "c", "e", "new"]);
  assertEquals(again.warnings.length, 1);
});

Deno.test("openSessionFile() finds both of two records on one line", async () => {
  const lines = sessionText(["a", 'b } { \\" }{', "c"]).trimEnd().split("\n");
  const glued = [lines[0], lines[1]! + lines[2]!, lines[3]].join("\n") + "\n";
  const first = await openText(glued);
  assertEquals(textsOf(first.session.entries), ["a", 'b } { \\" }{', "c"]);
  assertEquals(first.said, []);
  const torn = [lines[0], lines[1]!.slice(0, -30) + lines[2]!, lines[3]].join("\n") + "\n";
  const second = await openText(torn);
  assertEquals(textsOf(second.session.entries), ['b } { \\" }{', "c"]);
  assertEquals(second.said.length, 1);
  const behindNul = [lines[0], lines[1], "\0\0\0" + lines[2]!, lines[3]].join("\n") + "\n";
  const third = await openText(behindNul);
  assertEquals(textsOf(third.session.entries).length, 3);
  const withHeader = lines[0]! + lines.slice(1).join("\n") + "\n";
  assertEquals(textsOf((await openText(withHeader)).session.entries).length, 3);
});

Deno.test("openSessionFile() accepts CRLF, blank lines, a byte order mark and a missing last LF", async () => {
  const text = "\uFEFF" + sessionText(["a", "b"]).replaceAll("\n", "\r\n\r\n").trimEnd();
  const opened = await openText(text);
  assertEquals(textsOf(opened.session.entries), ["a", "b"]);
  assertEquals(opened.said, []);
  assertEquals(textsOf((await goOn(opened)).entries), ["a", "b", "new"]);
});

Deno.test("openSessionFile() starts a session in a file without content", async () => {
  for (const content of ["", "\n", "\0\0\0\0", HEADER_LINE.slice(0, 60)]) {
    const opened = await openText(content);
    assertEquals(opened.said, [`Session file "${PATH}" is empty, a new session starts in it`]);
    assertEquals(opened.session.header.cwd, store.workspace);
    assertEquals(await readText(opened.host, PATH), content);
    const again = await goOn(opened);
    assertEquals(again.header, opened.session.header);
    assertEquals(textsOf(again.entries), ["new"]);
  }
});

Deno.test("openSessionFile() refuses what is no session, and leaves it as it is", async () => {
  const texts = ["hello", "hello\n", sessionText(["a"]).split("\n").slice(1).join("\n"), "[1]\n"];
  for (const text of texts) {
    const host = createMemoryHost({ files: { [PATH]: text } });
    const open = () => openSessionFile(host, PATH, { signal, workspace: "/w" });
    const error = await assertRejects(open, StartError);
    assertEquals(
      error.message,
      `Cannot open the session file "${PATH}": its first line is not the header of a session, ` +
        "choose another file, or put the header back as its first line",
    );
    assertEquals([error.kind, error.exitCode], ["session", 1]);
    assertEquals(await readText(host, PATH), text);
    await assertRejects(open, StartError, "its first line", "the lock was not released");
  }
  const host = createMemoryHost({ files: { [PATH]: HEADER_LINE.replace(":3", ":4") + "\n" } });
  const open = () => openSessionFile(host, PATH, { signal, workspace: "/w" });
  await assertRejects(open, StartError, "its format version 4 is newer than 3, update Weir");
  const none = () => openSessionFile(host, "/s/none.jsonl", { signal, workspace: "/w" });
  await assertRejects(none, StartError, "it does not exist, check the path");
});

const V1 = [
  '{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/project/app","provider":"p","modelId":"m","thinkingLevel":"off"}',
  '{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"a","timestamp":1}}',
  '{"type":"message","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"user","content":"b","timestamp":2}}',
  '{"type":"compaction","timestamp":"2025-01-01T00:00:03.000Z","summary":"s","firstKeptEntryIndex":2,"tokensBefore":9}',
];

Deno.test("openSessionFile() reads version 1 and writes it on as version 3", async () => {
  const text = V1.join("\n") + "\n";
  const opened = await openText(text);
  const { entries } = opened.session;
  assertEquals(textsOf(entries), ["a", "b", "compaction"]);
  assertEquals(entries.map(({ id }) => id), ["00000002", "00000003", "00000004"]);
  assertEquals(entries.map(({ parentId }) => parentId), [null, "00000002", "00000003"]);
  assertEquals(entries[2]!.type === "compaction" && entries[2]!.firstKeptEntryId, "00000003");
  assertEquals(await readText(opened.host, PATH), text);
  const again = await goOn(opened);
  assertEquals(again.header.version, 3);
  assertEquals(again.entries.slice(0, 3), entries);
  assertEquals(again.entries.length, 4);
  const records = await readRecords(opened.host, PATH);
  assertEquals([records[0]!.version, records[1]!.id], [3, "00000002"]);
});

Deno.test("openSessionFile() does not write anew an old file that has unreadable lines", async () => {
  const text = [V1[0], V1[1], "rubbish", V1[2]].join("\n") + "\n";
  const opened = await openText(text);
  const ids = opened.session.entries.map(({ id }) => id);
  const again = await goOn(opened);
  assert((await readText(opened.host, PATH)).startsWith(text));
  assertEquals(again.entries.slice(0, 2).map(({ id }) => id), ids);
  assertEquals(textsOf(again.entries), ["a", "b", "new"]);
});

Deno.test("openSessionFile() reads version 2, whose role hookMessage is custom today", async () => {
  const lines = [
    HEADER_LINE.replace(":3", ":2"),
    '{"type":"message","id":"a","parentId":null,"timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"hookMessage","customType":"x","content":"c"}}',
  ];
  const { session } = await openText(lines.join("\n") + "\n");
  assertEquals(session.entries[0]!.raw.message, { role: "custom", customType: "x", content: "c" });
  assertEquals(session.entries[0]!.type, "opaque");
});

Deno.test("openSessionFile() gives the later of two entries with one id another one", async () => {
  const entry = (id: string, parentId: string | null, text: string) =>
    JSON.stringify({
      type: "message",
      id,
      parentId,
      timestamp: "2026-01-01T00:00:00.000Z",
      message: { role: "user", content: text, timestamp: 1 },
    });
  const lines = [HEADER_LINE, entry("x", null, "a"), entry("y", "x", "b"), entry("x", "y", "c")];
  lines.push(entry("z", "x", "d"));
  const { session } = await openText(lines.join("\n") + "\n");
  assertEquals(textsOf(session.entries), ["a", "b", "c", "d"]);
  assertEquals(session.entries.map(({ id }) => id), ["x", "y", "00000004", "z"]);
  const own = [HEADER_LINE, entry("x", "x", "a"), entry("y", "z", "b"), entry("z", "y", "c")];
  assertEquals(textsOf((await openText(own.join("\n") + "\n")).session.entries), ["a", "b", "c"]);
});

Deno.test("openSessionFile() follows the branch of the last entry in a session of pi", async () => {
  const text = await Deno.readTextFile(new URL("pi_session.jsonl", import.meta.url));
  const { session, said, host } = await openText(text);
  assertEquals(said, []);
  assertEquals(session.allEntries.length, 13);
  assertEquals(session.entries.length, 12);
  assertEquals(
    session.allEntries.map(({ raw }) => JSON.stringify(raw)).join("\n"),
    {
      lines: text.trimEnd().split("\n").slice(1).join("\n"),
    }.lines,
  );
  assertEquals(session.entries.map(({ type }) => type), [
    "model_change",
    "thinking_level_change",
    "message",
    "message",
    "message",
    "opaque",
    "opaque",
    "opaque",
    "custom",
    "session_info",
    "compaction",
    "opaque",
  ]);
  const reply = session.entries[3]!;
  assert(reply.type === "message" && reply.message.role === "assistant");
  assertEquals(reply.message.usage, {
    inputTokens: 1200,
    outputTokens: 40,
    cacheReadTokens: 1000,
    cacheWriteTokens: 80,
  });
  assertEquals(reply.message.receipt?.amount, 0.00156);
  assertEquals(reply.message.content[1], { type: "text", text: "Reading it." });
  const other = session.allEntries[5]!;
  assert(other.type === "message" && other.message.role === "assistant");
  assertEquals([other.message.usage, other.message.api], [undefined, "chat"]);
  await session.journal.prepare();
  const next = session.journal.append({ type: "message", message: user("new") });
  assertEquals(next.parentId, "b000000b");
  assertEquals(await readText(host, PATH), text + JSON.stringify(next.raw) + "\n");
});

Deno.test("openSessionFile() reads ten thousand messages and lets other work go on", async () => {
  const texts = Array.from({ length: 10_000 }, (_, index) => `message ${index}`);
  let turns = 0;
  let isReading = true;
  const counting = (async () => {
    while (isReading) {
      await new Promise((resolve) => setTimeout(resolve));
      turns++;
    }
  })();
  const { session } = await openText(sessionText(texts));
  isReading = false;
  await counting;
  assertEquals(textsOf(session.entries), texts);
  assert(turns > 3, `${turns} turns`);
});

Deno.test("openSessionFile() stops when it is aborted and releases the lock", async () => {
  const host = createMemoryHost({ files: { [PATH]: sessionText(["a"]) } });
  const controller = new AbortController();
  const opening = openSessionFile(host, PATH, { signal: controller.signal, workspace: "/w" });
  const reason = new Error("enough");
  controller.abort(reason);
  assertEquals(await opening.catch((error) => error), reason);
  const session = await openSessionFile(host, PATH, { signal, workspace: "/w" });
  await session.journal.close();
});
