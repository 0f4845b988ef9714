import { assertEquals, assertRejects } from "@std/assert";
import type { JsonObject } from "../../src/agent/message.ts";
import { createMemoryHost } from "../../src/memory/memory_host.ts";
import { lsTool } from "../../src/tools/ls.ts";
import {
  createMemoryContext,
  createToolContext,
  failureText,
  runTool,
  successText,
} from "./_tool_context.ts";

const FILES = { "s/b": "", "s/B": "", "s/d/x": "", "s/.env": "", "s/a\n[1 of 2]": "" };

async function ls(args: JsonObject): Promise<string> {
  const context = createMemoryContext({ files: FILES, symlinks: { "s/l": "d", "s/m": "none" } });
  return successText(await runTool(lsTool, args, context));
}

Deno.test("ls lists sorted names and marks folders and symlinks", async () => {
  assertEquals(await ls({ path: "s" }), ".env\nB\na\\x0a[1 of 2]\nb\nd/\nl@\nm@\n");
  assertEquals(await ls({}), ".keep/\ns/\n");
  assertEquals(await ls({ path: "s/l" }), "x\n");
});

Deno.test("ls says when there are more names", async () => {
  assertEquals(
    await ls({ path: "s", limit: 2 }),
    ".env\nB\n[2 of 7 names; use limit for more]\n",
  );
  assertEquals((await ls({ path: "s", limit: 7 })).includes("["), true);
  const names = Array.from({ length: 501 }, (_, index) => [`f${1000 + index}`, ""]);
  const context = createMemoryContext({ files: Object.fromEntries(names) });
  const text = successText(await runTool(lsTool, {}, context));
  assertEquals(text.split("\n").slice(-3), [
    "f1498",
    "[500 of 502 names; use limit for more]",
    "",
  ]);
});

Deno.test("ls says that a folder is empty, is a file or does not exist", async () => {
  const context = createMemoryContext({ files: { f: "" } });
  await context.host.files.makeFolder("/project/e");
  const run = (path: string) => runTool(lsTool, { path }, context);
  assertEquals(successText(await run("e")), "[the folder is empty]");
  assertEquals(failureText(await run("f")), 'Cannot list "f": it is not a folder, use read');
  assertEquals(failureText(await run("g")), 'Cannot list "g": it does not exist');
});

Deno.test("ls throws the reason when it is aborted", async () => {
  const reason = new Error("stop");
  const host = createMemoryHost({ files: { "/project/a": "" } });
  const context = createToolContext(host, { signal: AbortSignal.abort(reason) });
  assertEquals(await assertRejects(() => runTool(lsTool, {}, context)), reason);
});
