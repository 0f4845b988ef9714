import { assert, assertEquals } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { DIALECTS, drive, type Driver } from "./_drive.ts";
import { createRandom, rounds } from "./_rounds.ts";

/** A tree that does not want to end: deaf to SIGTERM, out of the group, without a parent, and holding the pipe. */
const TREE = [
  "trap '' TERM",
  "sleep 300 &",
  "setsid sleep 300 &",
  "(sleep 300 & ) &",
  "(setsid sh -c 'trap \"\" TERM; sleep 300; sleep 300' & ) &",
  "sleep 300",
].join("\n");

const linuxOnly = { ignore: Deno.build.os !== "linux" };

async function waitForProcesses(
  driver: Driver,
  { what, isSo }: { what: string; isSo: (pids: readonly number[]) => boolean },
): Promise<void> {
  const deadline = Date.now() + 15_000;
  for (;;) {
    const pids = await driver.weir.livingProcesses();
    if (isSo(pids)) return;
    if (Date.now() > deadline) throw new Error(`${what}: not within 15 s, there are ${pids}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

for (const dialect of DIALECTS) {
  for (const end of ["abort", "SIGTERM", "SIGINT", "SIGHUP"] as const) {
    Deno.test({
      name: `${dialect}: nothing of a tree of commands survives ${end}`,
      ...linuxOnly,
      fn: async () => {
        await using server = startModelServer();
        server.reply({ toolCalls: [{ name: "bash", args: { command: TREE } }] });
        server.answer(() => ({ text: "fine" }));
        await using home = await prepareHome({ server });
        await using driver = await drive({ dialect, home });
        const ended = await driver.prompt("go");
        await waitForProcesses(driver, { what: "it runs", isSo: (pids) => pids.length >= 7 });
        if (end === "abort") {
          await driver.abort();
          assertEquals(await ended(), "aborted");
          await waitForProcesses(driver, {
            what: "only the program is left",
            isSo: (pids) => pids.length === 1,
          });
          assertEquals(await (await driver.prompt("again"))(), "answer");
          return await driver.finish();
        }
        driver.weir.kill(end);
        const { code } = await driver.weir.waitForExit();
        const interrupted = dialect === "nimlet" ? 0 : 130;
        assertEquals(code, { SIGTERM: 143, SIGINT: interrupted, SIGHUP: 129 }[end]);
        await waitForProcesses(driver, {
          what: "nothing is left",
          isSo: (pids) => pids.length === 0,
        });
        driver.check("midway");
      },
    });
  }

  Deno.test({
    name: `${dialect}: a command that leaves something running does not hold up its call`,
    ...linuxOnly,
    fn: async () => {
      const commands = [
        "sleep 300 &",
        "sleep 300 & disown",
        "nohup sleep 300 &",
        "nohup sleep 300 > /dev/null 2>&1 &",
        "setsid sleep 300 &",
        "(sleep 300 &)",
        "sh -c 'sleep 300 & exec setsid sleep 300' &",
        "sleep 300 | cat &",
      ];
      await using server = startModelServer();
      for (const command of commands) {
        server.reply({ toolCalls: [{ name: "bash", args: { command: `${command} echo after` } }] });
        server.reply({ text: "fine" });
      }
      // What commands leave may start a turn when it ends.
      server.answer(() => ({ text: "fine" }));
      await using home = await prepareHome({ server });
      await using driver = await drive({ dialect, home });
      for (const command of commands) {
        assertEquals(await (await driver.prompt("go"))(), "answer", command);
      }
      await driver.finish();
      await waitForProcesses(driver, {
        what: "nothing is left",
        isSo: (pids) => pids.length === 0,
      });
    },
  });

  Deno.test({
    name: `${dialect}: commands that are started and aborted leave nothing behind`,
    ...linuxOnly,
    fn: async () => {
      const { random } = createRandom();
      await using server = startModelServer();
      server.answer(({ messages }) =>
        messages.at(-1)?.role === "tool"
          ? { text: "fine" }
          : { toolCalls: [{ name: "bash", args: { command: "sleep 300 & sleep 300" } }] }
      );
      // Each turn adds to the conversation, which is not what is looked at.
      await using home = await prepareHome({ server, contextWindow: 100_000_000 });
      await using driver = await drive({ dialect, home });
      const total = rounds(25);
      let files = 0;
      for (let round = 0; round < total; round++) {
        const ended = await driver.prompt("go");
        await new Promise((resolve) => setTimeout(resolve, random() * 60));
        await driver.abort();
        assertEquals(await ended(), "aborted");
        if (round === Math.floor(total / 3)) files = openFiles(driver.weir.pid);
      }
      await waitForProcesses(driver, {
        what: "only the program is left",
        isSo: (pids) => pids.length === 1,
      });
      const now = openFiles(driver.weir.pid);
      assert(now <= files + 3, `${files} open files grew to ${now}`);
      await driver.finish();
      const running = [...Deno.readDirSync(`${home.home}/running`)];
      assertEquals(running, [], "a record of processes is left");
    },
  });

  Deno.test(`${dialect}: an abort at the very end of a turn is answered, and the next turn works`, async () => {
    const { random } = createRandom();
    await using server = startModelServer();
    server.answer(() => ({ text: "fine" }));
    await using home = await prepareHome({ server, contextWindow: 100_000_000 });
    await using driver = await drive({ dialect, home });
    for (let round = 0; round < rounds(20); round++) {
      const ended = await driver.prompt("go");
      await new Promise((resolve) => setTimeout(resolve, random() * 8));
      await Promise.all([driver.abort(), driver.abort()]);
      assert(["answer", "aborted"].includes(await ended()));
      assertEquals(await (await driver.prompt("again"))(), "answer", `round ${round}`);
    }
    await driver.finish();
  });
}

function openFiles(pid: number): number {
  return [...Deno.readDirSync(`/proc/${pid}/fd`)].length;
}
