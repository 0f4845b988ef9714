import { assertEquals, assertRejects } from "@std/assert";
import { StartError } from "../src/errors.ts";
import { findTrust, isTrusted, listTrust, setTrust } from "../src/config/trust.ts";
import { createTemporaryPlace, type TemporaryPlace } from "./temporary_place.ts";

const { signal } = new AbortController();

function ask({ host, home, root }: TemporaryPlace, path: string): Promise<boolean> {
  return isTrusted(host, { home, folder: path === "" ? root : `${root}/${path}`, signal });
}

function writeStore(place: TemporaryPlace, projects: Record<string, unknown>): Promise<void> {
  const entries = Object.entries(projects).map(([path, value]) => [`${place.root}${path}`, value]);
  return place.write("home/trust.json", JSON.stringify({ projects: Object.fromEntries(entries) }));
}

Deno.test("isTrusted() trusts nothing without a store", async () => {
  await using place = await createTemporaryPlace();
  assertEquals(await ask(place, "project"), false);
});

Deno.test("isTrusted() lets the nearest ancestor decide", async () => {
  await using place = await createTemporaryPlace();
  await Deno.mkdir(`${place.workspace}/a/b/c`, { recursive: true });
  await Deno.mkdir(`${place.root}/projects`);
  await writeStore(place, { "/project": true, "/project/a/b": false, "/project/a/b/c/d": true });
  assertEquals(
    await Promise.all(
      ["project", "project/a", "project/a/b", "project/a/b/c", "", "projects", "project/none"]
        .map((path) => ask(place, path)),
    ),
    [true, true, false, false, false, false, false],
  );
});

Deno.test("isTrusted() resolves symlinks on both sides", async () => {
  await using place = await createTemporaryPlace();
  await Deno.mkdir(`${place.root}/outside`);
  await Deno.symlink(`${place.root}/outside`, `${place.workspace}/link`);
  await Deno.symlink(place.workspace, `${place.root}/alias`);
  await writeStore(place, { "/project": true });
  assertEquals([await ask(place, "alias"), await ask(place, "project/link")], [true, false]);
  await writeStore(place, { "/alias": true });
  assertEquals(await ask(place, "project"), true);
  await writeStore(place, { "/alias": false, "/project": true });
  assertEquals(await ask(place, "project"), false);
});

Deno.test("isTrusted() trusts everything below the root folder when that is listed", async () => {
  await using place = await createTemporaryPlace();
  await place.write("home/trust.json", '{"projects": {"/": true, "relative": false}}');
  assertEquals(await ask(place, "project"), true);
});

Deno.test("isTrusted() says where the store is wrong", async () => {
  const wrong: [string, string][] = [
    ["", '1:1: expected a value: text in double quotes, a number, true, false, null, "{" or "["'],
    ['{\n  "projects": {"/a": 1}\n}', "2:16: projects./a: expected true or false"],
    ['{\n  "projects": []\n}', '2:3: projects: expected an object in "{" and "}"'],
    ["{\n  // no\n}", "2:3: expected no comment here"],
    ['{"projects": {},}', "1:17: expected a key in double quotes"],
  ];
  for (const [text, where] of wrong) {
    await using place = await createTemporaryPlace();
    await place.write("home/trust.json", text);
    const error = await assertRejects(() => ask(place, "project"), StartError);
    const expected = `settings could not be read: ${place.home}/trust.json:${where}`;
    assertEquals([error.message, error.kind, error.exitCode], [expected, "configuration", 2]);
  }
});

Deno.test("setTrust() stores the folder without symlinks, for the user alone", async () => {
  await using place = await createTemporaryPlace();
  const { host, home, root, workspace } = place;
  await Deno.symlink(workspace, `${root}/alias`);
  const stored = await setTrust(host, { home, folder: `${root}/alias`, trusted: true, signal });
  assertEquals(stored, workspace);
  assertEquals(
    await place.read("home/trust.json"),
    JSON.stringify({ projects: { [workspace]: true } }, null, 2) + "\n",
  );
  assertEquals([await place.mode("home/trust.json"), await place.mode("home")], [0o600, 0o700]);
});

Deno.test("setTrust() keeps other entries and keys, and replaces every spelling of the folder", async () => {
  await using place = await createTemporaryPlace();
  const { host, home, root, workspace } = place;
  await Deno.symlink(workspace, `${root}/alias`);
  const projects = { "/gone": false, [`${root}/alias`]: false, [root]: true };
  await place.write("home/trust.json", JSON.stringify({ note: 1, projects }));
  await setTrust(host, { home, folder: workspace, trusted: true, signal });
  assertEquals(JSON.parse(await place.read("home/trust.json")), {
    note: 1,
    projects: { "/gone": false, [root]: true, [workspace]: true },
  });
  assertEquals((await findTrust(host, { home, folder: workspace, signal }))?.folder, workspace);
  await setTrust(host, { home, folder: workspace, trusted: undefined, signal });
  await setTrust(host, { home, folder: "/gone", trusted: undefined, signal });
  assertEquals(await listTrust(host, { home, signal }), [{ folder: root, trusted: true }]);
});

Deno.test("setTrust() refuses a folder that does not exist and leaves a wrong store alone", async () => {
  await using place = await createTemporaryPlace();
  const { host, home, root, workspace } = place;
  const set = (folder: string) => setTrust(host, { home, folder, trusted: true, signal });
  const missing = await assertRejects(() => set(`${root}/none`), StartError);
  assertEquals(
    [missing.message, missing.kind, missing.exitCode],
    [`No such folder: ${root}/none`, "folder", 2],
  );
  await place.write("home/trust.json", "[]");
  await assertRejects(() => set(workspace), StartError);
  assertEquals(await place.read("home/trust.json"), "[]");
});
