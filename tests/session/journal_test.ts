import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { createDenoHost } from "../../src/deno/deno_host.ts";
import { HostError, StartError } from "../../src/errors.ts";
import type { AppendFile, Host } from "../../src/host.ts";
import { createMemoryHost } from "../../src/memory/memory_host.ts";
import { createJournal } from "../../src/session/copy_session.ts";
import { Journal } from "../../src/session/journal.ts";
import { newHeader, openSessionFile } from "../../src/session/open_session_file.ts";
import { overlay, readRecords, readText, signal, store, user } from "./session_samples.ts";

const message = (text: string) => ({ type: "message", message: user(text) }) as const;

function newJournal(host: Host): Journal {
  return createJournal(host, store, { header: newHeader(store.workspace) });
}

/** The host, with append files that `changes` makes different. */
function withAppendFiles(host: Host, changes: (file: AppendFile) => Partial<AppendFile>): Host {
  const files = overlay(host.files, {
    openAppend: async (path, options) => {
      const file = await host.files.openAppend(path, options);
      return overlay(file, changes(file));
    },
  });
  return { ...host, files };
}

/** Files that take no more than `room.bytes`. */
function withRoom(host: Host, room: { bytes: number }): Host {
  return withAppendFiles(host, (file) => ({
    write: (bytes) => {
      const count = Math.min(bytes.length, room.bytes);
      file.write(bytes.subarray(0, count));
      room.bytes -= count;
      if (count === bytes.length) return;
      throw new HostError("no_space", "No space left on device", { path: "x" });
    },
    truncate: (size) => {
      room.bytes += file.size - size;
      file.truncate(size);
    },
  }));
}

Deno.test("Journal makes nothing before prepare()", async () => {
  const host = createMemoryHost();
  await using journal = newJournal(host);
  assertEquals(journal.isSaved, false);
  assertEquals(await host.files.stat("/home"), undefined);
  const error = assertThrows(() => journal.append(message("x")), Error);
  assert(error.message.endsWith("no file is open, await prepare() first"), error.message);
});

Deno.test("Journal.append() writes one whole line behind the last", async () => {
  const host = createMemoryHost();
  await using journal = newJournal(host);
  await journal.prepare();
  const first = journal.append(message("a\u2028b\n"));
  assertEquals((await readRecords(host, journal.path!)).length, 2);
  const second = journal.append({ type: "session_info", name: "n" });
  assertEquals(await readRecords(host, journal.path!), [
    { ...journal.header },
    first.raw,
    second.raw,
  ]);
  assertEquals([first.parentId, second.parentId], [null, first.id]);
  assert(/^[0-9a-f]{8}$/.test(first.id));
  assertEquals(journal.leafId, second.id);
  assertEquals(new Date(first.timestamp).toISOString(), first.timestamp);
});

Deno.test("Journal.append() holds entries back until there is a file", async () => {
  const host = createMemoryHost();
  await using journal = newJournal(host);
  const model = { type: "model_change", provider: "p", modelId: "m" } as const;
  const held = journal.append(model, { hold: true });
  const preparing = journal.prepare();
  const late = journal.append(model, { hold: true });
  await preparing;
  const last = journal.append(message("x"), { hold: true });
  const records = await readRecords(host, journal.path!);
  assertEquals(records.slice(1), [held.raw, late.raw, last.raw]);
  assertEquals([late.parentId, last.parentId], [held.id, late.id]);
});

Deno.test("Journal.append() holds entries back until a file that exists is open", async () => {
  const host = createMemoryHost();
  const header = newHeader("/a");
  const path = "/s.jsonl";
  await host.files.replace(path, new TextEncoder().encode(JSON.stringify(header)), { signal });
  const size = JSON.stringify(header).length;
  const existing = { size, keep: size, needsLineEnd: true };
  await using journal = new Journal({ header, file: { host, path, existing } });
  const held = journal.append({ type: "session_info", name: "n" }, { hold: true });
  assertEquals((await host.files.stat(path))?.size, size);
  await journal.prepare();
  const next = journal.append(message("x"));
  assertEquals(await readRecords(host, path), [{ ...header }, held.raw, next.raw]);
});

Deno.test("Journal.append() takes a reserved id once", async () => {
  await using journal = new Journal({ header: newHeader("/a") });
  const id = journal.reserveId();
  assertEquals(journal.append(message("x")).id === id, false);
  assertEquals(journal.append(message("x"), { id }).id, id);
  assertThrows(() => journal.append(message("x"), { id }), Error, "the id is not reserved");
});

Deno.test("Journal writes nothing without a file", async () => {
  const host = createMemoryHost();
  const journal = new Journal({ header: newHeader("/a") });
  await journal.prepare();
  const first = journal.append(message("x"));
  assertEquals(journal.append(message("y")).parentId, first.id);
  await journal.flush();
  await journal.close();
  assertEquals(journal.path, undefined);
  assertEquals(await host.files.stat("/home"), undefined);
});

