import { assert, assertEquals, assertMatch } from "@std/assert";
import { mountSmallDisk, needsSmallDisk, type SmallDisk } from "./_small_disk.ts";
import {
  beginsWith,
  goOn,
  messageIds,
  open,
  type Opener,
  runTurn,
  sessionPaths,
  type StoredSession,
  storeSession,
} from "./_stored_session.ts";

const onDisk = await needsSmallDisk();
const OPENERS: readonly Opener[] = ["circle", "pi"];
const LONG = "a long text ".repeat(2000);

const STATES = {
  "full": {
    begin: (disk: SmallDisk) => Promise.resolve(disk.fill()),
    end: (disk: SmallDisk) => Promise.resolve(disk.free()),
    told: /the disk is full, free some space and try again/,
  },
  "without a file left": {
    begin: (disk: SmallDisk) => Promise.resolve(disk.takeFiles()),
    end: (disk: SmallDisk) => Promise.resolve(disk.free()),
    told: /the disk is full, free some space and try again/,
  },
  "read-only": {
    begin: (disk: SmallDisk) => disk.remount("ro"),
    end: (disk: SmallDisk) => disk.remount("rw"),
    told: /the file system is read-only, make it writable/,
  },
};

/** Runs `test` with the folder of a stored session on a small disk. */
async function withStored(
  test: (use: { session: StoredSession; disk: SmallDisk }) => Promise<void>,
): Promise<void> {
  await using session = await storeSession();
  await using disk = await mountSmallDisk(session.path.slice(0, session.path.lastIndexOf("/")));
  await test({ session, disk });
}

for (const opener of OPENERS) {
  for (const [state, { begin, end, told }] of Object.entries(STATES)) {
    for (const isTorn of [false, true]) {
      const what = isTorn ? "a session with a torn line" : "a session";
      Deno.test({
        name: `${opener}: ${what} on a disk that is ${state} is not lost, and what to do is told`,
        ...onDisk,
        fn: () =>
          withStored(async ({ session, disk }) => {
            const { path, lines } = session;
            const bytes = isTorn ? session.bytes.slice(0, -20) : session.bytes;
            const last = lines.at(-1)!.bytes.length;
            const whole = isTorn ? session.bytes.slice(0, -last) : session.bytes;
            await Deno.writeFile(path, bytes);
            await begin(disk);
            {
              await using weir = await open(session, opener);
              const response = await Promise.race([
                weir.request({ type: "prompt", message: LONG }).catch(() => undefined),
                weir.waitForExit().then(() => undefined),
              ]);
              if (response?.success) await weir.settled();
              await weir.closeInput();
              await weir.waitForExit();
              assertMatch(`${JSON.stringify(weir.records)}${weir.stderr}`, told);
            }
            assert(beginsWith(await Deno.readFile(path), whole), "what was whole has changed");
            await end(disk);
            const { before } = await goOn(session, opener);
            const ids = lines.filter((line, index) =>
              line.isMessage && (!isTorn || index < lines.length - 1)
            ).map(({ id }) => id!);
            assertEquals(before.slice(0, ids.length), ids);
            assertEquals(await sessionPaths(session.home), [path]);
          }),
      });
    }

    // No file system becomes read-only while a file on it is open for writing.
    if (state === "read-only") continue;
    Deno.test({
      name: `${opener}: a session goes on in the same process when a disk is not ${state} any more`,
      ...onDisk,
      fn: () =>
        withStored(async ({ session, disk }) => {
          const { path, server, home } = session;
          await using weir = await open(session, opener);
          await runTurn(weir);
          const before = await messageIds(weir, opener);
          const stored = await Deno.readFile(path);
          // In the middle of a turn: the model is asked, its calls come when the disk has changed.
          const gate = Promise.withResolvers<void>();
          const asked = server.requests.length + 1;
          const args = { path: "notes.txt" };
          server.reply({ gate: gate.promise, text: LONG, toolCalls: [{ name: "read", args }] });
          await weir.request({ type: "prompt", message: "with a tool" });
          await server.waitForRequests(asked);
          await begin(disk);
          const from = weir.records.length;
          gate.resolve();
          await weir.settled();
          const records = JSON.stringify(weir.records.slice(from));
          // What is open can still grow where only new files have no place.
          if (state !== "without a file left") assertMatch(records, told);
          assert(beginsWith(await Deno.readFile(path), stored), "what was stored has changed");
          await end(disk);
          await runTurn(weir);
          const after = await messageIds(weir, opener);
          assertEquals(after.slice(0, before.length), before);
          await weir.closeInput();
          assertEquals((await weir.waitForExit()).code, 0, weir.stderr);
          assertEquals(server.complaints, []);
          assertEquals((await goOn(session, opener)).before, after);
          assertEquals(await sessionPaths(home), [path]);
        }),
    });
  }
}
