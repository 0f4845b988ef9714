import { assert, assertEquals } from "@std/assert";
import { type ModelServer, startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { type DialectName, DIALECTS, drive, type Driver } from "./_drive.ts";
import { cpuTicks, linuxOnly, waitForProcesses } from "./_processes.ts";

/** What the program is doing when its client goes. */
interface Moment {
  /** Those that have it; default: all. */
  readonly dialects?: readonly DialectName[];
  readonly args?: readonly string[];
  /** Brings it about. `held` is settled once the rest may go on; a file `go` appears in the workspace then too. */
  begin(driver: Driver, options: { server: ModelServer; held: Promise<void> }): Promise<void>;
  /** What the model is sent last holds it, where the end of the input lets work finish. */
  readonly rest?: string;
}

const WAIT = 'while [ ! -e go ]; do sleep 0.02; done; echo "it went on"';
const TOO_LONG = {
  status: 400,
  body: { error: { message: "maximum context length exceeded", code: "context_length_exceeded" } },
};

const MOMENTS: Readonly<Record<string, Moment>> = {
  "nothing happens": {
    async begin(driver, { server }) {
      server.reply({ text: "fine" });
      assertEquals(await (await driver.prompt("go"))(), "answer");
    },
  },
  "a request is open": {
    async begin(driver, { server, held }) {
      server.reply({ gate: held, text: "fine" });
      await driver.prompt("go");
      await server.waitForRequests(1);
    },
  },
  "an answer comes": {
    async begin(driver, { server, held }) {
      // Text that comes right after the first piece may be held for some milliseconds, a whole chunk is not.
      server.reply({
        text: ["it begins ".repeat(2000), "and ends"],
        pieceGate: { after: 1, gate: held },
      });
      if (driver.dialect === "circle") {
        await driver.weir.request({ type: "set_event_detail", detail: "full" });
      }
      await driver.prompt("go");
      await driver.weir.next((record) => JSON.stringify(record).includes("it begins"));
    },
  },
  "a command runs": {
    async begin(driver, { server }) {
      server.reply({ toolCalls: [{ name: "bash", args: { command: `sleep 300 & ${WAIT}` } }] });
      await driver.prompt("go");
      await waitForProcesses(driver, { what: "it runs", isSo: (pids) => pids.length >= 3 });
    },
    rest: "it went on",
  },
  "a request waits to be made again": {
    async begin(driver, { server }) {
      const seconds = endsAtOnce(driver.dialect) ? "300" : "1";
      server.reply({ status: 503, headers: { "retry-after": seconds }, body: { error: {} } });
      await driver.prompt("go");
      await server.waitForRequests(1);
      // Not every dialect tells of it.
      await new Promise((resolve) => setTimeout(resolve, 100));
    },
  },
  "it makes the conversation shorter": {
    async begin(driver, { server, held }) {
      server.reply({ text: "fine" }, TOO_LONG, { gate: held, text: "a summary" });
      assertEquals(await (await driver.prompt("long ".repeat(20_000)))(), "answer");
      await driver.prompt("short");
      await server.waitForRequests(3);
    },
  },
  "a call waits to be allowed": {
    dialects: ["pi", "acp"],
    args: ["--approvals", "ask"],
    async begin(driver, { server }) {
      server.reply({ toolCalls: [{ name: "bash", args: { command: "touch allowed" } }] });
      await driver.prompt("go");
      await driver.weir.next((record) =>
        record.type === "extension_ui_request" || record.method === "session/request_permission"
      );
    },
    rest: "nobody can answer",
  },
  "a job runs": {
    async begin(driver, { server }) {
      // Here the end of the job is waited for, and with it that of everything it started.
      const more = driver.dialect === "circle" ? "" : "sleep 300 & ";
      const args = { command: more + WAIT, background: true };
      server.reply({ toolCalls: [{ name: "bash", args }] }, { text: "fine" });
      assertEquals(await (await driver.prompt("go"))(), "answer");
      await waitForProcesses(driver, { what: "it runs", isSo: (pids) => pids.length >= 2 });
    },
  },
  "a command of the client runs": {
    dialects: ["pi"],
    async begin(driver) {
      await driver.send({ type: "bash", command: `sleep 300 & ${WAIT}` });
      await waitForProcesses(driver, { what: "it runs", isSo: (pids) => pids.length >= 3 });
    },
  },
};

/** Whether the end of the input stops what runs. */
function endsAtOnce(dialect: DialectName): boolean {
  return dialect === "nimlet" || dialect === "acp";
}

for (const [what, moment] of Object.entries(MOMENTS)) {
  for (const dialect of moment.dialects ?? DIALECTS) {
    Deno.test({
      name: `${dialect}: the input ends while ${what}`,
      ...linuxOnly,
      fn: () =>
        withMoment(dialect, moment, async ({ driver, server, release, workspace }) => {
          await driver.weir.closeInput();
          // What is stopped may not wait for anybody.
          if (!endsAtOnce(dialect)) await release();
          const { code } = await driver.weir.waitForExit();
          assertEquals(code, 0, driver.weir.stderr);
          driver.check();
          await waitForProcesses(driver, { what: "none is left", isSo: (pids) => !pids.length });
          const last = JSON.stringify(server.requests.at(-1)?.messages ?? "");
          const { rest } = moment;
          if (rest !== undefined && !endsAtOnce(dialect)) assert(last.includes(rest), last);
          assert(![...Deno.readDirSync(workspace)].some(({ name }) => name === "allowed"));
          assertEquals(server.complaints, []);
        }),
    });

    if (what === "nothing happens") continue;
    Deno.test({
      name: `${dialect}: the client reads no more while ${what}, and its input stays open`,
      ...linuxOnly,
      fn: () =>
        withMoment(dialect, moment, async ({ driver, release }) => {
          await driver.weir.closeOutput();
          if (what === "a job runs") {
            // The client may still say something, so nothing ends by itself; and nothing computes.
            const before = cpuTicks(driver.weir.pid);
            await new Promise((resolve) => setTimeout(resolve, 1000));
            const ticks = cpuTicks(driver.weir.pid) - before;
            assert(ticks < 50, `${ticks} hundredths of a second computed in one second`);
            await driver.weir.closeInput();
          }
          const { code } = await driver.weir.waitForExit();
          assertEquals(code, 0, driver.weir.stderr);
          await waitForProcesses(driver, { what: "none is left", isSo: (pids) => !pids.length });
          await release();
        }),
    });
  }
}

interface Scene {
  readonly driver: Driver;
  readonly server: ModelServer;
  readonly workspace: string;
  /** Lets everything go on that waits. */
  release(): Promise<void>;
}

async function withMoment(
  dialect: DialectName,
  moment: Moment,
  test: (scene: Scene) => Promise<void>,
): Promise<void> {
  const held = Promise.withResolvers<void>();
  await using server = startModelServer();
  server.answer(() => ({ text: "fine" }));
  await using home = await prepareHome({ server });
  await using driver = await drive({ dialect, home, args: moment.args });
  const { workspace } = home;
  const release = async () => {
    held.resolve();
    await Deno.writeTextFile(`${workspace}/go`, "");
  };
  try {
    await moment.begin(driver, { server, held: held.promise });
    // What was held back is asked for by nobody yet.
    await test({ driver, server, workspace, release });
  } finally {
    held.resolve();
  }
}
