import { assert, assertEquals, assertMatch } from "@std/assert";
import { type ModelServer, startModelServer } from "../fakes/model_server.ts";
import { type PreparedHome, prepareHome } from "../fakes/prepare_home.ts";
import { startWeir } from "../fakes/weir_process.ts";
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
    // Nothing more is done once it cannot be noted. In pi's protocol all calls of a reply are over before the first is noted.
    const hasRun = await Deno.stat(`${home.workspace}/ran.txt`).then(() => true, () => false);
    assertEquals(hasRun, dialect === "pi");
    const from = driver.weir.records.length;
    await turn(driver, LONG, "error");
    assertTold(driver, FULL, from);
    const [path] = await sessionPaths(home);
    const before = await Deno.readFile(path!);
    disk.free();
    await turn(driver, "after", "answer");
    const after = await Deno.readFile(path!);
    assertEquals(after.subarray(0, before.length), before, "what was stored has changed");
    const stored = new TextDecoder().decode(after);
    assertMatch(stored, /"before".*"with a tool".*"toolResult".*"toolResult".*"after"/s);
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
    const run = async () => {
      const command = "seq 1 50000; echo end of it";
      server.reply({ toolCalls: [{ name: "bash", args: { command } }] });
      await turn(driver, "much", "answer");
      return JSON.stringify(server.requests.at(-1)!.messages.at(-1));
    };
    disk.fill();
    const without = await run();
    assertMatch(without, /output unavailable \(No space left on device/);
    assertMatch(without, /the rest could not be kept/);
    disk.free();
    assertMatch(await run(), /all of it is in .*end of it/);
  }, "/jobs");

  test("a disk that is read-only before the first message", async ({ disk, driver }) => {
    await disk.remount("ro");
    await turn(driver, "one", "error");
    assertTold(driver, READ_ONLY);
    await disk.remount("rw");
    await turn(driver, "two", "answer");
  });
}

Deno.test({
  name: "circle: a job that fills the disk is told to have failed, and the next one works",
  ...onDisk,
  fn: () =>
    withSmallDisk({ dialect: "circle", folder: "/jobs" }, async ({ driver, home, server }) => {
      server.answer(({ messages }) => {
        // What has been said since the last reply; the end of a job may stand beside it.
        const last = messages.findLastIndex(({ role }) => role === "assistant");
        const texts = messages.slice(last + 1).map(({ content }) => String(content));
        const said = /^run (.*)$/m.exec(texts.join("\n"));
        if (said === null) return { text: "fine" };
        return { toolCalls: [{ name: "bash", args: { command: said[1], background: true } }] };
      });
      const run = async (command: string) => {
        await driver.send({ type: "follow_up", message: `run ${command}` });
        const { job } = await driver.weir.next(({ type, event, job }) =>
          type === "job" && event === "ended" && (job as { title: string }).title === command
        );
        const { status, reason } = job as { status: string; reason: string };
        return [status, reason];
      };
      assertEquals(await run("seq 1 300000; sleep 60"), ["failed", "output unavailable"]);
      for await (const { name } of Deno.readDir(`${home.home}/jobs`)) {
        await Deno.remove(`${home.home}/jobs/${name}`, { recursive: true });
      }
      assertEquals(await run("echo small"), ["done", "exit"]);
    }),
});

for (const dialect of ["nimlet", "pi"] as const) {
  for (const state of ["full", "read-only"] as const) {
    Deno.test({
      name: `${dialect}: settings are not lost on a disk that is ${state}`,
      ...onDisk,
      fn: () =>
        withSmallDisk({ dialect, folder: "" }, async ({ disk, driver, home }) => {
          const config = `${home.home}/config.jsonc`;
          const before = await Deno.readTextFile(config);
          const command = { type: "set_steering_mode", mode: "all" };
          if (state === "full") disk.fill();
          else await disk.remount("ro");
          const refused = await driver.weir.response(await driver.send(command));
          assert(refused.success === false || refused.ok === false, JSON.stringify(refused));
          assertMatch(String(refused.error), /config\.jsonc.*(?:No space left|Read-only)/);
          assertEquals(await Deno.readTextFile(config), before);
          if (state === "full") disk.free();
          else await disk.remount("rw");
          const done = await driver.weir.response(await driver.send(command));
          assert(done.success === true || done.ok === true, JSON.stringify(done));
          assertMatch(await Deno.readTextFile(config), /"steering_mode": ?"all"/);
        }),
    });
  }
}

