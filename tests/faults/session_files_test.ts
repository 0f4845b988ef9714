import { assert, assertEquals, assertMatch } from "@std/assert";
import { startWeir } from "../fakes/weir_process.ts";
import { createRandom, rounds } from "./_rounds.ts";
import {
  beginsWith,
  goOn,
  join,
  messageIds,
  open,
  type Opener,
  runTurn,
  SESSION_ID,
  sessionPaths,
  type StoredLine,
  type StoredSession,
  storeSession,
} from "./_stored_session.ts";

const OPENERS: readonly Opener[] = ["circle", "pi"];
const MEBIBYTE = 1024 * 1024;

// The lines of the session: header, model, thinking, user, reply with two calls, their results, answer, user, answer.
const CALLS = 4;
const SECOND_RESULT = 6;
const ANSWER = 7;
const LAST = 9;

interface Damage {
  readonly bytes: Uint8Array;
  /** Lines that cannot be read any more. */
  readonly lost?: readonly number[];
  /** As much of the file as must stay as it is; all of it by default. */
  readonly keep?: Uint8Array;
  /** Nothing is lost, so nothing has to be said. */
  readonly silent?: boolean;
}

type Damager = (session: StoredSession) => Damage;

/** Replaces one line of the file. */
function withLine(lines: readonly StoredLine[], index: number, bytes: Uint8Array): Uint8Array {
  return join(...lines.map((line, at) => at === index ? bytes : line.bytes));
}

function replaceText(bytes: Uint8Array, from: string, to: Uint8Array): Uint8Array {
  const text = new TextDecoder("latin1").decode(bytes);
  const at = text.indexOf(from);
  assert(at >= 0, from);
  return join(bytes.slice(0, at), to, bytes.slice(at + from.length));
}

const GARBAGE = Uint8Array.from(
  { length: 300 },
  (_, index) => index * 7 % 9 + (index % 2 ? 200 : 20),
);

