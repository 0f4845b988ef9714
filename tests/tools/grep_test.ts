import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../src/agent/message.ts";
import type { ToolContext } from "../../src/agent/tool.ts";
import { createDenoHost } from "../../src/deno/deno_host.ts";
import type { Host } from "../../src/host.ts";
import { createMemoryHost } from "../../src/memory/memory_host.ts";
import { type GrepArguments, grepTool } from "../../src/tools/grep.ts";
import { parseSearchPattern } from "../../src/tools/search_pattern.ts";
import { outcomeText, withToolBench } from "./tool_bench.ts";

function withoutProcesses(host: Host): Host {
  return { ...host, processes: undefined };
}

function bytes(...parts: (string | number)[]): Uint8Array {
  const encoder = new TextEncoder();
  return new Uint8Array(
    parts.flatMap((part) => typeof part === "number" ? [part] : [...encoder.encode(part)]),
  );
}

const TREE: Readonly<Record<string, string | Uint8Array>> = {
  ".gitignore": "*.log\nignored/\n!keep.log\n",
  "a.log": "needle\n",
  "keep.log": "needle\n",
  "ignored/a.txt": "needle\n",
  "nested/.gitignore": "!*.log\nno.txt\n",
  "nested/b.log": "needle\n",
  "nested/no.txt": "needle\n",
  ".hidden": "needle\n",
  "binary": bytes("needle\n", 0, "needle\n"),
  "late-binary": bytes("needle\n", "x".repeat(9000), "\n", 0, "needle\n"),
  "crlf.txt": "one needle\r\nneedle two\r\nthree\r\n",
  "cr.txt": "a\rneedle\rb\nneedle\r\r\n",
  "bom.txt": bytes(0xef, 0xbb, 0xbf, "needle first\nneedle second\n"),
  "utf16.txt": bytes(0xff, 0xfe, "n", 0, "e", 0),
  "long.txt": "x".repeat(5000) + "needle\n" + "needle" + "y".repeat(5000) + "\nshort needle\n",
  "ünï ç😀.txt": "Straße needle 😀\nNEEDLE\nſharp K\n",
  "-dash.txt": "needle -x --y\n",
  "line\nbreak.txt": "needle\n",
  "co:lon:7: x.txt": "needle\n",
  "bad.txt": bytes("a", 0xff, "b\nn", 0xe2, 0x82, "n needle\n", 0xf0, 0x9f, 0x98, "\nok\n"),
  "empty.txt": "",
  "newlines.txt": "\n\n\n",
  "last.txt": "first\nneedle at the end",
  "separators.txt": "one\u2028needle\u2029two\u0085x\u00a0y\n",
  "digits.txt": "12 ٣٤ ab_c-d [x] {2} a{2} a.b (c) $5 ^6 a|b \\n \\\\ /p/\n",
  "case.txt": "Needle\nNEEDLE\nneedLe\n",
  "deep/er/still/x.ts": "function needle() {}\n  return 1;\n",
  "words.txt": "needles\nneedle\na needle b\n",
  "tabs.txt": "\tneedle\v\f\n",
  "my.secret": "needle\n",
};

async function fill(folder: string): Promise<void> {
  for (const [path, content] of Object.entries(TREE)) {
    await Deno.mkdir(`${folder}/${path}`.replace(/\/[^/]*$/s, ""), { recursive: true });
    if (typeof content === "string") await Deno.writeTextFile(`${folder}/${path}`, content);
    else await Deno.writeFile(`${folder}/${path}`, content);
  }
  await Deno.symlink("keep.log", `${folder}/link.txt`);
  await Deno.symlink("deep", `${folder}/linked`);
}

