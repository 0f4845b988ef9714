/** What `edit` and `write` of the real process leave on the disk, byte by byte: only what was asked for changes, or nothing and the reason is said. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Bench, type CallResult, withBench } from "./_circle_bench.ts";
import { createRandom, rounds } from "./_rounds.ts";

type Call = readonly [name: string, args: Record<string, unknown>];
type Chance = ReturnType<typeof createRandom>;

const isUnix = Deno.build.os !== "windows";
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

function assertSameBytes(actual: Uint8Array, expected: Uint8Array, what: string): void {
  if (actual.length === expected.length && actual.every((byte, at) => byte === expected[at])) {
    return;
  }
  const at = actual.findIndex((byte, index) => byte !== expected[index]);
  const around = (bytes: Uint8Array) => [...bytes.subarray(Math.max(0, at - 8), at + 16)].join(" ");
  throw new Error(
    `${what}: ${actual.length} bytes instead of ${expected.length}; from ${at - 8}: ` +
      `${around(actual)} instead of ${around(expected)}`,
  );
}

/** Pieces of which hard texts are made. */
const PIECES = [
  ...["\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\r\r\n", " \n", "\t\r\n", "  ", "\t", " ", "\u00a0"],
  ...[
    "“",
    "”",
    "‘",
    "’",
    "–",
    "—",
    "…",
    "é",
    "e\u0301",
    "ß",
    "\u2028",
    "\u2029",
    "\u0085",
    "\ufeff",
  ],
  ...[
    "😀",
    "👨‍👩‍👧",
    "𝒳",
    "\u200b",
    "\u202e",
    "$&",
    "$1",
    "$$",
    "\\n",
    "\\",
    "`",
    '"',
    "'",
    "%s",
    "</file>",
  ],
  ...[
    "a",
    "ab",
    "aa",
    "aba",
    "line",
    "x = 1;",
    "{",
    "}",
    "return",
    "0",
    "中文",
    "\ufffd",
    "\x01",
    "\x7f",
  ],
];

function randomText({ below }: Chance, length: number): string {
  return Array.from({ length }, () => PIECES[below(PIECES.length)]).join("");
}

/** Places where a text can be cut: never inside a character or a CRLF. */
function cutsOf(text: string): number[] {
  const cuts = [];
  for (let at = 0; at <= text.length; at++) {
    const isLow = (text.charCodeAt(at) & 0xfc00) === 0xdc00;
    if (!isLow && !(text[at] === "\n" && text[at - 1] === "\r")) cuts.push(at);
  }
  return cuts;
}

function withFeeds(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

function count(text: string, part: string): number {
  let found = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) found++;
  return found;
}

interface RandomEdit {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly oldText: string;
  readonly newText: string;
}

function randomEdit(chance: Chance): RandomEdit {
  const { below } = chance;
  const mark = below(4) === 0 ? "\ufeff" : "";
  const text = randomText(chance, 3 + below(60)) + (below(2) === 0 ? `unique${below(1000)}` : "") +
    randomText(chance, below(30));
  const cuts = cutsOf(text);
  const one = cuts[below(cuts.length)]!;
  const other = cuts[Math.min(cuts.length - 1, Math.max(0, cuts.indexOf(one) + 1 + below(12)))]!;
  const [start, end] = [Math.min(one, other), Math.max(one, other)];
  const part = text.slice(start, end);
  const feeds = withFeeds(part);
  // With other line ends it may be what stands elsewhere.
  const isAnother = text.includes(feeds) || feeds.includes("\r\n");
  return {
    text: mark + text,
    start: mark.length + start,
    end: mark.length + end,
    oldText: below(2) === 0 && !isAnother ? feeds : part,
    newText: randomText(chance, below(6)),
  };
}

/** Whether the bytes are those of the edit; the line ends that are put in are the tool's choice. */
function isEdited(actual: Uint8Array, edit: RandomEdit): boolean {
  let text: string;
  try {
    text = decoder.decode(actual);
  } catch {
    return false;
  }
  const before = edit.text.slice(0, edit.start);
  const after = edit.text.slice(edit.end);
  if (text.length < before.length + after.length) return false;
  const part = text.slice(before.length, text.length - after.length);
  const feeds = withFeeds(edit.newText);
  return text.startsWith(before) && text.endsWith(after) &&
    [edit.newText, feeds, feeds.replaceAll("\n", "\r\n")].includes(part);
}

