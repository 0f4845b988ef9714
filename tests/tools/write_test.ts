import { assertEquals, assertRejects } from "@std/assert";
import { createMemoryHost } from "../../src/memory/memory_host.ts";
import { writeTool } from "../../src/tools/write.ts";
import {
  createMemoryContext,
  createToolContext,
  failureText,
  fileText,
  runTool,
  successText,
} from "./_tool_context.ts";

Deno.test("write makes a file and the folders above it", async () => {
  const context = createMemoryContext();
  const outcome = await runTool(writeTool, { path: "a/b/c.txt", content: "ä\r\n" }, context);
  assertEquals(successText(outcome), "Wrote 4 bytes to a/b/c.txt (created)");
  assertEquals(await fileText("a/b/c.txt", context), "ä\r\n");
});

Deno.test("write replaces a file, also with nothing", async () => {
  const context = createMemoryContext({ files: { a: "old" } });
  const first = await runTool(writeTool, { path: "/project/a", content: "n" }, context);
  assertEquals(successText(first), "Wrote 1 byte to /project/a (replaced)");
  assertEquals(await fileText("a", context), "n");
  const second = await runTool(writeTool, { path: "a", content: "" }, context);
  assertEquals(successText(second), "Wrote 0 bytes to a (replaced)");
  assertEquals(await fileText("a", context), "");
});

Deno.test("write leaves a symlink and replaces what it points to", async () => {
  const context = createMemoryContext({ files: { "d/a": "old" }, symlinks: { l: "d/a" } });
  successText(await runTool(writeTool, { path: "l", content: "new" }, context));
  assertEquals((await context.host.files.lstat("/project/l"))?.kind, "symlink");
  assertEquals(await fileText("d/a", context), "new");
});

Deno.test("write says why it cannot", async () => {
  const context = createMemoryContext({
    files: { "d/a": "" },
    symlinks: { dangling: "/elsewhere/x", gone: "/elsewhere" },
  });
  const failure = async (path: string) =>
    failureText(await runTool(writeTool, { path, content: "x" }, context));
  assertEquals(await failure("d"), 'Cannot write "d": it is a folder');
  assertEquals(
    await failure("d/a/b"),
    'Cannot write "d/a/b": a part of its path is a file, not a folder',
  );
  for (const path of ["dangling", "gone/y"]) {
    assertEquals(
      await failure(path),
      `Cannot write "${path}": it leads through a symlink to nothing, use the real path`,
    );
  }
  assertEquals(await context.host.files.stat("/elsewhere"), undefined);
});

Deno.test("write refuses credential files under every name, also new ones", async () => {
  const context = createMemoryContext({
    files: { ".env": "KEY=1", "/keys/x": "" },
    symlinks: { "notes.txt": ".env", k: "/keys" },
  });
  for (const path of [".env", "notes.txt", "new/.env", "k/new.pem"]) {
    assertEquals(
      failureText(await runTool(writeTool, { path, content: "x" }, context)),
      `Denied by approval policy: ${path} is a credential file`,
    );
  }
  assertEquals(await fileText(".env", context), "KEY=1");
});

Deno.test("write throws the reason when it is aborted and writes nothing", async () => {
  const reason = new Error("stop");
  const host = createMemoryHost({ files: { "/project/a": "old" } });
  const context = createToolContext(host, { signal: AbortSignal.abort(reason) });
  const error = await assertRejects(() => runTool(writeTool, { path: "a", content: "x" }, context));
  assertEquals(error, reason);
  assertEquals(await fileText("a", createToolContext(host)), "old");
});

Deno.test("write takes exactly its arguments", () => {
  const problem = (args: Record<string, string>) => {
    const parsed = writeTool.parse(args);
    return parsed.ok ? "" : parsed.problem;
  };
  assertEquals(problem({ path: "a" }), "content is required");
  assertEquals(problem({ path: "", content: "" }), "path: expected a string that is not empty");
  assertEquals(problem({ path: "a", content: "", mode: "x" }), "unknown argument: mode");
});
