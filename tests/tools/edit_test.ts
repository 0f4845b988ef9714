import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { JsonObject } from "../../src/agent/message.ts";
import type { Host } from "../../src/host.ts";
import { createMemoryHost } from "../../src/memory/memory_host.ts";
import { editTool, planEdit } from "../../src/tools/edit.ts";
import {
  createMemoryContext,
  createToolContext,
  failureText,
  fileText,
  runTool,
  successText,
} from "./_tool_context.ts";

async function edit(text: string | Uint8Array, ...edits: JsonObject[]): Promise<string> {
  const context = createMemoryContext({ files: { "a.ts": text } });
  const outcome = await runTool(editTool, { path: "a.ts", edits }, context);
  if (!outcome.isError) return fileText("a.ts", context);
  const bytes = await context.host.files.read("/project/a.ts", { signal: context.signal });
  assertEquals(bytes, typeof text === "string" ? new TextEncoder().encode(text) : text);
  return failureText(outcome);
}

Deno.test("edit changes the file and answers with a diff", async () => {
  const context = createMemoryContext({ files: { "a.ts": "one\ntwo\nthree\n" } });
  const edits = [{ oldText: "two", newText: "2" }, { oldText: "e\n", newText: "e\nfour\n" }];
  const ambiguous = await runTool(editTool, { path: "a.ts", edits }, context);
  assertStringIncludes(failureText(ambiguous), "old text of edit 2 matches 2 places");
  assertEquals(await fileText("a.ts", context), "one\ntwo\nthree\n");
  edits[1]!.oldText = "ree\n";
  edits[1]!.newText = "ree\nfour\n";
  const outcome = await runTool(editTool, { path: "a.ts", edits }, context);
  const diff = "--- a.ts\n+++ a.ts\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n three\n+four\n";
  assertEquals(successText(outcome), `Made 2 replacements in a.ts\n\n${diff}`);
  assertEquals(outcome.details, { diff, firstChangedLine: 2 });
  assertEquals(await fileText("a.ts", context), "one\n2\nthree\nfour\n");
});

Deno.test("edit takes one edit beside the path", async () => {
  const context = createMemoryContext({ files: { a: "x x" } });
  const args = { path: "a", oldText: "x", newText: "y", all: true, edits: null };
  const outcome = await runTool(editTool, args, context);
  assertStringIncludes(successText(outcome), "Made 2 replacements in a\n");
  assertEquals(await fileText("a", context), "y y");
});

Deno.test("edit keeps byte order mark, line ends and a missing last line end", async () => {
  assertEquals(await edit("\uFEFFa\r\nb", { oldText: "a\nb", newText: "1\n2" }), "\uFEFF1\r\n2");
  assertEquals(await edit("\uFEFFa", { oldText: "a", newText: "b" }), "\uFEFFb");
  assertEquals(await edit("a\n", { oldText: "a", newText: "b" }), "b\n");
});

Deno.test("edit says why it cannot, in full", async () => {
  assertEquals(
    await edit("a a a", { oldText: "a", newText: "b" }),
    'Cannot edit "a.ts": old text matches 3 places, add lines around it until it matches one',
  );
  assertEquals(
    await edit("", { oldText: "a", newText: "b" }),
    'Cannot edit "a.ts": old text was not found, read the file and copy the text exactly',
  );
  assertEquals(
    await edit(new Uint8Array([0x61, 0xff]), { oldText: "a", newText: "b" }),
    'Cannot edit "a.ts": it is not UTF-8 text, an edit would damage it',
  );
  assertEquals(
    await edit("a".repeat(1000), { oldText: "a", newText: "b".repeat(50_001), all: true }),
    'Cannot edit "a.ts": the result would be larger than 50 MB',
  );
  const context = createMemoryContext({ files: { "d/x": "" } });
  const failure = async (path: string) =>
    failureText(await runTool(editTool, { path, oldText: "a", newText: "b" }, context));
  assertEquals(
    await failure("none"),
    'Cannot edit "none": it does not exist, use write to make it',
  );
  assertEquals(await failure("d"), 'Cannot edit "d": it is a folder');
});

