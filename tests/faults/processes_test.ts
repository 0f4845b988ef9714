import { assert, assertEquals } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { DIALECTS, drive } from "./_drive.ts";
import { linuxOnly, memoryMiB, openFiles, TREE, waitForProcesses } from "./_processes.ts";
import { createRandom, rounds } from "./_rounds.ts";

for (const dialect of DIALECTS) {
  const atOnce = dialect === "nimlet" || dialect === "acp" ? ["end of input"] as const : [];
  for (const end of ["abort", "SIGTERM", "SIGINT", "SIGHUP", ...atOnce] as const) {
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
        if (end === "end of input") await driver.weir.closeInput();
        else driver.weir.kill(end);
        const { code } = await driver.weir.waitForExit();
        const interrupted = dialect === "nimlet" ? 0 : 130;
        assertEquals(
          code,
          { SIGTERM: 143, SIGINT: interrupted, SIGHUP: 129, "end of input": 0 }[end],
        );
        await waitForProcesses(driver, {
          what: "nothing is left",
          isSo: (pids) => pids.length === 0,
        });
        driver.check("midway");
      },
    });
  }

  Deno.test({
    name:
      `${dialect}: what SIGKILL leaves of a tree of commands is ended by the next process of the home`,
    ...linuxOnly,
    fn: async () => {
      await using server = startModelServer();
      server.reply({ toolCalls: [{ name: "bash", args: { command: TREE } }] });
      server.answer(() => ({ text: "fine" }));
      await using home = await prepareHome({ server });
      await using driver = await drive({ dialect, home });
      await driver.prompt("go");
      await waitForProcesses(driver, { what: "it runs", isSo: (pids) => pids.length >= 7 });
      driver.weir.kill("SIGKILL");
      await driver.weir.exit;
      const left = await driver.weir.livingProcesses();
      assert(left.length >= 5, `${left} outlived the program`);
      await using next = await drive({ dialect, home });
      assertEquals(await (await next.prompt("again"))(), "answer");
      await waitForProcesses(driver, {
        what: "nothing is left",
        isSo: (pids) => pids.length === 0,
      });
      const records = () => [...Deno.readDirSync(`${home.home}/running`)].length;
      // A record goes last, and stays for the next process if this one ends before.
      const deadline = Date.now() + 15_000;
      while (records() > 0 && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      assertEquals(records(), 0, "a record is left");
      await next.finish();
    },
  });

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
      await using driver = await drive({ dialect, home, heapMiB: 64 });
      const total = rounds(10);
      let before = { files: 0, memory: 0 };
      for (let round = 0; round < total; round++) {
        const ended = await driver.prompt("go");
        await new Promise((resolve) => setTimeout(resolve, random() * 60));
        await driver.abort();
        assertEquals(await ended(), "aborted");
        server.requests.length = 0;
        if (round % 20 === 19) await driver.startAnew();
        if (round === Math.floor(total / 3)) before = usedBy(driver.weir.pid);
      }
      await waitForProcesses(driver, {
        what: "only the program is left",
        isSo: (pids) => pids.length === 1,
      });
      const now = usedBy(driver.weir.pid);
      console.log(`${JSON.stringify(before)} after a third, ${JSON.stringify(now)} at the end`);
      assert(now.files <= before.files + 3, `${before.files} open files grew to ${now.files}`);
      assert(now.memory < before.memory + 60, `${before.memory} MiB grew to ${now.memory}`);
      const { temporaryFolder } = driver.weir;
      assertEquals([...Deno.readDirSync(temporaryFolder)], [], "a temporary file is left");
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
    for (let round = 0; round < rounds(8); round++) {
      const ended = await driver.prompt("go");
      await new Promise((resolve) => setTimeout(resolve, random() * 8));
      await Promise.all([driver.abort(), driver.abort()]);
      assert(["answer", "aborted"].includes(await ended()));
      assertEquals(await (await driver.prompt("again"))(), "answer", `round ${round}`);
    }
    await driver.finish();
  });
}

function usedBy(pid: number): { files: number; memory: number } {
  return { files: openFiles(pid), memory: Math.round(memoryMiB(pid)) };
}
