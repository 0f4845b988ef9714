/** What `edit` of the real process leaves on the disk, byte by byte: only what was asked for changes, or nothing and the reason is said. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { withBench } from "./_circle_bench.ts";
import { assertSameBytes, bytesOf, type Chance, decoder, randomText } from "./_file_bytes.ts";
import { createRandom, rounds } from "./_rounds.ts";

type Call = readonly [name: string, args: Record<string, unknown>];

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
