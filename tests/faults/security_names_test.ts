/** File names that look like options, globs, commands or nothing at all: to the tools of the real process they are names. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { withBench } from "./_circle_bench.ts";

type Call = readonly [name: string, args: Record<string, unknown>];

const isLinux = Deno.build.os === "linux";

const STRANGE = [
  ...["-e", "--help", "-rf", "--files", "--pre=touch made", "-f pattern.txt", "--output=made"],
  ...[
    "a\nb.txt",
    "quo'te.txt",
    'dou"ble.txt',
    "back\\slash.txt",
    "$(touch made).txt",
    "`touch made`",
  ],
  ...[
    "*.txt",
    "[ab].txt",
    "{a,b}.txt",
    "?.txt",
    "!not.txt",
    "#hash.txt",
    " lead.txt",
    "trail.txt ",
  ],
  ...[
    "~",
    "~root",
    "%41.txt",
    "a;touch made",
    "a&b",
    "a|b",
    "\u202efdp.exe",
    "\u0085.txt",
    "\u007f.txt",
  ],
];

/** A folder with the few programs that are needed, and the ones named. */
async function makePath(folder: string, programs: readonly string[]): Promise<string> {
  await Deno.mkdir(folder);
  for (const program of ["sh", "touch", ...programs]) {
    const { stdout } = await new Deno.Command("sh", { args: ["-c", `command -v ${program}`] })
      .output();
    const path = new TextDecoder().decode(stdout).trim();
    if (path !== "") await Deno.symlink(path, `${folder}/${program}`);
  }
  return folder;
}

// Files are searched with the help of one of these, where it is installed.
for (const searcher of ["rg", "grep", "none"]) {
  Deno.test({
    name: `strange names are names: no option, no glob, no command is made of them (${searcher})`,
    ignore: !isLinux,
    fn: async () => {
      await using stack = new AsyncDisposableStack();
      const root = await Deno.makeTempDir();
      stack.defer(() => Deno.remove(root, { recursive: true }));
      const path = await makePath(`${root}/bin`, [searcher]);
      await withBench({
        env: { PATH: path },
        files: Object.fromEntries(
          STRANGE.map((name) => [`dir/${name}`, `needle in ${name.length}\n`]),
        ),
      }, async ({ call, place }) => {
        const reads = await call(...STRANGE.map((name): Call => ["read", { path: `dir/${name}` }]));
        assertEquals(
          reads.map(({ output }) => output),
          STRANGE.map((name) => `needle in ${name.length}\n`),
        );
        const tried = STRANGE.flatMap((name): Call[] => [
          ["grep", { pattern: "needle", path: `dir/${name}` }],
          ["grep", { pattern: name, literal: true, path: "dir" }],
          ["find", { pattern: name, path: "dir" }],
          ["grep", { pattern: "needle", glob: name }],
          ["ls", { path: `dir/${name}` }],
        ]);
        for (const [index, { output }] of (await call(...tried)).entries()) {
          const [tool, args] = tried[index]!;
          if (tool === "grep" && args.literal === undefined && args.glob === undefined) {
            assertStringIncludes(output, ":1: needle in ", JSON.stringify(args));
          }
          // deno-lint-ignore no-control-regex -- exactly these may not come through
          assert(!/[\x00-\x09\x0b-\x1f\x7f-\x9f]/.test(output) || tool === "ls", output);
        }
        // More files than are read one by one, so that ripgrep gets the names, where it is installed.
        const [all, named] = await call(["grep", { pattern: "needle", path: "dir" }], [
          "find",
          { pattern: "*", path: "dir" },
        ]);
        assertEquals(all!.output.split("\n").length, STRANGE.length);
        assertEquals(named!.output.split("\n").length, STRANGE.length);
        for (const pattern of ["-e", "--help", "needle -- in", "-f/etc/passwd", "$(x)", "\0"]) {
          for (const literal of [true, false]) {
            const [odd] = await call(["grep", { pattern, literal, path: "dir" }]);
            assert(!odd!.output.includes("root:"), odd!.output);
          }
        }
        const edits = await call(
          ...STRANGE.map((name): Call => [
            "edit",
            { path: `dir/${name}`, oldText: "needle", newText: "pin" },
          ]),
        );
        assertEquals(edits.filter(({ status }) => status !== "success"), []);
        for (const folder of [place.workspace, `${place.workspace}/dir`]) {
          assert(![...Deno.readDirSync(folder)].some(({ name }) => name === "made"));
        }
        for (const name of STRANGE) {
          const text = await Deno.readTextFile(`${place.workspace}/dir/${name}`);
          assertEquals(text, `pin in ${name.length}\n`);
        }
      });
    },
  });
}