const SEARCHES: readonly GrepArguments[] = [
  ...[
    ...["needle", "^needle", "needle$", "^needle$", "^$", "", "^.*$", "needle.", ".needle", "n.n"],
    ...[
      "a.b",
      "a..b",
      "[^x]needle",
      "^[^a-z]",
      "\\bneedle\\b",
      "\\Bs",
      "\\d+",
      "\\w+\\W\\w+",
      "\\s",
    ],
    ...["\\S\\s\\S", "(one|two)", "(?:one|two) ", "(?<n>n)e{2}d", "e{2,}", "e{1,2}?d", "[\\]\\[]"],
    ...[
      "[\\d-]x",
      "[-a]b",
      "[a\\-z]-",
      "[^\\w\\s]",
      "[^\\W]",
      "\\x6eeedle",
      "\\u{1F600}",
      "\\u006e",
    ],
    ...["\\.", "\\$\\d", "\\\\", "\\t", "\\v", "\\r", "\\/p\\/", "a\\|b", "ß", "[à-ü]", "\ufffd"],
    ...["[\ufff0-\uffff]", "n\ufffdn", "\\u2028", ".needle.", "\\p{L}+ß", "(?=needle)n", "(.)\\1"],
    ...[
      "\\n",
      "[^]",
      "\\-x",
      "a{2",
      "needle|",
      "()",
      "\\x00",
      "[&&a]",
      "[a~~b]",
      "#",
      "a|^b",
    ],
    ...[
      "[\\[-\\]]x",
      "[+--]x",
      "\\cA",
      "[\\b]",
      "$^",
      "\\ufeff",
      "\\u00a0",
      "\\0",
      "(needle){1,2000}",
    ],
    ...["(?:needle){1500}|one", "[\\s\\S]needle", "(?i:NEEDLE)", "-x", "--y", "needle\\s*$"],
  ].map((pattern) => ({ pattern, limit: 1000 })),
  ...["needle", "ſ", "k", "[k]", "[^k]", "\\w+", "[^\\w ]", "STRASSE", "straße", "\\W", "a{2"].map((
    pattern,
  ) => ({ pattern, ignoreCase: true, limit: 1000 })),
  ...["a.b", "(c)", "[x]", "{2}", "$5", "^6", "a|b", "\\n", "\\", "/p/", "-x", "😀"].map((
    pattern,
  ) => ({ pattern, literal: true, limit: 1000 })),
  { pattern: "needle", context: 1 },
  { pattern: "needle", context: 3, limit: 7 },
  { pattern: "needle", limit: 1 },
  { pattern: "needle", glob: "*.txt" },
  { pattern: "needle", glob: "!*.txt" },
  { pattern: "needle", glob: "deep/**" },
  { pattern: "needle", path: "deep" },
  { pattern: "needle", path: "ignored" },
  { pattern: "needle", path: "a.log" },
];

Deno.test("grep finds the same with ripgrep, with the system's grep and without", async () => {
  await withToolBench(async ({ folder, context }) => {
    await fill(folder);
    let asked = 0;
    let hasRipgrep = true;
    let askedRipgrep = 0;
    let askedGrep = 0;
    const processes = context.host.processes!;
    const counting: Host = {
      ...context.host,
      processes: {
        shell: processes.shell,
        environment: () => processes.environment(),
        hideVariables: (names) => processes.hideVariables(names),
        find: (program) =>
          program === "rg" && !hasRipgrep ? Promise.resolve(undefined) : processes.find(program),
        isRunning: (pid) => processes.isRunning(pid),
        recordIn: (folder) => processes.recordIn(folder),
        endRecord: () => processes.endRecord(),
        killAll: () => processes.killAll(),
        start(options) {
          asked++;
          return processes.start(options);
        },
      },
    };
    const alone = { ...context, host: withoutProcesses(context.host) };
    let different = 0;
    for (const args of SEARCHES) {
      const expected = await grepTool.run(args, alone);
      assertEquals(expected.isError, false, args.pattern);
      hasRipgrep = false;
      const other = await grepTool.run(args, { ...context, host: counting });
      assertEquals(outcomeText(other), outcomeText(expected), JSON.stringify(args));
      askedGrep += asked - askedRipgrep;
      asked = askedRipgrep;
      hasRipgrep = true;
      const found = await grepTool.run(args, { ...context, host: counting });
      assertEquals(outcomeText(found), outcomeText(expected), JSON.stringify(args));
      askedRipgrep = asked;
      if (outcomeText(found) !== "No matches found") different++;
    }
    assertEquals(different > SEARCHES.length * 0.7, true);
    if (await processes.find("grep")) assertEquals(askedGrep > 5, true, `${askedGrep}`);
    if (await processes.find("rg")) assertEquals(asked > SEARCHES.length * 0.6, true);
  });
});

Deno.test("parseSearchPattern() gives ripgrep a pattern that it accepts", async () => {
  const host = createDenoHost();
  const ripgrep = await host.processes!.find("rg");
  if (ripgrep === undefined) return;
  const refused: string[] = [];
  for (const { pattern, literal = false, ignoreCase = false } of SEARCHES) {
    const text = parseSearchPattern(pattern, { literal, ignoreCase }).ripgrep;
    if (text === undefined) continue;
    const { code } = await new Deno.Command(ripgrep, {
      args: ["--no-config", "-q", "-e", text, "/dev/null"],
      stderr: "null",
    }).output();
    if (code > 1) refused.push(pattern);
  }
  assertEquals(refused, []);
});

async function grep(args: GrepArguments, context: ToolContext): Promise<string[]> {
  return outcomeText(await grepTool.run(args, context)).split("\n");
}

