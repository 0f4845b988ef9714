import { assertEquals, assertRejects } from "@std/assert";
import { createDenoHost } from "../../src/deno/deno_host.ts";
import { HostError } from "../../src/errors.ts";

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Start time and all of a process that has ended, so of nobody. */
async function staleContent(): Promise<string> {
  const child = new Deno.Command("true").spawn();
  await child.status;
  return `${child.pid} 12345\n`;
}

Deno.test("lockFile() lets one of twenty racing processes in at a time", async () => {
  await withFolder(async (folder) => {
    const lock = `${folder}/lock`;
    const counter = `${folder}/counter`;
    await Deno.writeTextFile(counter, "0");
    await Deno.writeTextFile(lock, await staleContent());
    const children = Array.from({ length: 20 }, (_, index) =>
      new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "-A", "--no-check", "--config", "deno.npm.json"],
          ...["tests/deno/lock_worker.ts", lock, counter, index % 2 === 0 ? "leave" : "release"],
        ],
        stdin: "piped",
      }).spawn());
    try {
      for (const child of children) await child.stdin.close();
      const codes = await Promise.all(children.map(async (child) => (await child.status).code));
      assertEquals(codes, children.map(() => 0));
      assertEquals(await Deno.readTextFile(counter), "100");
      const left = Array.from(Deno.readDirSync(folder), (entry) => entry.name).sort();
      assertEquals(left.filter((name) => name !== "lock"), ["counter"]);
    } finally {
      for (const child of children) {
        try {
          child.kill("SIGKILL");
        } catch {
          // Has ended.
        }
      }
    }
  });
});

Deno.test("lockFile() takes over from a dead process and from a reused pid", async () => {
  await withFolder(async (folder) => {
    const { files } = createDenoHost();
    const path = `${folder}/lock`;
    for (const content of [await staleContent(), `${Deno.ppid} 1\n`, "no lock at all"]) {
      await Deno.writeTextFile(path, content);
      await using lock = await files.lock(path);
      assertEquals((await Deno.readTextFile(path)).split(" ")[0], String(Deno.pid));
      assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
      assertEquals(lock !== undefined, true);
    }
    assertEquals(Array.from(Deno.readDirSync(folder)), []);
  });
});

Deno.test("lockFile() names the living process that holds the lock", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/lock`;
    const child = new Deno.Command("sleep", { args: ["60"] }).spawn();
    try {
      const stat = await Deno.readTextFile(`/proc/${child.pid}/stat`);
      const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
      await Deno.writeTextFile(path, `${child.pid} ${start}\n`);
      const error = await assertRejects(() => createDenoHost().files.lock(path), HostError);
      assertEquals([error.code, error.pid], ["locked", child.pid]);
    } finally {
      child.kill("SIGKILL");
      await child.status;
    }
    await using lock = await createDenoHost().files.lock(path);
    assertEquals(lock !== undefined, true);
  });
});

Deno.test("lockFile() leaves a lock alone that is no longer its own", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/lock`;
    const lock = await createDenoHost().files.lock(path);
    await Deno.writeTextFile(path, "another\n");
    await lock[Symbol.asyncDispose]();
    assertEquals(await Deno.readTextFile(path), "another\n");
  });
});
