/** Files that `edit` and `write` of the real process share with others: links, modes, other writers, subagents, great sizes. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Bench, type CallResult, withBench } from "./_circle_bench.ts";
import { assertSameBytes, bytesOf, randomText } from "./_file_bytes.ts";
import { createRandom, rounds } from "./_rounds.ts";

type Call = readonly [name: string, args: Record<string, unknown>];

const isUnix = Deno.build.os !== "windows";
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
