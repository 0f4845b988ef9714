// What every host promises, tried on the real machine and in memory.

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createDenoHost } from "../src/deno/deno_host.ts";
import { HostError, type HostErrorCode } from "../src/errors.ts";
import type { Host } from "../src/host.ts";
import { createMemoryHost } from "../src/memory/memory_host.ts";

type Run = (host: Host, folder: string) => Promise<void>;

const signal = new AbortController().signal;

/** Runs the case in an empty folder but for the symlinks, whose names and targets are relative to it. */
function contract(name: string, run: Run, symlinks: Record<string, string> = {}): void {
  Deno.test(`DenoHost ${name}`, async () => {
    const folder = await Deno.realPath(await Deno.makeTempDir());
    try {
      for (const [path, target] of Object.entries(symlinks)) {
        await Deno.symlink(target, `${folder}/${path}`);
      }
      await run(createDenoHost(), folder);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
  Deno.test(`MemoryHost ${name}`, async () => {
    const host = createMemoryHost({
      symlinks: Object.fromEntries(
        Object.entries(symlinks).map(([path, target]) => [`/w/${path}`, target]),
      ),
    });
    await host.files.makeFolder("/w");
    await run(host, "/w");
  });
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

async function text(host: Host, path: string): Promise<string> {
  return new TextDecoder().decode(await host.files.read(path, { signal }));
}

async function names(host: Host, path: string): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of host.files.readFolder(path)) found.push(`${entry.kind} ${entry.name}`);
  return found.sort();
}

async function assertCode(work: Promise<unknown>, code: HostErrorCode, path: string) {
  const error = await assertRejects(() => work, HostError);
  assertEquals(error.code, code);
  assertEquals(error.path, path);
  assertStringIncludes(error.message, path);
}

async function readAll(stream: ReadableStream<Uint8Array>): Promise<string> {
  return await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).text();
}

contract("replace() makes a file with its mode and leaves nothing else", async (host, folder) => {
  const path = `${folder}/a.txt`;
  await host.files.replace(path, bytes("one"), { signal, mode: 0o600 });
  const info = await host.files.stat(path);
  assertEquals([info?.kind, info?.size, info?.mode], ["file", 3, 0o600]);
  assertEquals(await names(host, folder), ["file a.txt"]);
});

contract("replace() keeps the mode of a file that is there", async (host, folder) => {
  const path = `${folder}/run.sh`;
  await host.files.replace(path, bytes("one"), { signal, mode: 0o755 });
  await host.files.replace(path, bytes("two!"), { signal, mode: 0o600 });
  assertEquals((await host.files.stat(path))?.mode, 0o755);
  assertEquals(await text(host, path), "two!");
});

contract("replace() takes the place of a symlink", async (host, folder) => {
  await host.files.replace(`${folder}/real`, bytes("old"), { signal });
  await host.files.replace(`${folder}/link`, bytes("new"), { signal });
  assertEquals(await names(host, folder), ["file link", "file real"]);
  assertEquals(await text(host, `${folder}/real`), "old");
}, { link: "real" });

contract("replace() follows symlinks when asked, also to what is not there yet", async (h, f) => {
  await h.files.replace(`${f}/link`, bytes("new"), { signal, followSymlink: true });
  assertEquals(await names(h, f), ["file real", "symlink hop", "symlink link"]);
  assertEquals(await text(h, `${f}/real`), "new");
}, { link: "hop", hop: "real" });

contract("replace() refuses a folder, a missing folder and a circle of symlinks", async (h, f) => {
  await h.files.makeFolder(`${f}/sub`);
  await assertCode(h.files.replace(`${f}/sub`, bytes(""), { signal }), "is_folder", `${f}/sub`);
  await assertCode(h.files.replace(`${f}/no/a`, bytes(""), { signal }), "not_found", `${f}/no/a`);
  await assertCode(
    h.files.replace(`${f}/loop`, bytes(""), { signal, followSymlink: true }),
    "other",
    `${f}/loop`,
  );
  assertEquals(await names(h, f), ["folder sub", "symlink loop"]);
}, { loop: "loop" });

contract("replace() does nothing when already aborted", async (host, folder) => {
  const reason = new Error("enough");
  const aborted = AbortSignal.abort(reason);
  const work = host.files.replace(`${folder}/a`, bytes("x"), { signal: aborted });
  assertEquals(await assertRejects(() => work), reason);
  assertEquals(await names(host, folder), []);
});

contract("stat() follows symlinks and lstat() does not", async (host, folder) => {
  await host.files.replace(`${folder}/real`, bytes("1234"), { signal });
  assertEquals((await host.files.stat(`${folder}/link`))?.kind, "file");
  assertEquals((await host.files.lstat(`${folder}/link`))?.kind, "symlink");
  assertEquals(await host.files.realPath(`${folder}/link`), `${folder}/real`);
}, { link: "real" });

contract("stat() finds nothing where nothing is", async (host, folder) => {
  await host.files.replace(`${folder}/file`, bytes(""), { signal });
  for (const path of ["none", "none/deeper", "file/inside", "dangling", "loop"]) {
    assertEquals(await host.files.stat(`${folder}/${path}`), undefined, path);
  }
  assertEquals((await host.files.lstat(`${folder}/dangling`))?.kind, "symlink");
  await assertCode(host.files.realPath(`${folder}/none`), "not_found", `${folder}/none`);
}, { dangling: "none", loop: "loop" });

contract("read() gives all or the first bytes", async (host, folder) => {
  const path = `${folder}/a`;
  await host.files.replace(path, bytes("0123456789"), { signal });
  assertEquals(await text(host, path), "0123456789");
  assertEquals(await host.files.read(path, { signal, limit: 4 }), bytes("0123"));
  assertEquals(await host.files.read(path, { signal, limit: 1e9 }), bytes("0123456789"));
});

contract("read() and openRead() of a real path follow no symlink", async (host, folder) => {
  await host.files.makeFolder(`${folder}/real`);
  await host.files.replace(`${folder}/real/file`, bytes("text"), { signal });
  const isReal = true;
  const { files } = host;
  assertEquals(
    await files.read(`${folder}/real/file`, { signal, limit: 9, isReal }),
    bytes("text"),
  );
  assertEquals(await files.read(`${folder}/real/file`, { signal, isReal }), bytes("text"));
  assertEquals(await readAll(await files.openRead(`${folder}/real/file`, { isReal })), "text");
  for (const path of [`${folder}/link`, `${folder}/way/file`]) {
    assertEquals(await text(host, path), "text");
    await assertCode(files.read(path, { signal, limit: 9, isReal }), "other", path);
    await assertCode(files.read(path, { signal, isReal }), "other", path);
    await assertCode(files.openRead(path, { isReal }), "other", path);
  }
}, { "link": "real/file", "way": "real" });

contract("read() says what is wrong", async (host, folder) => {
  await assertCode(host.files.read(`${folder}/no`, { signal }), "not_found", `${folder}/no`);
  await assertCode(host.files.read(folder, { signal }), "is_folder", folder);
  await host.files.replace(`${folder}/a`, bytes(""), { signal });
  await assertCode(host.files.read(`${folder}/a/b`, { signal }), "not_folder", `${folder}/a/b`);
});

contract("openRead() starts where asked and can be cancelled", async (host, folder) => {
  const path = `${folder}/a`;
  await host.files.replace(path, bytes("x".repeat(200_000) + "end"), { signal });
  assertEquals(await readAll(await host.files.openRead(path, { start: 200_000 })), "end");
  assertEquals((await readAll(await host.files.openRead(path, {}))).length, 200_003);
  const reader = (await host.files.openRead(path, {})).getReader();
  await reader.read();
  await reader.cancel();
});

contract("readFolder() names what is there without following symlinks", async (host, folder) => {
  await host.files.makeFolder(`${folder}/sub/deep`);
  await host.files.replace(`${folder}/ä-file`, bytes(""), { signal });
  assertEquals(await names(host, folder), ["file ä-file", "folder sub", "symlink link"]);
  await assertCode(names(host, `${folder}/no`), "not_found", `${folder}/no`);
  await assertCode(names(host, `${folder}/ä-file`), "not_folder", `${folder}/ä-file`);
}, { link: "sub" });

contract("makeFolder() makes parents with the mode and is fine when it exists", async (h, f) => {
  await h.files.makeFolder(`${f}/a/b`, { mode: 0o700 });
  await h.files.makeFolder(`${f}/a/b`, { mode: 0o755 });
  assertEquals((await h.files.stat(`${f}/a`))?.mode, 0o700);
  assertEquals((await h.files.stat(`${f}/a/b`))?.mode, 0o700);
  await h.files.replace(`${f}/file`, bytes(""), { signal });
  await assertCode(h.files.makeFolder(`${f}/file`), "exists", `${f}/file`);
});

contract("remove() takes files, full folders when asked, and nothing", async (host, folder) => {
  await host.files.makeFolder(`${folder}/a/b`);
  await host.files.replace(`${folder}/real`, bytes(""), { signal });
  await assertRejects(() => host.files.remove(`${folder}/a`), HostError);
  await host.files.remove(`${folder}/a`, { recursive: true });
  await host.files.remove(`${folder}/a`);
  await host.files.remove(`${folder}/link`);
  assertEquals(await names(host, folder), ["file real"]);
}, { link: "real" });

contract("openAppend() appends, truncates and counts", async (host, folder) => {
  const path = `${folder}/log`;
  {
    await using file = await host.files.openAppend(path, { mode: 0o600 });
    file.write(bytes("one\n"));
    file.write(bytes("torn"));
    assertEquals(file.size, 8);
    file.truncate(4);
    assertEquals(file.size, 4);
    file.write(bytes("two\n"));
    await file.flush();
    assertEquals(await text(host, path), "one\ntwo\n");
    file.close();
    file.close();
  }
  await using file = await host.files.openAppend(path, { mode: 0o644 });
  assertEquals(file.size, 8);
  file.write(bytes("three"));
  assertEquals(await text(host, path), "one\ntwo\nthree");
  assertEquals((await host.files.stat(path))?.mode, 0o600);
  await assertCode(host.files.openAppend(folder, { mode: 0o600 }), "is_folder", folder);
});

contract("lock() is held until it is disposed", async (host, folder) => {
  const path = `${folder}/lock`;
  const lock = await host.files.lock(path);
  const error = await assertRejects(() => host.files.lock(path), HostError);
  assertEquals([error.code, error.pid], ["locked", host.pid]);
  assertEquals(error.message, `Locked by process ${host.pid}: ${path}`);
  await lock[Symbol.asyncDispose]();
  await lock[Symbol.asyncDispose]();
  assertEquals(await names(host, folder), []);
  await using again = await host.files.lock(path);
  await lock[Symbol.asyncDispose]();
  await assertCode(host.files.lock(path), "locked", path);
  assertEquals(again !== undefined, true);
});

contract(
  "lock() of a folder that is missing fails and can be tried again",
  async (host, folder) => {
    await assertCode(host.files.lock(`${folder}/no/lock`), "not_found", `${folder}/no/lock`);
    await host.files.makeFolder(`${folder}/no`);
    await using lock = await host.files.lock(`${folder}/no/lock`);
    assertEquals(lock !== undefined, true);
  },
);

contract("paths are calculated alike", (host) => {
  const { paths } = host;
  assertEquals(paths.resolve("/a/b", "../c/./d"), "/a/c/d");
  assertEquals(paths.resolve("/a", "/x//y/.."), "/x");
  assertEquals(paths.resolve("/a", ""), "/a");
  assertEquals(paths.resolve("/", "../.."), "/");
  assertEquals(paths.join("/a", "", "../b", "c/"), "/b/c/");
  assertEquals(paths.join("a", "..", "..", "b"), "../b");
  assertEquals(paths.join(), ".");
  assertEquals(["/a/b/", "/a", "/", "a", "a/b"].map((path) => paths.dirname(path)), [
    "/a",
    "/",
    "/",
    ".",
    "a",
  ]);
  assertEquals(["/a/b/", "/a", "/", "a.ts"].map((path) => paths.basename(path)), [
    "b",
    "a",
    "",
    "a.ts",
  ]);
  assertEquals(paths.relative("/a/b", "/a/c/d"), "../c/d");
  assertEquals(paths.relative("/a", "/a"), "");
  assertEquals(paths.isAbsolute("/a") && !paths.isAbsolute("a"), true);
  return Promise.resolve();
});
