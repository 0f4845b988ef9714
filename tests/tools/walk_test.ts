import { assertEquals, assertRejects } from "@std/assert";
import { HostError } from "../../src/errors.ts";
import type { Host } from "../../src/host.ts";
import { createMemoryHost } from "../../src/memory/memory_host.ts";
import { walk } from "../../src/tools/walk.ts";
import { withToolBench } from "./tool_bench.ts";

const signal = new AbortController().signal;

async function walkAll(host: Host, folder: string, workspace = folder): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of walk(folder, { host, workspace, signal })) {
    found.push(entry.kind === "folder" ? `${entry.path}/` : entry.path);
  }
  return found;
}

async function run(folder: string, ...args: string[]): Promise<string> {
  const output = await new Deno.Command("git", {
    args: ["-c", "core.quotePath=false", ...args],
    cwd: folder,
    env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
  }).output();
  return new TextDecoder().decode(output.stdout);
}

const TREE: Readonly<Record<string, string>> = {
  ".gitignore":
    "# comment\n*.log\n!keep.log\n/build\nnode_modules/\ndocs/**/*.tmp\n\\#odd\n*.bak \nspace\\ \ntrail/\nfoo/*\n!foo/bar\n",
  "a.log": "",
  "keep.log": "",
  "build/out.txt": "",
  "src/build/kept.txt": "",
  "src/node_modules/x/index.js": "",
  "node_modules/y/index.js": "",
  "docs/a.tmp": "",
  "docs/deep/er/b.tmp": "",
  "docs/deep/er/b.txt": "",
  "#odd": "",
  "old.bak": "",
  "space ": "",
  "foo/a": "",
  "foo/bar/b": "",
  "trail": "a file, so the rule for folders does not count",
  "nested/.gitignore": "!*.log\nsecret*\n/only-here\n!.hidden\n",
  "nested/b.log": "",
  "nested/secret.txt": "",
  "nested/sub/secret.txt": "",
  "nested/sub/only-here": "",
  "nested/only-here": "",
  "nested/sub/.gitignore": "!secret.txt\r\n*.crlf\r\n",
  "nested/sub/x.crlf": "",
  ".hidden/file": "",
  "a/z": "",
  "a.txt": "",
  "a-b": "",
  "a0": "",
  "ünï/ä": "",
  "\ue000": "",
  "😀": "",
  "-dash": "",
  "line\nbreak": "",
  "co:lon": "",
  "UPPER.LOG": "",
  "[x].md": "",
};

Deno.test("walk() names what git would, in the order of bytes", async () => {
  await withToolBench(async ({ folder, context }) => {
    for (const [path, text] of Object.entries(TREE)) {
      await Deno.mkdir(`${folder}/${path}`.replace(/\/[^/]*$/s, ""), { recursive: true });
      await Deno.writeTextFile(`${folder}/${path}`, text);
    }
    await Deno.symlink("/etc", `${folder}/link`);
    await Deno.symlink("src", `${folder}/node_modules/link`);
    await run(folder, "init", "-q");
    const listed = await run(folder, "ls-files", "-z", "--others", "--exclude-standard");
    const encoder = new TextEncoder();
    const byBytes = (a: string, b: string) => {
      const [x, y] = [encoder.encode(a), encoder.encode(b)];
      for (let at = 0; at < Math.min(x.length, y.length); at++) {
        if (x[at] !== y[at]) return x[at]! - y[at]!;
      }
      return x.length - y.length;
    };
    const expected = listed.split("\0").filter((path) => path !== "").sort(byBytes);
    const found = await walkAll(context.host, folder);
    assertEquals(found.filter((path) => !path.endsWith("/")), expected);
    assertEquals(found.includes("build/"), false);
    assertEquals(found, found.toSorted(byBytes));
    const nested = await walkAll(context.host, `${folder}/nested`, folder);
    assertEquals(
      nested.filter((path) => !path.endsWith("/")),
      expected.filter((path) => path.startsWith("nested/")).map((path) => path.slice(7)),
    );
  });
});

Deno.test("walk() honours rules above up to the repository, or the workspace", async () => {
  const files = {
    "/.gitignore": "*.txt",
    "/repo/.git/HEAD": "",
    "/repo/.gitignore": "*.log",
    "/repo/sub/a.log": "",
    "/repo/sub/a.txt": "",
    "/plain/.gitignore": "*.md",
    "/plain/sub/a.md": "",
    "/plain/sub/a.txt": "",
  };
  const host = createMemoryHost({ files });
  assertEquals(await walkAll(host, "/repo/sub", "/repo/sub"), ["a.txt"]);
  assertEquals(await walkAll(host, "/plain/sub", "/plain"), ["a.txt"]);
  assertEquals(await walkAll(host, "/plain/sub", "/elsewhere"), ["a.md", "a.txt"]);
});

Deno.test("walk() looks into an ignored folder that it is asked for", async () => {
  const host = createMemoryHost({
    files: { "/w/.gitignore": "vendor/\n*.log", "/w/vendor/a.js": "", "/w/vendor/b/c.js": "" },
  });
  assertEquals(await walkAll(host, "/w", "/w"), [".gitignore"]);
  assertEquals(await walkAll(host, "/w/vendor", "/w"), ["a.js", "b/", "b/c.js"]);
});

Deno.test("walk() survives rules that are nonsense and folders that cannot be read", async () => {
  await withToolBench(async ({ folder, context }) => {
    await Deno.writeTextFile(`${folder}/.gitignore`, "[z-a]\n[\n\\\n**\u0000/[[:x:]\n!\n/\n");
    await Deno.writeTextFile(`${folder}/a`, "");
    await Deno.mkdir(`${folder}/b/.gitignore`, { recursive: true });
    assertEquals(await walkAll(context.host, folder), [".gitignore", "a", "b/", "b/.gitignore/"]);
    await assertRejects(() => walkAll(context.host, `${folder}/none`), HostError);
  });
});

Deno.test("walk() ends when it is aborted", async () => {
  const controller = new AbortController();
  const host = createMemoryHost({ files: { "/w/a/1": "", "/w/b/2": "" } });
  const found: string[] = [];
  const reason = new Error("stop");
  const error = await assertRejects(async () => {
    for await (const entry of walk("/w", { host, workspace: "/w", signal: controller.signal })) {
      found.push(entry.path);
      controller.abort(reason);
    }
  });
  assertEquals(error, reason);
  assertEquals(found, ["a"]);
});

Deno.test("walk() of ten thousand names asks the matcher again and again", async () => {
  const files: Record<string, string> = { "/w/.gitignore": "*7\n" };
  for (let count = 0; count < 12_000; count++) files[`/w/f${count}`] = "";
  const found = await walkAll(createMemoryHost({ files }), "/w");
  assertEquals(found.length, 1 + 12_000 - 1200);
});
