import { createCredentialCheck } from "../../src/session/approvals/credential_files.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { HostError, RequestError } from "../../src/errors.ts";
import type { Host } from "../../src/host.ts";
import { createMemoryHost } from "../../src/memory/memory_host.ts";
import { saveExport } from "../../src/session/save_export.ts";
import { exportData } from "./export_samples.ts";
import { readText, signal, user } from "./session_samples.ts";

const FOLDER = "/project/app";

function createHost(): Host {
  return createMemoryHost({
    files: { "/project/app/old.html": "old", "/project/app/sub/a.txt": "a", "/s/s.jsonl": "{}" },
    symlinks: {
      "/project/app/link.html": "/project/app/old.html",
      "/project/app/secret.html": "/project/app/.env",
      "/project/app/session.html": "/s/s.jsonl",
    },
  });
}

function save(host: Host, path?: string, { id = "s-1" } = {}): Promise<string> {
  return saveExport(host, exportData([user("hello")], { sessionId: id }), {
    folder: FOLDER,
    path,
    sessionPath: "/s/s.jsonl",
    isCredentialFile: createCredentialCheck({ patterns: ["*.secret"], ownFiles: [] }),
    signal,
  });
}

Deno.test("saveExport() writes to the given place, relative to the folder or absolute", async () => {
  const host = createHost();
  for (
    const [path, full] of [
      [undefined, "/project/app/s-1.html"],
      ["", "/project/app/s-1.html"],
      ["sub/x.html", "/project/app/sub/x.html"],
      ["../y.html", "/project/y.html"],
      ["/project/z.html", "/project/z.html"],
      ["old.html", "/project/app/old.html"],
    ] as const
  ) {
    assertEquals(await save(host, path), full);
    assert((await readText(host, full)).includes("hello"));
  }
});

Deno.test("saveExport() makes a private file of the id, whatever the id is", async () => {
  const host = createHost();
  const path = await save(host, undefined, { id: "../../etc/x y" });
  assertEquals(path, "/project/app/.._.._etc_x_y.html");
  assertEquals((await host.files.stat(path))?.mode, 0o600);
});

Deno.test("saveExport() replaces the file behind a symlink", async () => {
  const host = createHost();
  assertEquals(await save(host, "link.html"), "/project/app/link.html");
  assertEquals((await host.files.lstat("/project/app/link.html"))?.kind, "symlink");
  assert((await readText(host, "/project/app/old.html")).includes("hello"));
});

const REFUSALS: readonly (readonly [string, string])[] = [
  ["sub", `Cannot export to "/project/app/sub": it is a folder, name a file in it`],
  ["new/", `Cannot export to "/project/app/new": it is a folder, name a file in it`],
  [
    ".env",
    `Cannot export to "/project/app/.env": it has the name of a credential file, name another one`,
  ],
  [
    "my.secret",
    `Cannot export to "/project/app/my.secret": it has the name of a credential file, name another one`,
  ],
  [
    "secret.html",
    `Cannot export to "/project/app/secret.html": it has the name of a credential file, name another one`,
  ],
  [
    "/s/s.jsonl",
    `Cannot export to "/s/s.jsonl": it is the file of the session itself, name another one`,
  ],
  [
    "session.html",
    `Cannot export to "/project/app/session.html": it is the file of the session itself, name another one`,
  ],
];

for (const [path, message] of REFUSALS) {
  Deno.test(`saveExport() refuses ${path}`, async () => {
    const host = createHost();
    const error = await assertRejects(() => save(host, path), RequestError);
    assertEquals([error.code, error.message], ["invalid", message]);
    assertEquals(await readText(host, "/s/s.jsonl"), "{}");
  });
}

Deno.test("saveExport() makes no folder and passes the system's text on", async () => {
  const host = createHost();
  const error = await assertRejects(() => save(host, "none/x.html"), RequestError);
  assertEquals(error.code, "failed");
  assert(error.cause instanceof HostError && error.cause.message === error.message);
  assertEquals(await host.files.stat("/project/app/none"), undefined);
});

Deno.test("saveExport() writes nothing when it is aborted", async () => {
  const host = createHost();
  const reason = new Error("stop");
  const error = await assertRejects(() =>
    saveExport(host, exportData([]), {
      folder: FOLDER,
      path: "x.html",
      sessionPath: undefined,
      isCredentialFile: createCredentialCheck({ patterns: [], ownFiles: [] }),
      signal: AbortSignal.abort(reason),
    })
  );
  assertEquals(error, reason);
  assertEquals(await host.files.stat("/project/app/x.html"), undefined);
});
