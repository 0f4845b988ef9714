import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { Host } from "../../src/host.ts";
import { createMemoryHost } from "../../src/memory/memory_host.ts";
import { readTool } from "../../src/tools/read.ts";
import {
  createMemoryContext,
  createToolContext,
  failureText,
  runTool,
  successText,
} from "./_tool_context.ts";

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 1, 2, 255]);

function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");
}

async function read(files: Record<string, string | Uint8Array>, args = {}): Promise<string> {
  const outcome = await runTool(readTool, { path: "a", ...args }, createMemoryContext({ files }));
  return successText(outcome);
}

async function readFailure(
  files: Record<string, string | Uint8Array>,
  args = {},
): Promise<string> {
  const outcome = await runTool(readTool, { path: "a", ...args }, createMemoryContext({ files }));
  return failureText(outcome);
}

Deno.test("read gives the exact text of a file", async () => {
  for (const text of ["package main\n", "no end", "\n", "\n\n", "a\r\nb\r\n", "a\rb", "ä€😀\n"]) {
    assertEquals(await read({ a: text }), text);
  }
  assertEquals(await read({ a: "\uFEFFa\uFEFFb\n" }), "a\uFEFFb\n");
  assertEquals(await read({ "/elsewhere/x": "y" }, { path: "/elsewhere/x" }), "y");
});

Deno.test("read says that a file is empty", async () => {
  assertEquals(await read({ a: "" }), "[the file is empty]");
  assertEquals(await read({ a: "\uFEFF" }), "[the file is empty]");
});

Deno.test("read gives a page and says how to go on", async () => {
  const text = numbered(5321);
  const first = await read({ a: text });
  assertStringIncludes(first, "line 2000\n[lines 1-2000 of 5321; use offset=2001 to go on]");
  assertEquals(first.split("\n").length, 2001);
  assertEquals(await read({ a: text }, { offset: 5320 }), "line 5320\nline 5321\n");
  assertEquals(
    await read({ a: text }, { offset: 3, limit: 2 }),
    "line 3\nline 4\n[lines 3-4 of 5321; use offset=5 to go on]",
  );
  assertEquals(await read({ a: "a\nb\n" }, { limit: 2 }), "a\nb\n");
  assertEquals(await read({ a: "a\nb\nc" }, { offset: 3 }), "c");
  const cut = "a\nb\n[lines 1-2 of 3; use offset=3 to go on]";
  assertEquals(await read({ a: "a\nb\nc" }, { limit: 2 }), cut);
});

Deno.test("read says how many lines there are when the offset is behind them", async () => {
  const text = (count: string, offset: number) =>
    `Cannot read "a": offset ${offset} is behind the end, the file has ${count}`;
  assertEquals(await readFailure({ a: "a\nb\n" }, { offset: 3 }), text("2 lines", 3));
  assertEquals(await readFailure({ a: "a\nb" }, { offset: 9 }), text("2 lines", 9));
  assertEquals(await readFailure({ a: "a" }, { offset: 2 }), text("1 line", 2));
  assertEquals(await readFailure({ a: "" }, { offset: 2 }), text("0 lines", 2));
});

Deno.test("read gives at most 50 KB of whole lines", async () => {
  const text = `${"x".repeat(999)}\n`.repeat(100);
  const page = await read({ a: text });
  assertEquals(
    page,
    `${"x".repeat(999)}\n`.repeat(51) + "[lines 1-51 of 100; use offset=52 to go on]",
  );
});

Deno.test("read cuts a long line between characters and says so", async () => {
  const notice = (bytes: number) => ` [line cut, ${bytes} more bytes]`;
  assertEquals(await read({ a: "x".repeat(2000) + "\r\ny" }), "x".repeat(2000) + "\r\ny");
  assertEquals(
    await read({ a: "x".repeat(2001) + "\ny" }),
    "x".repeat(2000) + notice(1) + "\ny",
  );
  assertEquals(await read({ a: "x".repeat(900_000) }), "x".repeat(2000) + notice(898_000));
  assertEquals(await read({ a: "€".repeat(2000) }), "€".repeat(2000));
  assertEquals(
    await read({ a: "x" + "😀".repeat(1000) }),
    "x" + "😀".repeat(999) + notice(4),
  );
});

Deno.test("read gives images as images, by their first bytes", async () => {
  const head = (...bytes: number[]) => new Uint8Array([...bytes, 0, 0, 0, 0, 0, 0]);
  const ascii = (text: string) => [...new TextEncoder().encode(text)];
  const cases: [Uint8Array, string][] = [
    [PNG, "image/png"],
    [head(0xff, 0xd8, 0xff, 0xe0), "image/jpeg"],
    [head(...ascii("GIF89a")), "image/gif"],
    [head(...ascii("RIFF"), 9, 9, 9, 9, ...ascii("WEBP")), "image/webp"],
  ];
  for (const [bytes, mimeType] of cases) {
    const context = createMemoryContext({ files: { "pics/a.txt": bytes } });
    const outcome = await runTool(readTool, { path: "pics/a.txt" }, context);
    assertEquals(outcome, {
      content: [
        { type: "text", text: `Image pics/a.txt (${mimeType}, ${bytes.length} bytes)` },
        { type: "image", data: btoa(String.fromCharCode(...bytes)), mimeType, filename: "a.txt" },
      ],
      isError: false,
    });
  }
});