Deno.test("edit() changes the named bytes and no others, or nothing and says why", async () => {
  const chance = createRandom();
  // A process of its own each time: the conversation and what the endpoint records grow.
  for (let round = 0; round < rounds(8); round++) {
    await withBench({ files: { "a.txt": "" } }, async ({ call, place }) => {
      const edits = Array.from({ length: 60 }, () => randomEdit(chance));
      const path = (index: number) => `${place.workspace}/f${index}.txt`;
      await Promise.all(edits.map(({ text }, index) => Deno.writeFile(path(index), bytesOf(text))));
      const results = await call(...edits.map(({ oldText, newText }, index): Call => [
        "edit",
        { path: `f${index}.txt`, edits: [{ oldText, newText }] },
      ]));
      for (const [index, edit] of edits.entries()) {
        const { status, output } = results[index]!;
        const actual = await Deno.readFile(path(index));
        const what = `${JSON.stringify(edit)}: ${output}`;
        if (status === "success") {
          assert(isEdited(actual, edit), `${what}\nleft ${JSON.stringify(decoder.decode(actual))}`);
          continue;
        }
        assertSameBytes(actual, bytesOf(edit.text), what);
        assert(isExplained(edit, output), what);
      }
    });
  }
});

/** Whether a refusal is true. */
function isExplained({ text, oldText, newText }: RandomEdit, output: string): boolean {
  const plain = withFeeds(text.replace(/^\ufeff/, ""));
  const wanted = withFeeds(oldText);
  if (output.includes("is empty")) return wanted === "";
  if (output.includes("are the same")) return wanted === withFeeds(newText);
  if (output.includes("places")) return count(plain, wanted) > 1;
  // In "\r\r\n" a CR and a CRLF become what looks like a CRLF.
  if (output.includes("was not found")) return count(plain, wanted) === 0;
  return false;
}

Deno.test("edit() makes many edits of one call in one go, and none of them when one is wrong", async () => {
  const chance = createRandom();
  const { below } = chance;
  // A process of its own each time: the conversation and what the endpoint records grow.
  for (let round = 0; round < rounds(4); round++) {
    await withBench({ files: { "a.txt": "" } }, async ({ call, place }) => {
      const ends = ["\n", "\r\n", below(2) === 0 ? "\n" : "\r\n"][below(3)]!;
      const lines = Array.from(
        { length: 300 },
        (_, index) =>
          `<${String(index).padStart(3, "0")}>${
            randomText(chance, below(6)).replaceAll(/[\r\n]/g, "")
          }${below(20) === 0 ? "\n" : ends}`,
      );
      const text = lines.join("");
      const chosen = lines.map((_, index) => index).filter(() => below(3) === 0);
      const edits = chosen.map((index) => ({
        oldText: `<${String(index).padStart(3, "0")}>`,
        newText: `<${String(index).padStart(3, "0")}: ${"x".repeat(below(9))}>`,
      })).sort(() => chance.random() - 0.5);
      const expected = lines.map((line) => {
        const edit = edits.find(({ oldText }) => line.startsWith(oldText));
        return edit === undefined ? line : edit.newText + line.slice(edit.oldText.length);
      }).join("");
      const file = `${place.workspace}/a.txt`;
      await Deno.writeFile(file, bytesOf(text));
      const wrong = [
        [...edits, { oldText: "<nowhere>", newText: "x" }],
        [...edits, { oldText: "", newText: "x" }],
        [...edits, { oldText: "<", newText: "x" }],
        [...edits, { oldText: edits[0]!.oldText, newText: "twice" }],
        [...edits, { oldText: edits[0]!.oldText.slice(1), newText: "overlapping" }],
      ];
      const refused = await call(
        ...wrong.map((edits): Call => ["edit", { path: "a.txt", edits }]),
      );
      assertEquals(refused.filter(({ status }) => status !== "error"), []);
      assertStringIncludes(
        refused[0]!.output,
        `old text of edit ${edits.length + 1} was not found`,
      );
      assertStringIncludes(refused[1]!.output, "is empty");
      assertStringIncludes(refused[2]!.output, "places");
      assertStringIncludes(refused[3]!.output, "overlap");
      assertStringIncludes(refused[4]!.output, "overlap");
      assertSameBytes(await Deno.readFile(file), bytesOf(text), "after refusals");
      const [done] = await call(["edit", { path: "a.txt", edits }]);
      assertEquals(done!.status, "success", done!.output);
      assertSameBytes(await Deno.readFile(file), bytesOf(expected), "after all edits");
    });
  }
});

