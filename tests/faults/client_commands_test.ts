/** The commands that a client runs itself, beside the agent: how they end, and what they leave. Only the pi dialect has them. */

import { assert, assertEquals } from "@std/assert";
import { type ModelServer, startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { drive, type Driver } from "./_drive.ts";
import {
  linuxOnly,
  memoryMiB,
  openFiles,
  TREE,
  waitForProcesses,
  waitForRest,
} from "./_processes.ts";
import { createRandom, rounds } from "./_rounds.ts";

interface Scene {
  readonly driver: Driver;
  readonly server: ModelServer;
  readonly running: string;
}

async function withPi(test: (scene: Scene) => Promise<void>): Promise<void> {
  await using server = startModelServer();
  server.answer(() => ({ text: "fine" }));
  await using home = await prepareHome({ server, contextWindow: 100_000_000 });
  await using driver = await drive({ dialect: "pi", home, timeoutMs: 60_000, heapMiB: 64 });
  await test({ driver, server, running: `${home.home}/running` });
}

async function bash(driver: Driver, command: string) {
  const id = await driver.send({ type: "bash", command });
  return async () => {
    const { data } = await driver.weir.response(id);
    return data as { output: string; exitCode?: number; cancelled: boolean };
  };
}

for (const end of ["abort_bash", "SIGTERM", "SIGINT", "SIGHUP", "new_session"] as const) {
  Deno.test({
    name: `pi: nothing of a tree that the client itself started survives ${end}`,
    ...linuxOnly,
    fn: () =>
      withPi(async ({ driver }) => {
        const ended = await bash(driver, TREE);
        await waitForProcesses(driver, { what: "it runs", isSo: (pids) => pids.length >= 7 });
        if (end.startsWith("SIG")) {
          driver.weir.kill(end as Deno.Signal);
          await driver.weir.waitForExit();
        } else await driver.weir.response(await driver.send({ type: end }));
        assertEquals((await ended()).cancelled, true);
        await waitForProcesses(driver, {
          what: "nothing of it is left",
          isSo: (pids) => pids.length <= 1,
        });
        if (end.startsWith("SIG")) return;
        assertEquals((await (await bash(driver, "echo again"))()).output, "again\n");
        await driver.finish();
      }),
  });
}

Deno.test({
  name: "pi: a command of the client that leaves something running is answered, and that is ended",
  ...linuxOnly,
  fn: () =>
    withPi(async ({ driver }) => {
      const commands = [
        "sleep 300 &",
        "sleep 300 & disown",
        "nohup sleep 300 > /dev/null 2>&1 &",
        "setsid sleep 300 &",
        "(sleep 300 &)",
        "sleep 300 | cat &",
      ];
      for (const command of commands) {
        const { cancelled, output } = await (await bash(driver, `${command} echo after`))();
        assertEquals([cancelled, output.includes("after")], [false, true], command);
      }
      await waitForProcesses(driver, {
        what: "nothing is left",
        isSo: (pids) => pids.length === 1,
      });
      await driver.finish();
    }),
});

Deno.test({
  name: "pi: commands of the client that are started and stopped leave nothing behind",
  ...linuxOnly,
  fn: () =>
    withPi(async ({ driver, running }) => {
      const { random } = createRandom();
      const total = rounds(20);
      const { pid, temporaryFolder } = driver.weir;
      let before = { files: 0, memory: 0 };
      for (let round = 0; round < total; round++) {
        const ends = [await bash(driver, "sleep 300 & sleep 300")];
        if (random() < 0.5) ends.push(await bash(driver, "echo one; sleep 300"));
        await new Promise((resolve) => setTimeout(resolve, random() * 40));
        const stops = [driver.send({ type: "abort_bash" }), driver.send({ type: "abort_bash" })];
        for (const id of await Promise.all(stops)) {
          assertEquals((await driver.weir.response(id)).success, true);
        }
        for (const ended of ends) assertEquals((await ended()).cancelled, true);
        if (round === Math.floor(total / 3)) {
          before = { files: openFiles(pid), memory: memoryMiB(pid) };
        }
      }
      await waitForProcesses(driver, {
        what: "only the program is left",
        isSo: (pids) => pids.length === 1,
      });
      const files = openFiles(pid);
      const memory = memoryMiB(pid);
      console.log(`${JSON.stringify(before)} after a third, ${files} files and ${memory} MiB now`);
      assert(files <= before.files + 3, `${before.files} open files grew to ${files}`);
      assert(memory < before.memory + 60, `${before.memory} MiB grew to ${memory}`);
      assertEquals([...Deno.readDirSync(temporaryFolder)], [], "a temporary file is left");
      await driver.finish();
      assertEquals([...Deno.readDirSync(running)], [], "a record of processes is left");
    }),
});

Deno.test({
  name: "pi: a client that does not read slows its own command down, and loses nothing of it",
  ...linuxOnly,
  fn: () =>
    withPi(async ({ driver }) => {
      const lines = rounds(3_000_000);
      const { weir } = driver;
      await weir.request({ type: "get_state" });
      const first = memoryMiB(weir.pid);
      weir.pauseReading();
      const ended = await bash(driver, `seq 1 ${lines}`);
      await waitForRest(weir.pid);
      assert((await weir.livingProcesses()).length > 1, "the command could write everything");
      const held = memoryMiB(weir.pid);
      weir.resumeReading();
      assertEquals((await ended()).exitCode, 0);
      const deltas = weir.records.filter(({ type }) => type === "bash_execution_update");
      let next = 1;
      let rest = "";
      for (const { delta } of deltas) {
        const parts = (rest + delta).split("\n");
        rest = parts.pop()!;
        for (const part of parts) {
          if (part !== String(next)) throw new Error(`${part} in the place of ${next}`);
          next++;
        }
      }
      assertEquals(next - 1, lines);
      console.log(`${first} MiB before, ${held} MiB while nobody reads`);
      assert(held < first + 150, `${first} MiB grew to ${held}`);
      await driver.finish();
    }),
});

Deno.test({
  name: "circle: stop_job ends a tree of commands",
  ...linuxOnly,
  fn: async () => {
    await using server = startModelServer();
    const args = { command: TREE, background: true };
    server.reply({ toolCalls: [{ name: "bash", args }] });
    server.answer(() => ({ text: "fine" }));
    await using home = await prepareHome({ server });
    await using driver = await drive({ dialect: "circle", home });
    assertEquals(await (await driver.prompt("go"))(), "answer");
    await waitForProcesses(driver, { what: "it runs", isSo: (pids) => pids.length >= 7 });
    const { data } = await driver.weir.request({ type: "list_jobs" });
    const [{ id: jobId }] = (data as { jobs: [{ id: string }] }).jobs;
    const answer = await driver.weir.request({ type: "stop_job", jobId });
    assertEquals(answer.success, true, JSON.stringify(answer));
    await waitForProcesses(driver, { what: "it is gone", isSo: (pids) => pids.length === 1 });
    driver.check("midway");
  },
});