Deno.test("edit refuses a file of more than 50 MB", async () => {
  assertEquals(
    await edit(new Uint8Array(50_000_001), { oldText: "a", newText: "b" }),
    'Cannot edit "a.ts": it is larger than 50 MB',
  );
});

Deno.test("edit refuses credential files under every name", async () => {
  const context = createMemoryContext({ files: { ".env": "a" }, symlinks: { n: ".env" } });
  for (const path of [".env", "n"]) {
    const outcome = await runTool(editTool, { path, oldText: "a", newText: "b" }, context);
    assertEquals(
      failureText(outcome),
      `Denied by approval policy: ${path} is a credential file`,
    );
  }
});

Deno.test("edit leaves a file alone that was changed at the same time", async () => {
  const host = createMemoryHost({ files: { "/project/a": "a" } });
  let looks = 0;
  const files = Object.assign(Object.create(host.files), {
    realPath: (path: string) => host.files.realPath(path),
    read: (path: string, options: { signal: AbortSignal }) => host.files.read(path, options),
    replace: () => Promise.reject(new Error("must not be called")),
    stat: async (path: string) => ({ ...await host.files.stat(path), modifiedMs: looks++ }),
  });
  const context = createToolContext({ ...host, files } as Host);
  const outcome = await runTool(editTool, { path: "a", oldText: "a", newText: "b" }, context);
  assertEquals(
    failureText(outcome),
    'Cannot edit "a": it was changed at the same time, read it again',
  );
});

Deno.test("edit throws the reason when it is aborted", async () => {
  const reason = new Error("stop");
  const host = createMemoryHost({ files: { "/project/a": "a" } });
  const context = createToolContext(host, { signal: AbortSignal.abort(reason) });
  const args = { path: "a", oldText: "a", newText: "b" };
  assertEquals(await assertRejects(() => runTool(editTool, args, context)), reason);
});

Deno.test("edit names what is wrong with its arguments", () => {
  const problem = (args: JsonObject) => {
    const parsed = editTool.parse(args);
    return parsed.ok ? "" : parsed.problem;
  };
  const edits = [{ oldText: "a", newText: "b" }];
  assertEquals(problem({ path: "a", edits }), "");
  assertEquals(problem({ edits }), "path is required");
  assertEquals(problem({ path: "a" }), "edits is required");
  assertEquals(problem({ path: "a", edits: null }), "edits: expected a list");
  assertEquals(problem({ path: "a", edits: [] }), "edits: expected at least one edit");
  assertEquals(
    problem({ path: "a", edits: [{ oldText: 1, newText: "b" }] }),
    "edits[0].oldText: expected a string",
  );
  assertEquals(problem({ path: "a", oldText: "a" }), "newText is required");
  assertEquals(problem({ path: "a", edits, oldText: "a" }), "unknown argument: oldText");
  assertEquals(problem({ path: "a", oldText: "", newText: "", x: 1 }), "unknown argument: x");
});

Deno.test("planEdit() tells what an edit would do and changes nothing", async () => {
  const context = createMemoryContext({ files: { a: "\uFEFFone" }, symlinks: { l: "a" } });
  const args = { path: "l", edits: [{ oldText: "one", newText: "two" }] };
  const { path, before, after, hasBom } = await planEdit(args, context);
  assertEquals({ path, before, after, hasBom }, {
    path: "/project/a",
    before: "one",
    after: "two",
    hasBom: true,
  });
  assertEquals(await fileText("a", context), "\uFEFFone");
  args.edits[0]!.oldText = "three";
  const error = await assertRejects(() => planEdit(args, context));
  assert(error instanceof Error);
  assertEquals(
    error.message,
    'Cannot edit "l": old text was not found, read the file and copy the text exactly',
  );
});