Deno.test("edit() refuses what is no UTF-8 text and leaves it as it is", async () => {
  const utf16 = (text: string, isLittle: boolean, mark: boolean) => {
    const view = new DataView(new ArrayBuffer(text.length * 2 + (mark ? 2 : 0)));
    const whole = mark ? `\ufeff${text}` : text;
    for (let at = 0; at < whole.length; at++) {
      view.setUint16(at * 2, whole.charCodeAt(at), isLittle);
    }
    return new Uint8Array(view.buffer);
  };
  const files: Record<string, Uint8Array<ArrayBuffer>> = {
    "utf16le.txt": utf16("hello world\r\n", true, true),
    "utf16be.txt": utf16("hello world\r\n", false, true),
    "bare16le.txt": utf16("hello world\r\n", true, false),
    "bare16be.txt": utf16("hello world\r\n", false, false),
    "latin1.txt": Uint8Array.from("na\xefve hello caf\xe9\n", (char) => char.charCodeAt(0)),
    "windows1252.txt": Uint8Array.from([0x93, 104, 101, 108, 108, 111, 0x94, 10]),
    "overlong.txt": Uint8Array.from([104, 101, 108, 108, 111, 0xc0, 0xaf, 10]),
    "surrogate.txt": Uint8Array.from([104, 101, 108, 108, 111, 0xed, 0xa0, 0x80, 10]),
    "cut.txt": Uint8Array.from([104, 101, 108, 108, 111, 0xe2, 0x82]),
    "late.txt": new Uint8Array([...bytesOf("hello\n" + "a\n".repeat(20_000)), 0xff]),
    "nul.txt": bytesOf("hello\0world\n"),
  };
  await withBench({ files: { "a.txt": "" } }, async ({ call, place }) => {
    for (const [name, bytes] of Object.entries(files)) {
      await Deno.writeFile(`${place.workspace}/${name}`, bytes);
    }
    const names = Object.keys(files);
    const edit = (
      path: string,
      oldText: string,
    ): Call => ["edit", { path, oldText, newText: "XY" }];
    for (const old of ["hello", "h", "\n"]) {
      for (
        const [index, { status, output }] of (await call(...names.map((name) => edit(name, old))))
          .entries()
      ) {
        const name = names[index]!;
        assertEquals(status, "error", `${name}: ${output}`);
        assertStringIncludes(output, "text, an edit would damage it", name);
        assertSameBytes(await Deno.readFile(`${place.workspace}/${name}`), files[name]!, name);
      }
    }
  });
});

Deno.test("edit() never cuts a character in two and puts nothing in that is no text", async () => {
  const text = "one 😀 two 👨‍👩‍👧 three é\n";
  await withBench({ files: { "a.txt": text } }, async ({ call, place }) => {
    // Sent as escapes, the way a model that counts wrong would.
    const halves = ["\ud83d", "\ude00", "\ude00 two", "one \ud83d", "\udc68"];
    const results = await call(
      ...halves.map((oldText): Call => ["edit", { path: "a.txt", oldText, newText: "x" }]),
      ["edit", { path: "a.txt", oldText: "one", newText: "\ud83d" }],
      ["edit", { path: "a.txt", oldText: "😀", newText: "\ude00\ud83d" }],
    );
    for (const { status, output } of results) assertEquals(status, "error", output);
    assertSameBytes(await Deno.readFile(`${place.workspace}/a.txt`), bytesOf(text), "halves");
    const [write] = await call(["write", { path: "new.txt", content: "half \ud83d" }]);
    assertEquals(write!.status, "error", write!.output);
    assertEquals(await Deno.stat(`${place.workspace}/new.txt`).catch(() => "none"), "none");
  });
});