Deno.test("Journal is for its owner only, and gone are lock and temporary files when closed", async () => {
  if (Deno.build.os === "windows") return;
  const home = await Deno.makeTempDir();
  try {
    const host = createDenoHost();
    const journal = createJournal(host, { ...store, home }, { header: newHeader("/project/app") });
    await journal.prepare();
    journal.append(message("x"));
    await journal.flush();
    const folder = host.paths.dirname(journal.path!);
    assertEquals((await Deno.stat(journal.path!)).mode! & 0o777, 0o600);
    assertEquals((await Deno.stat(folder)).mode! & 0o777, 0o700);
    assertEquals((await Deno.stat(`${home}/sessions`)).mode! & 0o777, 0o700);
    await journal.close();
    await journal.close();
    assertEquals(Array.from(Deno.readDirSync(folder), ({ name }) => name), [
      host.paths.basename(journal.path!),
    ]);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

Deno.test("Journal.append() on a full disk leaves no part of a line and works again later", async () => {
  const memory = createMemoryHost();
  const room = { bytes: 10 };
  const host = withRoom(memory, room);
  await using journal = newJournal(host);
  await journal.prepare();
  const before = await readText(memory, journal.path!);
  const error = assertThrows(() => journal.append(message("x")), HostError);
  assertEquals(error.code, "no_space");
  assertEquals(
    error.message,
    `Cannot save the session "${journal.path}": the disk is full, free some space and try again`,
  );
  assertEquals(journal.leafId, null);
  assertEquals(await readText(memory, journal.path!), before);
  room.bytes = 10_000;
  const entry = journal.append(message("y"));
  assertEquals(entry.parentId, null);
  assertEquals((await readRecords(memory, journal.path!)).slice(1), [entry.raw]);
});

Deno.test("Journal.append() first removes what a failed write left when that could not be done at once", async () => {
  const memory = createMemoryHost();
  let isBroken = true;
  const broken = new HostError("other", "Input/output error", { path: "x" });
  const host = withAppendFiles(memory, (file) => ({
    write: (bytes) => {
      if (!isBroken) return file.write(bytes);
      file.write(bytes.subarray(0, 5));
      throw broken;
    },
    truncate: (size) => {
      if (isBroken) throw broken;
      file.truncate(size);
    },
  }));
  await using journal = newJournal(host);
  await journal.prepare();
  assertThrows(() => journal.append(message("x")), HostError, "Input/output error, solve that");
  assertThrows(() => journal.append(message("x")), HostError, "Input/output error, solve that");
  isBroken = false;
  const entry = journal.append(message("y"));
  assertEquals((await readRecords(memory, journal.path!)).slice(1), [entry.raw]);
});

Deno.test("Journal.prepare() can be tried again after a failure", async () => {
  const memory = createMemoryHost();
  let isReadOnly = true;
  const files = overlay(memory.files, {
    replace: (path, bytes, options) => {
      if (!isReadOnly) return memory.files.replace(path, bytes, options);
      return Promise.reject(new HostError("read_only", "Read-only", { path }));
    },
  });
  await using journal = newJournal({ ...memory, files });
  const held = journal.append({ type: "session_info", name: "n" }, { hold: true });
  const error = await assertRejects(() => journal.prepare(), HostError);
  assertEquals(error.code, "read_only");
  assert(error.message.includes("the file system is read-only, make it writable"), error.message);
  isReadOnly = false;
  await journal.prepare();
  assertEquals((await readRecords(memory, journal.path!)).slice(1), [held.raw]);
});

Deno.test("Journal.prepare() on a full disk keeps what is held back and can be tried again", async () => {
  const room = { bytes: 5 };
  const memory = createMemoryHost();
  const header = newHeader("/a");
  const path = "/s.jsonl";
  const whole = JSON.stringify(header) + "\n";
  const torn = new TextEncoder().encode(whole + '{"ty');
  await memory.files.replace(path, torn, { signal });
  const existing = { size: torn.length, keep: whole.length, needsLineEnd: false };
  const file = { host: withRoom(memory, room), path, existing };
  await using journal = new Journal({ header, file });
  const held = journal.append({ type: "session_info", name: "n" }, { hold: true });
  await assertRejects(() => journal.prepare(), HostError, "the disk is full");
  assertEquals(await readText(memory, path), whole);
  room.bytes = 10_000;
  await journal.prepare();
  const next = journal.append(message("x"));
  assertEquals(await readRecords(memory, path), [{ ...header }, held.raw, next.raw]);
});

Deno.test("Journal.flush() shares the work and covers entries that came while it ran", async () => {
  const waiting: PromiseWithResolvers<void>[] = [];
  const host = withAppendFiles(createMemoryHost(), () => ({
    flush: () => {
      waiting.push(Promise.withResolvers<void>());
      return waiting.at(-1)!.promise;
    },
  }));
  const journal = newJournal(host);
  await journal.prepare();
  await journal.flush();
  assertEquals(waiting.length, 0);
  journal.append(message("a"));
  const first = journal.flush();
  assertStrictEquals(journal.flush(), first);
  await turn();
  assertEquals(waiting.length, 1);
  assertStrictEquals(journal.flush(), first);
  journal.append(message("b"));
  const second = journal.flush();
  assertStrictEquals(journal.flush(), second);
  await turn();
  assertEquals(waiting.length, 1);
  waiting[0]!.resolve();
  await first;
  await turn();
  assertEquals(waiting.length, 2);
  waiting[1]!.reject(new HostError("no_space", "full", { path: "x" }));
  await assertRejects(() => second, HostError, "the disk is full");
  const third = journal.flush();
  await turn();
  waiting[2]!.resolve();
  await third;
  await journal.close();
  assertEquals(waiting.length, 3);
});

Deno.test("Journal.close() flushes, releases the lock and ends all use", async () => {
  const host = createMemoryHost();
  const journal = newJournal(host);
  await journal.prepare();
  journal.append(message("x"));
  const open = () => openSessionFile(host, journal.path!, { signal, workspace: store.workspace });
  const error = await assertRejects(open, StartError);
  assertEquals(error.message, `session ${journal.id} is open in process 1`);
  assertEquals([error.kind, error.exitCode], ["session", 1]);
  await journal.close();
  await journal.close();
  assertThrows(() => journal.append(message("y")), Error, "the program is ending");
  await assertRejects(() => journal.prepare(), Error, "the program is ending");
  const again = await open();
  assertEquals(again.entries.length, 1);
  await again.journal.close();
});

/** Lets everything that can go on go on. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