for (const dialect of ["circle", "pi"] as const) {
  Deno.test({
    name: `${dialect}: a message that waits is not lost when the disk is full`,
    ...onDisk,
    fn: () =>
      withSmallDisk({ dialect, folder: "" }, async ({ disk, driver, server }) => {
        const gate = Promise.withResolvers<void>();
        server.reply({ gate: gate.promise, toolCalls: [{ name: "ls", args: {} }] });
        const finished = await driver.prompt("one");
        await server.waitForRequests(1);
        const message = `steer ${LONG}`;
        const answer = await driver.weir.response(await driver.send({ type: "steer", message }));
        assertEquals(answer.success, true, JSON.stringify(answer));
        disk.fill();
        gate.resolve();
        assertEquals(await finished(), "error");
        assertTold(driver, FULL);
        disk.free();
        await turn(driver, "two", "answer");
        const said = JSON.stringify(server.requests.at(-1)!.messages);
        assertMatch(said, /"two".*steer a long/);
      }),
  });

  Deno.test({
    name: `${dialect}: a name that a full disk does not take is refused`,
    ...onDisk,
    fn: () =>
      withSmallDisk({ dialect, folder: "" }, async ({ disk, driver }) => {
        const name = async (name: string) =>
          await driver.weir.response(await driver.send({ type: "set_session_name", name }));
        await turn(driver, "one", "answer");
        disk.fill();
        // What the last block still takes.
        while ((await name("a name ".repeat(11))).success);
        const refused = await name("b name ".repeat(11));
        assertMatch(String(refused.error), FULL);
        disk.free();
        assertEquals((await name("at last")).success, true);
        const state = await driver.weir.response(await driver.send({ type: "get_state" }));
        assertMatch(JSON.stringify(state), /"at last"/);
      }),
  });
}

Deno.test({
  name: "the tools that write tell of a full disk, and leave the old file whole",
  ...onDisk,
  fn: async () => {
    await using server = startModelServer();
    server.answer(() => ({ text: "fine" }));
    await using home = await prepareHome({ server, files: { "notes.txt": LONG } });
    await using disk = await mountSmallDisk(home.workspace);
    await using driver = await drive({ dialect: "circle", home });
    disk.fill();
    server.reply({
      toolCalls: [
        { name: "write", args: { path: "notes.txt", content: `new ${LONG}` } },
        { name: "write", args: { path: "more/new.txt", content: LONG } },
        {
          name: "edit",
          args: { path: "notes.txt", edits: [{ oldText: "a long", newText: "1", all: true }] },
        },
      ],
    });
    await turn(driver, "write", "answer");
    const results = driver.weir.records.filter(({ type }) => type === "tool_result");
    assertEquals(results.map(({ status }) => status), ["error", "error", "error"]);
    for (const { output } of results) assertMatch(String(output), /no space left on the disk/);
    assertEquals(await Deno.readTextFile(`${home.workspace}/notes.txt`), LONG);
    await driver.finish();
    await assertNoRests(home.workspace);
  },
});

Deno.test({
  name: "a one-shot run on a full disk fails with what to do",
  ...onDisk,
  fn: async () => {
    await using server = startModelServer();
    server.answer(() => ({ text: "fine" }));
    await using home = await prepareHome({ server });
    await using disk = await mountSmallDisk(home.home);
    disk.fill();
    for (const mode of [["-p"], ["--mode", "json"]]) {
      await using weir = await startWeir({
        args: [...mode, home.workspace, "hello"],
        home: home.home,
      });
      await weir.closeInput();
      assertEquals((await weir.waitForExit()).code, 1);
      assertMatch(weir.stderr, FULL);
    }
  },
});

Deno.test({
  name: "trust that a full disk cannot keep is told, and what was trusted stays so",
  ...onDisk,
  fn: async () => {
    await using home = await prepareHome();
    await using disk = await mountSmallDisk(home.home);
    const file = `${home.home}/trust.json`;
    const before = await Deno.readTextFile(file);
    const run = async () => {
      await Deno.mkdir(`${home.workspace}/other`, { recursive: true });
      const args = ["trust", `${home.workspace}/other`];
      await using weir = await startWeir({ args, home: home.home });
      await weir.closeInput();
      return { code: (await weir.waitForExit()).code, stderr: weir.stderr };
    };
    disk.fill();
    const refused = await run();
    assertMatch(refused.stderr, /trust\.json.*(?:No space left|disk is full)/);
    assert(refused.code !== 0);
    assertEquals(await Deno.readTextFile(file), before);
    disk.free();
    // Its own words on stdout are no records.
    await run().catch(() => {});
    assertMatch(await Deno.readTextFile(file), /other/);
    await assertNoRests(home.home);
  },
});