const KEPT: [name: string, before: string, edit: [string, string], after: string][] = [
  ["CRLF", "a\r\nb\r\nc\r\n", ["b\nc", "B\nX\nC"], "a\r\nB\r\nX\r\nC\r\n"],
  ["no final newline", "a\nb", ["b", "B"], "a\nB"],
  ["final newlines", "a\nb\n\n\n", ["b", "B"], "a\nB\n\n\n"],
  ["BOM", "\ufeffa\nb\n", ["a", "A"], "\ufeffA\nb\n"],
  ["BOM and CRLF", "\ufeffa\r\nb\r\n", ["a\nb", "A\nB"], "\ufeffA\r\nB\r\n"],
  ["two BOMs", "\ufeff\ufeffa\n", ["a", "A"], "\ufeff\ufeffA\n"],
  ["mixed, a CRLF place", "a\nb\r\nc\nd\r\n", ["b\nc", "B\nC"], "a\nB\r\nC\nd\r\n"],
  ["mixed, an LF place", "a\nb\r\nc\nd\r\n", ["c\nd", "C\nD"], "a\nb\r\nC\nD\r\n"],
  ["CR alone", "a\rb\rc", ["b", "B"], "a\rB\rc"],
  ["trailing spaces", "a  \nb \t\nc\n", ["b", "B"], "a  \nB \t\nc\n"],
  ["smart quotes", "“a” – ‘b’ — c…\n", ["‘b’", "'B'"], "“a” – 'B' — c…\n"],
  ["NBSP", "a\u00a0b\nc d\n", ["a\u00a0b", "a b"], "a b\nc d\n"],
  ["replacement patterns", "a $1 b\n", ["$1", "$& $$ $1 $`"], "a $& $$ $1 $` b\n"],
  ["deleting all", "abc", ["abc", ""], ""],
  ["decomposed", "e\u0301 é\n", ["é", "E"], "e\u0301 E\n"],
];

for (const [name, before, [oldText, newText], after] of KEPT) {
  Deno.test(`edit() keeps what it finds: ${name}`, () =>
    withBench({ files: { "a.txt": before } }, async ({ call, place }) => {
      const [result] = await call(["edit", { path: "a.txt", oldText, newText }]);
      assertEquals(result!.status, "success", result!.output);
      assertSameBytes(await Deno.readFile(`${place.workspace}/a.txt`), bytesOf(after), name);
    }));
}

Deno.test("edit() takes look-alikes for what they are: different texts", () =>
  withBench({ files: { "a.txt": "“a” – b\u00a0c é \u2028 x\n" } }, async ({ call, place }) => {
    const before = await Deno.readFile(`${place.workspace}/a.txt`);
    const results = await call(
      ...['"a"', "- b", "b c", "e\u0301", "\n x", "“A”"].map((oldText): Call => [
        "edit",
        { path: "a.txt", oldText, newText: "y" },
      ]),
    );
    for (const { output } of results) assertStringIncludes(output, "was not found");
    assertSameBytes(await Deno.readFile(`${place.workspace}/a.txt`), before, "look-alikes");
  }));

Deno.test("write() writes exactly the bytes of the text, over whatever was there", async () => {
  const chance = createRandom();
  await withBench({ files: { "a.txt": "" } }, async ({ call, place }) => {
    const fixed = [
      "",
      "\ufeff",
      "\0",
      "a\r\nb\rc\nd",
      "x".repeat(200_000),
      "no newline",
      "\n",
      "\ufeff\ufeffx",
    ];
    for (let round = 0; round < rounds(3); round++) {
      const texts = [
        ...fixed,
        ...Array.from({ length: 30 }, () => randomText(chance, chance.below(80))),
      ];
      for (let index = 0; index < texts.length; index += 2) {
        const old = Uint8Array.from({ length: chance.below(400) }, () => chance.below(256));
        await Deno.writeFile(`${place.workspace}/w${index}`, old);
      }
      const results = await call(
        ...texts.map((content, index): Call => ["write", { path: `w${index}`, content }]),
      );
      assertEquals(results.filter(({ status }) => status !== "success"), []);
      for (const [index, text] of texts.entries()) {
        const actual = await Deno.readFile(`${place.workspace}/w${index}`);
        assertSameBytes(actual, bytesOf(text), JSON.stringify(text.slice(0, 80)));
      }
    }
    const left = [...Deno.readDirSync(place.workspace)].filter(({ name }) => name.endsWith(".tmp"));
    assertEquals(left, []);
  });
});