Deno.test("read refuses an image of more than 20 MiB", async () => {
  const image = new Uint8Array(20 * 1024 * 1024 + 1);
  image.set(PNG);
  assertEquals(
    await readFailure({ a: image }),
    'Cannot read "a": the image is larger than 20 MiB',
  );
  const outcome = await runTool(
    readTool,
    { path: "a" },
    createMemoryContext({ files: { a: image.subarray(0, -1) } }),
  );
  assertEquals(outcome.isError, false);
});

Deno.test("read refuses what is not text in its first 8 KB", async () => {
  const message = 'Cannot read "a": it is a binary file, not text';
  assertEquals(await readFailure({ a: "abc\0def" }), message);
  assertEquals(await readFailure({ a: new Uint8Array([0x61, 0xe4, 0x62]) }), message);
  assertEquals(await readFailure({ a: new Uint8Array([0x61, 0xe2, 0x82]) }), message);
  const late = new Uint8Array(9000).fill(0x61);
  late[8999] = 0xe4;
  assertStringIncludes(await read({ a: late }), "[line cut");
});

Deno.test("read takes a text whose character crosses the first 8 KB", async () => {
  const text = `${"x".repeat(63)}\n`.repeat(127) + "x".repeat(62) + "€\nend\n";
  assertEquals(await read({ a: text }), text);
});

Deno.test("read says what is there instead of a file", async () => {
  const context = createMemoryContext({
    files: { "src/a.ts": "" },
    symlinks: { dangling: "nowhere" },
  });
  const failure = async (path: string) => failureText(await runTool(readTool, { path }, context));
  assertEquals(await failure("src"), 'Cannot read "src": it is a folder, use ls');
  assertEquals(
    await failure("./no/such"),
    'Cannot read "./no/such": it does not exist, check the path with ls or find',
  );
  assertEquals(
    await failure("src/a.ts/b"),
    'Cannot read "src/a.ts/b": a part of its path is a file, not a folder',
  );
  assertEquals(
    await failure("dangling"),
    'Cannot read "dangling": it leads through a symlink to nothing, use the real path',
  );
  assertEquals(
    await failure("~/x"),
    'Cannot read "~/x": it does not exist, check the path with ls or find',
  );
});

Deno.test("read refuses credential files under every name", async () => {
  const context = createMemoryContext({
    files: { ".env": "KEY=1", "/keys/a.pem": "secret" },
    symlinks: { "notes.txt": ".env", keys: "/keys" },
  });
  for (const path of [".env", "notes.txt", "keys/a.pem", "/keys/a.pem", "/keys/none.pem"]) {
    assertEquals(
      failureText(await runTool(readTool, { path }, context)),
      `Denied by approval policy: ${path} is a credential file`,
    );
  }
});

Deno.test("read throws the reason when it is aborted before or while it waits", async () => {
  const reason = new Error("stop");
  const host = createMemoryHost({ files: { "/project/a": "text" } });
  const aborted = createToolContext(host, { signal: AbortSignal.abort(reason) });
  assertEquals(await assertRejects(() => runTool(readTool, { path: "a" }, aborted)), reason);

  const controller = new AbortController();
  let cancelled: unknown;
  const silent: Host = {
    ...host,
    files: Object.assign(Object.create(host.files), {
      stat: () => Promise.resolve({ kind: "file", size: 1, modifiedMs: 0, mode: 0o644 }),
      realPath: (path: string) => Promise.resolve(path),
      openRead: () =>
        Promise.resolve(
          new ReadableStream<Uint8Array>({
            pull: () => {
              queueMicrotask(() => controller.abort(reason));
              return new Promise(() => {});
            },
            cancel: (reason) => void (cancelled = reason),
          }),
        ),
    }),
  };
  const waiting = createToolContext(silent, { signal: controller.signal });
  assertEquals(await assertRejects(() => runTool(readTool, { path: "a" }, waiting)), reason);
  assertEquals(cancelled, reason);
});

Deno.test("read gives the same page wherever the chunks are cut", async () => {
  const bytes = new TextEncoder().encode("\uFEFFä1\r\n€2\n😀3\n\nlast");
  const host = createMemoryHost({ files: { "/project/a": bytes } });
  for (let size = 1; size <= bytes.length; size++) {
    const files = Object.assign(Object.create(host.files), {
      stat: (path: string) => host.files.stat(path),
      realPath: (path: string) => host.files.realPath(path),
      openRead: () => {
        const chunks: Uint8Array[] = [];
        for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.slice(at, at + size));
        return Promise.resolve(ReadableStream.from(chunks));
      },
    });
    const context = createToolContext({ ...host, files });
    const text = async (args: { offset?: number; limit?: number }) =>
      successText(await runTool(readTool, { path: "a", ...args }, context));
    assertEquals(await text({}), "ä1\r\n€2\n😀3\n\nlast");
    assertEquals(
      await text({ offset: 2, limit: 2 }),
      "€2\n😀3\n[lines 2-3 of 5; use offset=4 to go on]",
    );
    assertEquals(await text({ offset: 5 }), "last");
  }
});