Deno.test("grep writes matches with path and line, and the lines around them", async () => {
  await withToolBench(async ({ folder, context }) => {
    await Deno.mkdir(`${folder}/src`);
    await Deno.writeTextFile(`${folder}/src/a.txt`, "1\n2\nhit\n4\n5\n6\nhit\nhit\n9\n");
    await Deno.writeTextFile(`${folder}/src/b.txt`, "hit");
    assertEquals(await grep({ pattern: "hit" }, context), [
      "src/a.txt:3: hit",
      "src/a.txt:7: hit",
      "src/a.txt:8: hit",
      "src/b.txt:1: hit",
    ]);
    assertEquals(await grep({ pattern: "hit", context: 1, path: "src" }, context), [
      "src/a.txt-2- 2",
      "src/a.txt:3: hit",
      "src/a.txt-4- 4",
      "--",
      "src/a.txt-6- 6",
      "src/a.txt:7: hit",
      "src/a.txt:8: hit",
      "src/a.txt-9- 9",
      "--",
      "src/b.txt:1: hit",
    ]);
    assertEquals(await grep({ pattern: "hit", context: 2, limit: 1 }, context), [
      "src/a.txt-1- 1",
      "src/a.txt-2- 2",
      "src/a.txt:3: hit",
      "src/a.txt-4- 4",
      "src/a.txt-5- 5",
      "[There are more than 1 match; raise limit or narrow the search]",
    ]);
    assertEquals(await grep({ pattern: "hit", path: `${folder}/src/b.txt` }, context), [
      "src/b.txt:1: hit",
    ]);
    assertEquals(await grep({ pattern: "none" }, context), ["No matches found"]);
    assertEquals((await grep({ pattern: "hit", limit: 4 }, context)).length, 4);
  });
});

Deno.test("grep cuts long lines and long results", async () => {
  await withToolBench(async ({ folder, context }) => {
    await Deno.writeTextFile(`${folder}/a`, `${"x".repeat(499)}😀needle\n`);
    assertEquals(await grep({ pattern: "needle" }, context), [`a:1: ${"x".repeat(499)}…`]);
    await Deno.writeTextFile(`${folder}/a`, `${"x".repeat(600)}\n`.repeat(200));
    const lines = await grep({ pattern: "x", limit: 1000 }, context);
    assertEquals(
      lines.at(-1),
      "[The result is too long to show all of it; narrow the search]",
    );
    assertEquals(lines.join("\n").length < 51_000, true);
  });
});

Deno.test("grep says what is wrong", async () => {
  await withToolBench(async ({ context }) => {
    const problem = async (args: GrepArguments) => {
      const outcome = await grepTool.run(args, context);
      return outcome.isError ? outcomeText(outcome) : "";
    };
    assertStringIncludes(await problem({ pattern: "(a" }), "pattern: Invalid regular expression");
    assertEquals(await problem({ pattern: "a", glob: "[b-a]" }), "glob: [b-a] is not a valid glob");
    assertEquals(await problem({ pattern: "a", path: "no" }), "path: no does not exist");
    assertEquals(
      await problem({ pattern: "a", path: "/dev/null" }),
      "path: /dev/null is neither a file nor a folder",
    );
    const wrong: JsonObject[] = [
      { path: 5 },
      { pattern: "a", limit: 1.5 },
      { pattern: "a", context: -1 },
      { pattern: "a", foo: 1 },
      { pattern: "a", literal: "yes" },
    ];
    assertEquals(
      wrong.map((args) => grepTool.parse(args)).map((parsed) => parsed.ok ? "" : parsed.problem),
      [
        "pattern is required",
        "limit: expected a whole number of at least 1",
        "context: expected a whole number of at least 0",
        "unknown argument: foo",
        "literal: expected true or false",
      ],
    );
  });
});

Deno.test("grep searches a file that is read in pieces", async () => {
  const line = `${"ä".repeat(99)}\n`;
  const count = 20_000;
  const files = { "/w/big.txt": line.repeat(count) + "needle\n" + line, "/w/one": "z".repeat(3e6) };
  const host = createMemoryHost({ files });
  await withToolBench(async ({ context }) => {
    const memory = { ...context, host, workspace: "/w" };
    assertEquals(await grep({ pattern: "needle" }, memory), [`big.txt:${count + 1}: needle`]);
    assertEquals((await grep({ pattern: "z$" }, memory)).length, 1);
  });
});

Deno.test("grep ends when it is aborted in the middle", async () => {
  const files: Record<string, string> = {};
  for (let count = 0; count < 50; count++) files[`/w/${count}/a`] = "needle";
  const memory = createMemoryHost({ files });
  const controller = new AbortController();
  const reason = new Error("stop");
  let reads = 0;
  const read: Host["files"]["read"] = (path, options) => {
    if (++reads === 10) controller.abort(reason);
    return memory.files.read(path, options);
  };
  const filesOf = new Proxy(memory.files, {
    get: (target, name) => {
      if (name === "read") return read;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  await withToolBench(async ({ context }) => {
    const inMemory: ToolContext = {
      ...context,
      host: { ...memory, files: filesOf },
      workspace: "/w",
      signal: controller.signal,
    };
    const error = await assertRejects(() => grepTool.run({ pattern: "needle" }, inMemory));
    assertEquals(error, reason);
    assertEquals(reads, 10);
  });
});