Deno.test({
  name: "edit() and write() keep mode and symlink, and replace what the symlink leads to",
  ignore: !isUnix,
  fn: () =>
    withBench(
      { files: { "real/a.sh": "#!/bin/sh\necho one\n", "ro.txt": "one\n", "lone": "" } },
      async ({ call, place }) => {
        const { workspace } = place;
        await Deno.chmod(`${workspace}/real/a.sh`, 0o750);
        await Deno.chmod(`${workspace}/ro.txt`, 0o444);
        await Deno.symlink("real/a.sh", `${workspace}/link.sh`);
        await Deno.symlink("link.sh", `${workspace}/link2.sh`);
        const results = await call(
          ["edit", { path: "link2.sh", oldText: "one", newText: "two" }],
          ["edit", { path: "ro.txt", oldText: "one", newText: "two" }],
          ["write", { path: "link.sh", content: "#!/bin/sh\necho three\n" }],
        );
        assertEquals(results.map(({ status }) => status), ["success", "success", "success"]);
        for (const name of ["link.sh", "link2.sh"]) {
          assert((await Deno.lstat(`${workspace}/${name}`)).isSymlink, name);
        }
        const mode = async (name: string) =>
          (await Deno.stat(`${workspace}/${name}`)).mode! & 0o7777;
        assertEquals([await mode("real/a.sh"), await mode("ro.txt")], [0o750, 0o444]);
        assertEquals(await Deno.readTextFile(`${workspace}/real/a.sh`), "#!/bin/sh\necho three\n");
        assertEquals(await Deno.readTextFile(`${workspace}/ro.txt`), "two\n");
      },
    ),
});

