/**
 * The file tools on a real disk: what memory cannot show. Unix only where a test needs modes, symlinks or a pipe.
 */

import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import type { ToolContext } from "../../src/agent/tool.ts";
import { createDenoHost } from "../../src/deno/deno_host.ts";
import {
  CUT_FILE_MENTIONS,
  expandMentions,
  WHOLE_FILE_MENTIONS,
} from "../../src/session/attachments.ts";
import { editTool } from "../../src/tools/edit.ts";
import { lsTool } from "../../src/tools/ls.ts";
import { readTool } from "../../src/tools/read.ts";
import { writeTool } from "../../src/tools/write.ts";
import { createToolContext, failureText, runTool, successText } from "./_tool_context.ts";

const isWindows = Deno.build.os === "windows";

/** A folder that is removed when the test ends, as the workspace. */
async function createWorkspace(): Promise<ToolContext & AsyncDisposable> {
  const workspace = await Deno.realPath(await Deno.makeTempDir({ prefix: "weir-tools-" }));
  return {
    ...createToolContext(createDenoHost(), { workspace }),
    [Symbol.asyncDispose]: () => Deno.remove(workspace, { recursive: true }),
  };
}

async function namesIn(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder), (entry) => entry.name)).sort();
}

Deno.test("write, read, edit and ls work together on a disk", async () => {
  await using context = await createWorkspace();
  const { workspace } = context;
  const path = "a/b/c.txt";
  successText(await runTool(writeTool, { path, content: "one\ntwo\n" }, context));
  successText(await runTool(editTool, { path, oldText: "two", newText: "2" }, context));
  assertEquals(successText(await runTool(readTool, { path }, context)), "one\n2\n");
  assertEquals(successText(await runTool(lsTool, { path: "a/b" }, context)), "c.txt\n");
  assertEquals(await namesIn(`${workspace}/a/b`), ["c.txt"]);
  const outcome = await runTool(readTool, { path: "a/b/c.txt/d" }, context);
  assertEquals(outcome.isError, true);
});

Deno.test({
  name: "write and edit keep the mode of a file and the symlink to it",
  ignore: isWindows,
  fn: async () => {
    await using context = await createWorkspace();
    const { workspace } = context;
    await Deno.writeTextFile(`${workspace}/run.sh`, "echo 1\n");
    await Deno.chmod(`${workspace}/run.sh`, 0o750);
    await Deno.symlink("run.sh", `${workspace}/link`);
    const edit = { path: "link", oldText: "1", newText: "2" };
    successText(await runTool(editTool, edit, context));
    assertEquals(await Deno.readTextFile(`${workspace}/run.sh`), "echo 2\n");
    successText(await runTool(writeTool, { path: "link", content: "echo 3\n" }, context));
    assertEquals(await Deno.readTextFile(`${workspace}/run.sh`), "echo 3\n");
    assertEquals((await Deno.stat(`${workspace}/run.sh`)).mode! & 0o777, 0o750);
    assert((await Deno.lstat(`${workspace}/link`)).isSymlink);
    assertEquals(successText(await runTool(lsTool, {}, context)), "link@\nrun.sh\n");
    assertEquals(await namesIn(workspace), ["link", "run.sh"]);
  },
});

Deno.test({
  name: "the file tools meet odd symlinks, pipes and devices with an error",
  ignore: isWindows,
  fn: async () => {
    await using context = await createWorkspace();
    const { workspace } = context;
    await Deno.symlink("loop", `${workspace}/loop`);
    await Deno.symlink("/nowhere/at/all", `${workspace}/dangling`);
    await Deno.symlink(`${workspace}/.env`, `${workspace}/notes`);
    await Deno.writeTextFile(`${workspace}/.env`, "KEY=1");
    const made = await new Deno.Command("mkfifo", { args: [`${workspace}/pipe`] }).output();
    assert(made.success);
    const calls = (path: string) => [
      runTool(readTool, { path }, context),
      runTool(writeTool, { path, content: "x" }, context),
      runTool(editTool, { path, oldText: "a", newText: "b" }, context),
    ];
    for (const outcome of await Promise.all(calls("loop"))) failureText(outcome);
    for (const outcome of await Promise.all(calls("dangling"))) {
      assertStringIncludes(failureText(outcome), "it leads through a symlink to nothing");
    }
    for (const path of ["pipe", "/dev/null"]) {
      for (const outcome of await Promise.all(calls(path))) {
        assertStringIncludes(failureText(outcome), "it is not a regular file");
      }
    }
    for (const outcome of await Promise.all(calls("notes"))) {
      assertEquals(
        failureText(outcome),
        "Denied by approval policy: notes is a credential file",
      );
    }
    assertEquals(await Deno.readTextFile(`${workspace}/.env`), "KEY=1");
    for (const style of [WHOLE_FILE_MENTIONS, CUT_FILE_MENTIONS]) {
      const message = "@loop @dangling @notes @pipe @/dev/null";
      const expanded = await expandMentions(message, { ...context, style });
      assertEquals(expanded, { text: message, images: [] });
    }
  },
});

Deno.test("read takes a page out of 200 MB with the memory of a page", async () => {
  await using context = await createWorkspace();
  const path = `${context.workspace}/big.log`;
  const size = 200 * 1024 * 1024;
  {
    // Lines in front, a hole of one line, and lines at the end.
    using file = await Deno.open(path, { write: true, createNew: true });
    await file.write(new TextEncoder().encode("first\n".repeat(4000)));
    await file.seek(size, Deno.SeekMode.Start);
    await file.write(new TextEncoder().encode("\nlast 1\nlast 2\n"));
  }
  const before = memoryInUse();
  const text = async (args: { offset: number; limit: number }) =>
    successText(await runTool(readTool, { path: "big.log", ...args }, context));
  assertEquals(
    await text({ offset: 2, limit: 2 }),
    "first\nfirst\n[lines 2-3 of 4003; use offset=4 to go on]",
  );
  const hole = size - 4000 * "first\n".length - 2000;
  assertEquals(
    await text({ offset: 4000, limit: 2 }),
    `first\n${"\0".repeat(2000)} [line cut, ${hole} more bytes]\n` +
      "[lines 4000-4001 of 4003; use offset=4002 to go on]",
  );
  assertEquals(await text({ offset: 4002, limit: 9 }), "last 1\nlast 2\n");
  assertLess(memoryInUse() - before, 100 * 1024 * 1024);
});

/** Without what a garbage collection may still free. */
function memoryInUse(): number {
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}