const DAMAGES: Record<string, Damager> = {
  "a block of NUL between two lines": ({ lines }) => ({
    bytes: withLine(lines, ANSWER, join(new Uint8Array(4096), lines[ANSWER]!.bytes)),
  }),
  "a block of NUL in the place of a line": ({ lines }) => ({
    bytes: withLine(lines, ANSWER, new Uint8Array(lines[ANSWER]!.bytes.length)),
    lost: [ANSWER],
  }),
  "a block of NUL inside a line": ({ lines }) => ({
    bytes: withLine(
      lines,
      ANSWER,
      lines[ANSWER]!.bytes.map((byte, at) => at > 90 && at < 300 ? 0 : byte),
    ),
    lost: [ANSWER],
  }),
  "a block of NUL at the end": ({ bytes }) => ({
    bytes: join(bytes, new Uint8Array(4096)),
    keep: bytes,
  }),
  "two records on one line": ({ lines }) => ({
    bytes: withLine(lines, ANSWER, lines[ANSWER]!.bytes.slice(0, -1)),
    silent: true,
  }),
  "a record behind a torn one": ({ lines }) => ({
    bytes: withLine(lines, ANSWER, lines[ANSWER]!.bytes.slice(0, 200)),
    lost: [ANSWER],
  }),
  "CRLF": ({ lines }) => ({
    bytes: join(...lines.flatMap(({ bytes }) => [bytes.slice(0, -1), "\r\n"])),
    silent: true,
  }),
  "a byte order mark": ({ bytes }) => ({
    bytes: join(Uint8Array.of(0xef, 0xbb, 0xbf), bytes),
    silent: true,
  }),
  "blank lines": ({ lines }) => ({
    bytes: join(...lines.flatMap(({ bytes }) => [bytes, "\n  \n"])),
    silent: true,
  }),
  "no LF at the end": ({ bytes }) => ({ bytes: bytes.slice(0, -1), silent: true }),
  "garbage as a line": ({ lines }) => ({
    bytes: withLine(lines, ANSWER, join(lines[ANSWER]!.bytes, GARBAGE, "\n")),
  }),
  "garbage inside a line": ({ lines }) => ({
    bytes: withLine(lines, ANSWER, replaceText(lines[ANSWER]!.bytes, '"content":', GARBAGE)),
    lost: [ANSWER],
  }),
  "garbage at the end": ({ bytes }) => ({ bytes: join(bytes, GARBAGE), keep: bytes }),
  "a text that is no UTF-8": ({ lines }) => ({
    bytes: withLine(
      lines,
      ANSWER,
      replaceText(lines[ANSWER]!.bytes, "done", Uint8Array.of(0xff, 0xfe, 0xc3, 0x80)),
    ),
    silent: true,
  }),
  "calls without one of the results": ({ lines }) => ({
    bytes: withLine(lines, SECOND_RESULT, new Uint8Array()),
    lost: [SECOND_RESULT],
    silent: true,
  }),
  "results without their calls": ({ lines }) => ({
    bytes: withLine(lines, CALLS, new TextEncoder().encode("{}\n")),
    lost: [CALLS],
  }),
  "JSON that is nested deep": ({ lines }) => ({
    bytes: withLine(lines, ANSWER, join(lines[ANSWER]!.bytes, "[".repeat(200_000), "\n")),
  }),
  "a line of another program": ({ lines }) => ({
    bytes: withLine(lines, ANSWER, join(lines[ANSWER]!.bytes, '"hello"\n[1]\nnull\n')),
  }),
  "a record of 20 MB that is no message": ({ lines }) => ({
    bytes: withLine(
      lines,
      LAST,
      join(lines[LAST]!.bytes, customLine(lines[LAST]!.id!, "x".repeat(20 * MEBIBYTE))),
    ),
    silent: true,
  }),
  "a message of 20 MB": ({ lines }) => ({
    bytes: withLine(
      lines,
      ANSWER,
      replaceText(lines[ANSWER]!.bytes, "done", new Uint8Array(20 * MEBIBYTE).fill(0x78)),
    ),
    silent: true,
  }),
  "a torn record of 20 MB": ({ lines, bytes }) => ({
    bytes: join(bytes, customLine(lines[LAST]!.id!, "x".repeat(20 * MEBIBYTE)).slice(0, -4)),
    keep: bytes,
  }),
};

function customLine(parentId: string, text: string): string {
  const place = { id: "big", parentId, timestamp: "2026-01-02T03:04:05.006Z" };
  return JSON.stringify({ type: "custom", customType: "other.big", ...place, data: { text } }) +
    "\n";
}

/** In the short form each case has one opener, and its neighbour the other. */
function openersFor(index: number): readonly Opener[] {
  return rounds(1) > 1 ? OPENERS : [OPENERS[index % 2]!];
}

Deno.test("a damaged session file: what is whole is kept, and the session goes on", async (test) => {
  await using session = await storeSession();
  for (const [index, [name, damage]] of Object.entries(DAMAGES).entries()) {
    const { bytes, lost = [], keep = bytes, silent = false } = damage(session);
    const whole = session.lines.filter(({ isMessage }, line) => isMessage && !lost.includes(line))
      .map(({ id }) => id!);
    for (const opener of openersFor(index)) {
      await test.step(`${name} (${opener})`, async () => {
        await Deno.writeFile(session.path, bytes);
        const first = await goOn(session, opener);
        assertKept(first.before, whole);
        assertEquals(first.after.slice(0, first.before.length), first.before);
        assert(first.after.length >= first.before.length + 2, "the turn is not stored");
        assert(beginsWith(first.bytes, keep), "bytes that were there have changed");
        if (!silent) assertMatch(first.stderr, sayWhere(session.path));
        const second = await goOn(session, opener);
        assertEquals(second.before, first.after, "opened again");
        assert(beginsWith(second.bytes, first.bytes), "the second opening has changed bytes");
        assertEquals(await sessionPaths(session.home), [session.path]);
      });
    }
  }
});

/** All that is whole is there in its order; what came besides is results for calls that had none. */
function assertKept(ids: readonly string[], whole: readonly string[]): void {
  assertEquals(ids.filter((id) => whole.includes(id)), [...whole]);
  assertEquals(new Set(ids).size, ids.length, "a message is there twice");
}