Deno.test("edits of one file in one reply are made one after another, each on what the one before left", async () => {
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index}.`);
  await withBench({ files: { "a.txt": lines.join("\n") } }, async ({ call, place }) => {
    const results = await call(
      ...lines.map((
        line,
      ): Call => ["edit", { path: "a.txt", oldText: line, newText: `${line} more` }]),
      ["edit", { path: "a.txt", oldText: "line 7. more", newText: "seven" }],
      ["edit", { path: "a.txt", oldText: "line 7. more", newText: "again" }],
    );
    assertEquals(results.map(({ status }) => status), [
      ...lines.map(() => "success"),
      "success",
      "error",
    ]);
    assertEquals(
      await Deno.readTextFile(`${place.workspace}/a.txt`),
      lines.map((line, index) => index === 7 ? "seven" : `${line} more`).join("\n"),
    );
  });
});

Deno.test("subagents that edit one file at the same time lose none of each other's edits", async () => {
  const names = Array.from({ length: 6 }, (_, index) => `agent${index}`);
  const perAgent = 5;
  const text = names.flatMap((name) =>
    Array.from({ length: perAgent }, (_, n) => `${name}-${n}: old\n`)
  ).join("");
  for (let round = 0; round < rounds(2); round++) {
    await withBench({ files: { "a.txt": text } }, async ({ server, turn, place }) => {
      const succeeded: string[] = [];
      server.answer((request) => {
        const first = JSON.stringify(request.messages);
        const own = names.find((name) => first.includes(`do-${name}`) && !first.includes("do-all"));
        if (own === undefined) {
          if (request.messages.some(({ role }) => role === "tool")) return { text: "done" };
          return {
            toolCalls: names.map((name) => ({
              name: "task",
              args: { description: name, prompt: `do-${name}`, subagent_type: "general" },
            })),
          };
        }
        const done = request.messages.filter(({ role }) => role === "tool");
        const last = String(done.at(-1)?.content ?? "");
        if (last.startsWith("Made")) succeeded.push(`${own}-${done.length - 1}`);
        if (done.length === perAgent) return { text: "done" };
        const edit = `${own}-${done.length}: `;
        return {
          toolCalls: [{
            name: "edit",
            args: { path: "a.txt", oldText: `${edit}old`, newText: `${edit}new` },
          }],
        };
      });
      await turn("do-all");
      const after = await Deno.readTextFile(`${place.workspace}/a.txt`);
      for (const edit of succeeded) assertStringIncludes(after, `${edit}: new\n`);
      assertEquals(succeeded.length, names.length * perAgent, "no edit had to be made again");
      assertEquals(after, text.replaceAll(": old", ": new"));
    });
  }
});

Deno.test("a file that changes on the disk between read and edit keeps the foreign change", () =>
  withBench({ files: { "a.txt": "one\ntwo\nthree\n" } }, async ({ server, weir, place }) => {
    const file = `${place.workspace}/a.txt`;
    const changed = Promise.withResolvers<void>();
    server.reply(
      { toolCalls: [{ name: "read", args: { path: "a.txt" } }] },
      {
        gate: changed.promise,
        toolCalls: [
          { name: "edit", args: { path: "a.txt", oldText: "one", newText: "1" } },
          { name: "edit", args: { path: "a.txt", oldText: "two\nthree", newText: "2\n3" } },
        ],
      },
      { text: "done" },
    );
    await weir.send({ type: "prompt", message: "go" });
    await server.waitForRequests(2);
    await Deno.writeTextFile(file, "zero\none\ntwo and a half\nthree\n");
    changed.resolve();
    const statuses = (await weir.settled()).filter(({ type }) => type === "tool_result")
      .map(({ status }) => status);
    assertEquals(statuses, ["success", "success", "error"]);
    assertEquals(await Deno.readTextFile(file), "zero\n1\ntwo and a half\nthree\n");
  }));

Deno.test("a file that someone else rewrites all the time never holds half of anything", async () => {
  await withBench({ files: { "a.txt": "" } }, async ({ call, place }) => {
    const file = `${place.workspace}/a.txt`;
    const version = (n: number) =>
      `begin ${n}\nmarker\n${"x".repeat(99).concat("\n").repeat(200)}\nend ${n}\n`;
    let n = 0;
    let isOver = false;
    const writing = (async () => {
      while (!isOver) {
        await Deno.writeTextFile(`${file}.next`, version(++n));
        await Deno.rename(`${file}.next`, file);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    try {
      for (let round = 0; round < rounds(3); round++) {
        const results = await call(
          ...Array.from({ length: 20 }, (_, index): Call => [
            "edit",
            { path: "a.txt", oldText: "marker", newText: `mark ${index}` },
          ]),
        );
        for (const { status, output } of results) {
          // Either is fine; anything else is not.
          const isKnown = status === "success" ||
            /changed at the same time|was not found/.test(output);
          assert(isKnown, output);
        }
        const text = await Deno.readTextFile(file);
        const [, begin, end] = /^begin (\d+)\nmark.*\n(?:x{99}\n){200}\nend (\d+)\n$/.exec(text)!;
        assertEquals(begin, end);
      }
    } finally {
      isOver = true;
      await writing;
    }
  });
});

Deno.test("large files are edited exactly, and those that are too large are left alone", async () => {
  const chance = createRandom();
  const isLong = rounds(1) > 1;
  const size = isLong ? 49_000_000 : 3_000_000;
  await withBench({ files: { "a.txt": "" } }, async ({ call, place, weir }: Bench) => {
    const file = `${place.workspace}/big.txt`;
    const line = "0123456789 abcdefghij – “quoted” \r\n";
    const lines = Math.floor(size / bytesOf(line).length);
    const at = chance.below(lines);
    const before = bytesOf(line.repeat(at));
    const after = bytesOf(line.repeat(lines - at));
    const write = async (middle: string) => {
      await Deno.writeFile(file, before);
      await Deno.writeFile(file, bytesOf(middle), { append: true });
      await Deno.writeFile(file, after, { append: true });
    };
    await write("the needle\r\n");
    const [edited]: CallResult[] = await call(["edit", {
      path: "big.txt",
      oldText: "the needle\n",
      newText: "two\nlines\n",
    }]);
    assertEquals(edited!.status, "success", edited!.output.slice(0, 500));
    const actual = await Deno.readFile(file);
    await write("two\r\nlines\r\n");
    assertSameBytes(actual, await Deno.readFile(file), "big.txt");
    const huge = `${place.workspace}/huge.txt`;
    {
      // Sparse: takes no room on the disk; filled in the long form.
      using handle = await Deno.open(huge, { write: true, createNew: true });
      await handle.write(bytesOf("the needle\n"));
      if (isLong) {
        for (let n = 0; n < 100; n++) await handle.write(bytesOf("y\n".repeat(500_000)));
      }
      await handle.truncate(100_000_000);
    }
    const [refused, read] = await call(
      ["edit", { path: "huge.txt", oldText: "the needle", newText: "x" }],
      ["grep", { pattern: "two", path: "big.txt" }],
    );
    assertEquals(refused!.status, "error");
    assertStringIncludes(refused!.output, "it is larger than 50 MB");
    assertStringIncludes(read!.output, ": two");
    assertEquals((await Deno.stat(huge)).size, 100_000_000);
    assertEquals(weir.stderr, "");
  });
});
