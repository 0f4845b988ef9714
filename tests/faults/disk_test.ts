import { assert, assertEquals, assertMatch } from "@std/assert";
import { type ModelServer, startModelServer } from "../fakes/model_server.ts";
import { type PreparedHome, prepareHome } from "../fakes/prepare_home.ts";
import { type DialectName, DIALECTS, drive, type Driver } from "./_drive.ts";
import { mountSmallDisk, needsSmallDisk, type SmallDisk } from "./_small_disk.ts";
import { sessionPaths } from "./_stored_session.ts";

const onDisk = await needsSmallDisk();
const LONG = "a long text ".repeat(2000);

interface Use {
  readonly disk: SmallDisk;
  readonly driver: Driver;
  readonly home: PreparedHome;
  readonly server: ModelServer;
}

/**
 * Runs `test` with a process whose home, or a folder of it, is a small disk. At the end all sessions are whole, and nothing half-written is
 * left.
 */
async function withSmallDisk(
  { dialect, folder }: { dialect: DialectName; folder: string },
  test: (use: Use) => Promise<void>,
) {
  await using server = startModelServer();
  server.answer(() => ({ text: "fine" }));
  await using home = await prepareHome({ server, files: { "notes.txt": LONG } });
  await Deno.mkdir(`${home.home}${folder}`, { recursive: true });
  await using disk = await mountSmallDisk(`${home.home}${folder}`);
  await using driver = await drive({ dialect, home });
  await test({ disk, driver, home, server });
  await driver.finish();
  assertEquals(server.complaints, []);
  for (const path of await sessionPaths(home)) {
    for (const line of (await Deno.readTextFile(path)).trimEnd().split("\n")) JSON.parse(line);
  }
  await assertNoRests(home.home);
}

async function assertNoRests(folder: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    assert(!/\.(?:tmp|lock)$/.test(name), `${folder}/${name} was left`);
    if (isDirectory) await assertNoRests(`${folder}/${name}`);
  }
}

/** Runs a turn and expects how it ends. */
async function turn(driver: Driver, text: string, end: "answer" | "error"): Promise<void> {
  const finished = await driver.prompt(text);
  assertEquals(await finished(), end, text.slice(0, 40));
}

/** A record says what is wrong with the disk and what to do. */
function assertTold(driver: Driver, pattern: RegExp, from = 0): void {
  assertMatch(JSON.stringify(driver.weir.records.slice(from)), pattern);
}

const FULL = /Cannot save the session .*the disk is full, free some space and try again/;
const READ_ONLY = /Cannot save the session .*the file system is read-only, make it writable/;

for (const dialect of DIALECTS) {
  const test = (name: string, body: (use: Use) => Promise<void>, folder = "") =>
    Deno.test({
      name: `${dialect}: ${name}`,
      ...onDisk,
      fn: () => withSmallDisk({ dialect, folder }, body),
    });

  test("a disk that is full before the first message is told, and then forgotten", async (use) => {
    const { disk, driver, home } = use;
    disk.fill();
    for (const text of ["one", LONG]) {
      const from = driver.weir.records.length;
      await turn(driver, text, "error");
      assertTold(driver, FULL, from);
    }
    disk.free();
    await turn(driver, "two", "answer");
    const [path] = await sessionPaths(home);
    assertMatch(await Deno.readTextFile(path!), /"two".*\n.*"fine"/s);
  });

  test("a disk that fills up while a tool runs", async ({ disk, driver, home, server }) => {
    const gate = Promise.withResolvers<void>();
    await turn(driver, "before", "answer");
    server.reply({
      gate: gate.promise,
      toolCalls: [
        { name: "read", args: { path: "notes.txt" } },
        { name: "bash", args: { command: "echo ran >> ran.txt" } },
      ],
    });
    const finished = await driver.prompt("with a tool");
    await server.waitForRequests(2);
    disk.fill();
    gate.resolve();
    assertEquals(await finished(), "error");
    assertTold(driver, FULL);
    const from = driver.weir.records.length;
    await turn(driver, LONG, "error");
    assertTold(driver, FULL, from);
    const [path] = await sessionPaths(home);
    const before = await Deno.readFile(path!);
    disk.free();
    await turn(driver, "after", "answer");
    const after = await Deno.readFile(path!);
    assertEquals(after.subarray(0, before.length), before, "what was stored has changed");
    assertMatch(new TextDecoder().decode(after), /"before".*"with a tool".*"after"/s);
  });

  test("a disk that fills up while the model answers", async ({ disk, driver, server }) => {
    const gate = Promise.withResolvers<void>();
    server.reply({ text: [LONG, LONG], pieceGate: { after: 1, gate: gate.promise } });
    const finished = await driver.prompt("a long answer");
    await server.waitForRequests(1);
    disk.fill();
    gate.resolve();
    assertEquals(await finished(), "error");
    assertTold(driver, FULL);
    disk.free();
    await turn(driver, "again", "answer");
  });

  test("a disk without room for the log of a command", async ({ disk, driver, server }) => {
    const command = "seq 1 100000; echo the end";
    const run = async () => {
      server.reply({ toolCalls: [{ name: "bash", args: { command } }] });
      await turn(driver, "much", "answer");
      const text = JSON.stringify(server.requests.at(-1)!.messages.at(-1));
      assertMatch(text, /the end/);
      return text;
    };
    disk.fill();
    const without = await run();
    console.log(without.slice(-400));
    assertMatch(without, /full log|full output|disk is full|No space/i);
    disk.free();
    const withLog = await run();
    console.log(withLog.slice(-400));
  }, "/jobs");

  test("a job that fills the disk, and one after it", async ({ disk, driver, server }) => {
    const start = async (command: string) => {
      server.reply({ toolCalls: [{ name: "bash", args: { command, background: true } }] });
      await turn(driver, command, "answer");
      return JSON.stringify(server.requests.at(-1)!.messages.at(-1));
    };
    disk.fill();
    console.log(await start("echo no room"));
    disk.free();
    console.log(await start("seq 1 300000; echo the end"));
    console.log(driver.weir.stderr);
  }, "/jobs");

  test("a disk that is read-only before the first message", async ({ disk, driver }) => {
    await disk.remount("ro");
    await turn(driver, "one", "error");
    assertTold(driver, READ_ONLY);
    await disk.remount("rw");
    await turn(driver, "two", "answer");
  });
}