/** A line that names the file and what is wrong in it. */
function sayWhere(path: string): RegExp {
  const escaped = path.replace(/[.\\]/g, "\\$&");
  return new RegExp(`"${escaped}".*(?:cannot be read|was incomplete|is empty|damaged)`);
}

const HEADLESS: Record<string, (session: StoredSession) => Uint8Array> = {
  "no header": ({ lines }) => join(...lines.slice(1).map((line) => line.bytes)),
  "a header that is no JSON": ({ lines, bytes }) =>
    join(lines[0]!.bytes.slice(3), bytes.slice(lines[0]!.bytes.length)),
  "a header that was cut, and lines behind it": ({ lines, bytes }) =>
    join(lines[0]!.bytes.slice(0, 40), bytes.slice(lines[0]!.bytes.length)),
  "garbage in the place of the header": ({ lines, bytes }) =>
    join(GARBAGE, "\n", bytes.slice(lines[0]!.bytes.length)),
  "the header of a version that is to come": ({ lines, bytes }) =>
    join(
      replaceText(lines[0]!.bytes, '"version":3', new TextEncoder().encode('"version":4')),
      bytes.slice(lines[0]!.bytes.length),
    ),
};

Deno.test("a session file without a usable header is refused, with what to do, and stays as it is", async (test) => {
  await using session = await storeSession();
  for (const [name, damage] of Object.entries(HEADLESS)) {
    for (const opener of OPENERS) {
      await test.step(`${name} (${opener})`, async () => {
        const bytes = damage(session);
        await Deno.writeFile(session.path, bytes);
        await using weir = await open(session, opener);
        await weir.closeInput();
        const { code } = await weir.waitForExit();
        assertEquals(code, opener === "pi" ? 2 : 1);
        assert(weir.stderr.includes(session.path), weir.stderr);
        assertMatch(weir.stderr, /repair|put the header back|update|move/);
        assertEquals(weir.records, []);
        assertEquals(await Deno.readFile(session.path), bytes);
        assertEquals(await sessionPaths(session.home), [session.path]);
      });
    }
  }
});

Deno.test("the newest session is not passed over in silence when its first line is damaged", async () => {
  await using session = await storeSession();
  const [header, ...rest] = session.lines.map((line) => line.bytes);
  for (const opener of OPENERS) {
    await Deno.writeFile(session.path, join(header!.slice(0, 40), "\n", ...rest));
    const args = opener === "pi"
      ? ["--mode", "rpc", "--dialect", "pi", "-c"]
      : ["--mode", "rpc", "-c", session.home.workspace];
    await using weir = await startWeir({
      args,
      home: session.home.home,
      cwd: session.home.workspace,
    });
    await weir.closeInput();
    await weir.waitForExit();
    assertMatch(weir.stderr, sayWhere(session.path), opener);
  }
});

const BLANK: Record<string, (session: StoredSession) => Uint8Array> = {
  "nothing": () => new Uint8Array(),
  "blank lines only": () => new TextEncoder().encode("\n \n"),
  "NUL only": () => new Uint8Array(4096),
  "the beginning of a header": ({ lines }) => lines[0]!.bytes.slice(0, 30),
};

Deno.test("a session file with nothing in it is said to be empty, and a session starts", async (test) => {
  await using session = await storeSession();
  for (const [name, damage] of Object.entries(BLANK)) {
    for (const opener of OPENERS) {
      await test.step(`${name} (${opener})`, async () => {
        const bytes = damage(session);
        await Deno.writeFile(session.path, bytes);
        const { before, after, stderr } = await goOn(session, opener);
        assertEquals([before.length, after.length], [0, 2]);
        assertMatch(stderr, sayWhere(session.path));
        assertEquals(stderr.trimEnd().split("\n").length, 1, stderr);
        const others = (await sessionPaths(session.home)).filter((path) => path !== session.path);
        // An id that was chosen gets a file of its own.
        assertEquals(others.length, opener === "circle" ? 1 : 0);
        if (opener === "circle") assertEquals(await Deno.readFile(session.path), bytes);
        for (const path of others) {
          assert((await Deno.readTextFile(path)).includes(`"id":"${SESSION_ID}"`));
          await Deno.remove(path);
        }
      });
    }
  }
});

