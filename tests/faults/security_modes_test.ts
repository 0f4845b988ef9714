/** Who may read what the program writes. With the real process. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { cleanEnvironment, defaultProgram, startWeir } from "../fakes/weir_process.ts";
import { withBench } from "./_circle_bench.ts";

const isUnix = Deno.build.os !== "windows";

/** Everything below a folder that others may look into, with its mode. */
function openToOthers(folder: string): string[] {
  const found: string[] = [];
  const look = (path: string) => {
    const info = Deno.lstatSync(path);
    const mode = info.mode! & 0o7777;
    const isPrivate = info.isDirectory ? mode === 0o700 : mode === 0o600;
    if (!isPrivate && !info.isSymlink) found.push(`${path} ${mode.toString(8)}`);
    if (info.isDirectory) {
      for (const { name } of Deno.readDirSync(path)) {
        look(`${path}/${name}`);
      }
    }
  };
  look(folder);
  return found;
}

/** The program under a umask that takes nothing away. */
function openHanded(): string[] {
  return ["sh", "-c", 'umask 000; exec "$@"', "sh", ...defaultProgram()];
}

Deno.test({
  name: "what the program writes is its user's alone, also with umask 000",
  ignore: !isUnix,
  fn: async () => {
    await using server = startModelServer();
    await using place = await prepareHome({ server, files: { "a.txt": "hello\n" } });
    for (const noSession of [false, true]) {
      const home = `${place.home}/fresh_${noSession}`;
      await using weir = await startWeir({
        args: [
          ...["--mode", "rpc", "--yolo", "--trust", ...(noSession ? ["--no-session"] : [])],
          place.workspace,
        ],
        home,
        program: openHanded(),
        env: {
          OPENAI_API_KEY: "test-key",
          OPENAI_BASE_URL: server.url,
          OPENAI_MODEL: "test-model",
        },
      });
      const commands = ["seq 1 60000", "sleep 100", "seq 1 60000; sleep 100"];
      server.reply(
        {
          toolCalls: [
            { name: "bash", args: { command: commands[0]! } },
            { name: "bash", args: { command: commands[1]!, background: true } },
            { name: "bash", args: { command: commands[2]!, background: true } },
          ],
        },
        { text: "ok" },
      );
      await weir.send({ type: "prompt", message: "go" });
      const results = (await weir.until((record) => record.type === "turn_end"))
        .filter(({ type }) => type === "tool_result").map(({ output }) => String(output));
      const [log] = /\/\S+\.log/.exec(results[0]!)!;
      assertStringIncludes(await Deno.readTextFile(log), "\n59999\n60000\n");
      if (noSession) {
        // Outside the home, under a name that nobody can guess.
        const folder = log.slice(0, log.lastIndexOf("/"));
        assert(!folder.startsWith(home) && /weir-[0-9a-z_-]{8,}$/i.test(folder), folder);
        assertEquals(openToOthers(folder), []);
      } else {
        await weir.request({ type: "set_session_name", name: "named" });
        const names = [...Deno.readDirSync(home)].map(({ name }) => name);
        for (const name of ["sessions", "jobs", "running"]) {
          assert(names.includes(name), names.join());
        }
        assertEquals(openToOthers(home), []);
      }
      weir.kill();
      assertEquals((await weir.waitForExit()).code, 143);
      if (!noSession) assertEquals(openToOthers(home), []);
    }
    const home = `${place.home}/fresh_false`;
    await using pi = await startWeir({
      args: ["--mode", "rpc", "--dialect", "pi"],
      home,
      cwd: place.workspace,
      program: openHanded(),
    });
    assertEquals(
      (await pi.request({ type: "set_steering_mode", mode: "all" })).success,
      true,
    );
    assertEquals(openToOthers(`${home}/config.jsonc`), []);
    await pi.closeInput();
    await pi.waitForExit();
    const stored = [...Deno.readDirSync(`${home}/sessions`)].flatMap(({ name }) =>
      [...Deno.readDirSync(`${home}/sessions/${name}`)].map((file) => file.name)
    ).find((name) => name.endsWith(".jsonl"))!;
    const id = stored.slice(stored.indexOf("_") + 1, -".jsonl".length);
    for (const args of [["export", id, "out.html"], ["trust", place.workspace]]) {
      const { code, stderr } = await runOpenHanded(args, { home, folder: place.workspace });
      assertEquals(code, 0, stderr);
    }
    assertEquals(openToOthers(`${place.workspace}/out.html`), []);
    assertEquals(openToOthers(home), []);
  },
});

async function runOpenHanded(
  args: readonly string[],
  { home, folder }: { home: string; folder: string },
): Promise<{ code: number; stderr: string }> {
  const [command, ...first] = openHanded();
  const { code, stderr } = await new Deno.Command(command!, {
    args: [...first, ...args],
    cwd: folder,
    clearEnv: true,
    env: { ...cleanEnvironment(folder), TMPDIR: "/tmp", WEIR_HOME: home },
    stdin: "null",
  }).output();
  return { code, stderr: new TextDecoder().decode(stderr) };
}

Deno.test({
  name: "another user reads nothing of a home",
  // Only root can be somebody else.
  ignore: Deno.build.os !== "linux" || Deno.uid() !== 0,
  fn: () =>
    withBench({}, async ({ server, turn, place }) => {
      server.reply({ text: "a secret answer" });
      await turn("go");
      await Deno.chmod(place.home.slice(0, place.home.lastIndexOf("/")), 0o755);
      for (const path of ["", "/config.jsonc", "/trust.json", "/sessions"]) {
        const { success, stdout } = await new Deno.Command("cat", {
          args: [place.home + path],
          uid: 65534,
          gid: 65534,
        }).output();
        assertEquals([success, stdout.length], [false, 0], path);
      }
      const { success } = await new Deno.Command("ls", {
        args: [place.home],
        uid: 65534,
        gid: 65534,
      }).output();
      assert(!success);
    }),
});