Deno.test("a session file that is cut at any byte keeps its whole lines, and goes on", async () => {
  const { below } = createRandom();
  await using session = await storeSession();
  const { bytes, lines } = session;
  const starts = lines.map((_, index) =>
    join(...lines.slice(0, index).map((line) => line.bytes)).length
  );
  const last = starts.at(-1)!;
  const cuts = new Set(starts.slice(1).flatMap((start) => [start - 1, start, start + 1]));
  const isLong = rounds(60) > bytes.length - last;
  for (let at = last; isLong && at < bytes.length; at++) cuts.add(at);
  for (let round = 0; round < rounds(60); round++) {
    cuts.add(starts[1]! + below(bytes.length - starts[1]!));
  }
  /** How often a file is named on stderr. */
  const expected = new Map<string, number>();
  await using weir = await open(session, "pi");
  for (const cut of cuts) {
    // All copies have one id, and so one lock.
    await weir.request({ type: "new_session" });
    const path = `${session.home.home}/cut_${cut}.jsonl`;
    await Deno.writeFile(path, bytes.slice(0, cut));
    const response = await weir.request({ type: "switch_session", sessionPath: path });
    assertEquals(response.success, true, JSON.stringify(response));
    // The last line needs no LF.
    const whole = lines.filter((line, index) => starts[index]! + line.bytes.length - 1 <= cut);
    const ids = whole.filter((line) => line.isMessage).map((line) => line.id!);
    const before = await messageIds(weir, "pi");
    assertKept(before, ids);
    await runTurn(weir);
    const after = await messageIds(weir, "pi");
    assertEquals(after.slice(0, before.length), before, path);
    const written = await Deno.readFile(path);
    assert(beginsWith(written, join(...whole.map((line) => line.bytes))), `${path} was rewritten`);
    for (const line of new TextDecoder("utf-8", { fatal: true }).decode(written).split("\n")) {
      if (line !== "") JSON.parse(line);
    }
    const end = starts[whole.length] ?? bytes.length;
    const isTorn = end !== cut && end - 1 !== cut;
    expected.set(path, isTorn ? 1 : 0);
    await Deno.remove(path);
  }
  await weir.closeInput();
  assertEquals((await weir.waitForExit()).code, 0);
  const said = weir.stderr.split("\n");
  for (const [path, count] of expected) {
    assertEquals(said.filter((line) => line.includes(`"${path}"`)).length, count, path);
  }
  assertEquals(session.server.complaints, []);
});

Deno.test("a session that was cut in the middle is opened and goes on in every dialect", async () => {
  const { below } = createRandom();
  await using session = await storeSession();
  const { bytes, lines } = session;
  for (let round = 0; round < rounds(4); round++) {
    const opener = OPENERS[round % 2]!;
    const cut = lines[0]!.bytes.length + below(bytes.length - lines[0]!.bytes.length);
    await Deno.writeFile(session.path, bytes.slice(0, cut));
    const first = await goOn(session, opener);
    const second = await goOn(session, OPENERS[(round + 1) % 2]!);
    assertEquals(second.before, first.after, `cut at ${cut}`);
    assertEquals(second.stderr, "", `cut at ${cut}`);
  }
});

Deno.test("a session file with a header only takes a name and goes on", async () => {
  await using session = await storeSession();
  const header = session.lines[0]!.bytes;
  for (const opener of OPENERS) {
    await Deno.writeFile(session.path, header);
    const { before, after, stderr, bytes } = await goOn(session, opener, ["--name", "a name"]);
    assertEquals([before.length, after.length, stderr], [0, 2, ""]);
    assert(beginsWith(bytes, header));
    assert(new TextDecoder().decode(bytes).includes('"name":"a name"'), "the name is lost");
  }
});
