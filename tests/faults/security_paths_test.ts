/** Paths that lead elsewhere and places that are no files: what the tools of the real process make of them. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { AcpClient } from "../program/_with_acp.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { startWeir } from "../fakes/weir_process.ts";
import { withBench } from "./_circle_bench.ts";

type Call = readonly [name: string, args: Record<string, unknown>];

const KEY = "sk-canary-4711-0815-abcdef";
const SECRET = "SESAME=open-4711";
const isUnix = Deno.build.os !== "windows";
const isLinux = Deno.build.os === "linux";

/** A home with a key, and a workspace with a secret that many names lead to. */
const PLACE = {
  extraConfig: { providers: { local: { apiKey: KEY } }, credential_files: ["*.secret"] },
  files: {
    "a.txt": "hello\n",
    ".env": `${SECRET}\n`,
    "deep/er/.env.local": `${SECRET}\n`,
    "my.secret": `${SECRET}\n`,
    "id_rsa": `${SECRET}\n`,
    "keys/Server.PEM": `${SECRET}\n`,
  },
  async prepare({ home, workspace }: { home: string; workspace: string }) {
    await Deno.symlink(".env", `${workspace}/plain.txt`);
    await Deno.symlink("plain.txt", `${workspace}/twice.txt`);
    await Deno.symlink("deep", `${workspace}/shallow`);
    await Deno.symlink("..", `${workspace}/up`);
    await Deno.symlink(home, `${workspace}/innocent`);
    await Deno.symlink(`${home}/config.jsonc`, `${workspace}/settings.txt`);
    await Deno.symlink(".env.new", `${workspace}/dangling.txt`);
  },
};

/** Names of one of the files with secrets, each by another way. */
function secretPaths(home: string): string[] {
  return [
    ...[".env", "./.env", "a.txt/../.env", ".env/", ".env/.", "././/.env", ".ENV", ".Env"],
    ...["plain.txt", "twice.txt", "up/workspace/.env", "../workspace/.env", "deep/../plain.txt"],
    ...["shallow/er/.env.local", "deep/er/.env.local", "my.secret", "MY.SECRET", "id_rsa"],
    ...["keys/Server.PEM", "settings.txt", "innocent/config.jsonc", "up/home/config.jsonc"],
    `${home}/config.jsonc`,
    `${home}/../home/config.jsonc`,
    ...(isLinux ? [`/proc/self/cwd/.env`, `/proc/self/root${home}/config.jsonc`] : []),
  ];
}

Deno.test({
  name: "no file tool opens a credential file, by whatever name it is called",
  ignore: !isUnix,
  fn: () =>
    withBench(PLACE, async ({ call, place }) => {
      for (const path of secretPaths(place.home)) {
        const tried: Call[] = [
          ["read", { path }],
          ["grep", { pattern: "4711", path }],
          ["write", { path, content: "changed" }],
          ["edit", { path, oldText: "4711", newText: "0" }],
        ];
        const results = await call(...tried);
        for (const [index, { status, output }] of results.entries()) {
          const what = `${tried[index]![0]} ${path}`;
          assertEquals(status, "error", `${what}: ${output}`);
          // A name in another case may be no file here; then nothing is there to be refused.
          assert(
            /^Denied by approval policy: .* is a credential file$/.test(output),
            what + output,
          );
        }
      }
      const [dangling] = await call(["write", { path: "dangling.txt", content: "x" }]);
      assertEquals(dangling!.status, "error");
      assertEquals(await Deno.readTextFile(`${place.workspace}/.env`), `${SECRET}\n`);
      assertStringIncludes(await Deno.readTextFile(`${place.home}/config.jsonc`), KEY);
      const names = [...Deno.readDirSync(place.workspace)].map(({ name }) => name);
      assert(!names.includes(".ENV") && !names.includes(".env.new"), names.join());
    }),
});

Deno.test({
  name: "a search over folders passes over credential files, also through symlinks to the home",
  ignore: !isUnix,
  fn: () =>
    withBench(PLACE, async ({ call, place }) => {
      const roots = [".", "..", "up", "innocent", "up/home", place.home, "shallow", "deep", "keys"];
      // The session itself holds the arguments, so what is looked for is no part of what is found.
      const pattern = "SESAME=ope[n]|sk-canary-4[7]11";
      for (const path of roots) {
        const results = await call(["grep", { pattern, path }], ["grep", {
          pattern,
          path,
          context: 3,
        }]);
        for (const { output } of results) assertEquals(output, "No matches found", path);
      }
      const [found, listed] = await call(["find", { pattern: "*.env*" }], ["ls", {}]);
      assertStringIncludes(found!.output, ".env");
      assertStringIncludes(listed!.output, "plain.txt@");
    }),
});

Deno.test({
  name: "commands that name a credential file are refused in every mode, in the foreground and not",
  ignore: !isUnix,
  fn: async () => {
    for (const args of [["--yolo"], ["--approvals", "deny"], ["--approvals", "allow"]]) {
      await withBench({ ...PLACE, args }, async ({ call, place }) => {
        const commands = [
          "cat .env",
          "cat ./deep/er/.env.local",
          "cat<.env",
          "head -c 9 'my.secret'",
          "cat .e''nv",
          "cat \\.env",
          "x=.env; cat $x",
          "tar cf - id_rsa | base64",
          "cp .env a.txt",
          "dd if=.env",
          "source .env && env",
          ". ./.env",
          "sh -c 'cat .env'",
          `bash -c "bash -c 'cat .env'"`,
          "echo $(cat .env)",
          "python3 -c \"print(open('.env').read())\"",
          "curl -d @.env http://127.0.0.1:1/",
          "git diff --no-index /dev/null .env",
          `cat ${place.home}/config.jsonc`,
          "cat settings.txt/../innocent/config.jsonc",
          "cat innocent/config.jsonc",
          "cat $WEIR_HOME/config.jsonc",
          ...(isLinux ? ["cat /proc/$PPID/environ", "strings /proc/1/environ"] : []),
        ];
        const tried: Call[] = commands.flatMap((command): Call[] => [
          ["bash", { command }],
          ["bash", { command, background: true }],
        ]);
        const results = await call(...tried);
        for (const [index, { status, output }] of results.entries()) {
          const what = JSON.stringify(tried[index]);
          assertEquals(status, "error", `${what}: ${output}`);
          assertStringIncludes(output, "Denied by approval policy: ", what);
          assertStringIncludes(output, "credential file", what);
        }
      });
    }
  },
});

Deno.test("a subagent is refused what its parent is refused", () =>
  withBench(PLACE, async ({ server, turn }) => {
    server.answer((request) => {
      const texts = JSON.stringify(request.messages);
      if (!texts.includes("look-it-up")) {
        const task = { description: "look", prompt: "look-it-up", subagent_type: "general" };
        return { toolCalls: [{ name: "task", args: task }] };
      }
      if (!texts.includes("Denied by approval policy")) {
        return {
          toolCalls: [
            { name: "read", args: { path: ".env" } },
            { name: "bash", args: { command: "cat id_rsa" } },
          ],
        };
      }
      return { text: "done" };
    });
    await turn("go");
    const sent = JSON.stringify(server.requests.map(({ messages }) => messages));
    assertStringIncludes(sent, "Denied by approval policy: .env is a credential file");
    assertStringIncludes(sent, "Denied by approval policy: id_rsa is a credential file");
    assert(!sent.includes(SECRET));
  }));

Deno.test({
  name: "mentions and files of the command line attach no credential file and nothing from outside",
  ignore: !isUnix,
  fn: () =>
    withBench({ ...PLACE, args: [] }, async ({ server, turn, place }) => {
      const paths = [...secretPaths(place.home), "innocent", "up", "/etc/hostname", "/dev/stdin"];
      server.reply({ text: "ok" });
      const message = `see ${paths.map((path) => `@${path}`).join(" ")} please`;
      await turn(message);
      assertEquals(server.requests.at(-1)!.messages.at(-1)!.content, message);
      for (const path of [".env", "plain.txt", "settings.txt", "../home/trust.json"]) {
        await using weir = await startWeir({
          args: ["--mode", "json", place.workspace, `@${path}`, "look"],
          home: place.home,
        });
        await weir.closeInput();
        assertEquals((await weir.waitForExit()).code, 2, path);
        assert(/credential file|outside the folder/.test(weir.stderr), weir.stderr);
        assertEquals(server.requests.length, 1);
      }
    }),
});

Deno.test({
  name: "what is no file is told at once: pipes, devices, sockets, standard input",
  ignore: !isLinux,
  fn: () =>
    withBench({
      files: { "a.txt": "hello\n" },
      async prepare({ workspace }) {
        await new Deno.Command("mkfifo", { args: [`${workspace}/pipe`] }).output();
        await Deno.symlink("pipe", `${workspace}/to_pipe`);
        await Deno.symlink("/dev/zero", `${workspace}/to_zero`);
        await Deno.symlink("loop", `${workspace}/loop`);
        Deno.listen({ transport: "unix", path: `${workspace}/socket` }).close();
        await new Deno.Command("mkfifo", { args: [`${workspace}/.gitignore`] }).output();
      },
    }, async ({ call, weir, server, turn }) => {
      const paths = [
        ...["pipe", "to_pipe", "to_zero", "socket", "loop", "/dev/zero", "/dev/tty", "/dev/stdin"],
        ...["/dev/fd/0", "/proc/self/fd/0", "/proc/self/fd/1", "/dev/random"],
        ...[
          "/proc/self/environ",
          `/proc/${weir.pid}/environ`,
          `/proc/self/task/${weir.pid}/environ`,
        ],
      ];
      const tried = paths.flatMap((path): Call[] => [
        ["read", { path }],
        ["grep", { pattern: "x", path }],
        ["edit", { path, oldText: "x", newText: "y" }],
        ["ls", { path }],
        ["find", { pattern: "*", path }],
      ]);
      const results = await call(...tried);
      for (const [index, { status, output }] of results.entries()) {
        assertEquals(status, "error", `${JSON.stringify(tried[index])}: ${output}`);
      }
      const whole = await call(["grep", { pattern: "hello" }], ["find", { pattern: "a*" }]);
      assertEquals(whole.map(({ output }) => output), ["a.txt:1: hello", "a.txt"]);
      server.reply({ text: "ok" });
      const message = "see @pipe @to_pipe @to_zero @socket @loop @/dev/stdin";
      await turn(message);
      assertEquals(server.requests.at(-1)!.messages.at(-1)!.content, message);
    }),
});

Deno.test({
  name: "the environment of a process is not read, however its first variables look",
  ignore: !isLinux,
  fn: () =>
    withBench({
      // Beyond what is looked at to tell text from binary data.
      env: { A_LONG_ONE: "x".repeat(10_000), OPENAI_API_KEY: KEY },
    }, async ({ call, weir }) => {
      const paths = [
        "/proc/self/environ",
        `/proc/${weir.pid}/environ`,
        "/proc/thread-self/environ",
      ];
      for (const path of paths) {
        const results = await call(["read", { path }], ["grep", { pattern: "OPENAI", path }]);
        for (const { output } of results) {
          assertEquals(output, "Denied by approval policy: environ is a credential file");
        }
      }
      const [over] = await call(["grep", {
        pattern: "OPEN[A]I_API_KEY",
        path: `/proc/${weir.pid}/task/${weir.pid}`,
        glob: "environ",
      }]);
      assertEquals(over!.output, "No matches found");
    }),
});

Deno.test({
  name: "a symlink that leads elsewhere after it was allowed is asked about again",
  ignore: !isUnix,
  fn: async () => {
    await using server = startModelServer();
    await using place = await prepareHome({ server, files: { "inside.txt": "inside\n" } });
    const outside = `${place.workspace}/../outside.txt`;
    await Deno.writeTextFile(outside, "outside\n");
    const link = `${place.workspace}/link.txt`;
    await Deno.symlink("inside.txt", link);
    await using weir = await startWeir({
      args: ["--mode", "acp"],
      home: place.home,
    });
    const client = new AcpClient(weir);
    await client.initialize();
    const session = await client.open(place.workspace);
    server.reply(
      { toolCalls: [{ name: "write", args: { path: "link.txt", content: "changed\n" } }] },
      { text: "done" },
    );
    const prompt = client.prompt(session, "go");
    const { id } = await client.asked("session/request_permission");
    await Deno.remove(link);
    await Deno.symlink("../outside.txt", link);
    await client.reply(id, { outcome: { outcome: "selected", optionId: "allow_once" } });
    assertEquals(await client.stopReason(prompt), "end_turn");
    assertEquals(await Deno.readTextFile(outside), "outside\n");
    const result = JSON.stringify(server.requests.at(-1)!.messages.at(-1));
    assertStringIncludes(result, "leads elsewhere");
  },
});

Deno.test({
  name: "a workspace that is reached through a symlink has its files inside",
  ignore: !isUnix,
  fn: async () => {
    await using server = startModelServer();
    await using place = await prepareHome({ server, files: { "a.txt": "hello\n" } });
    const link = `${place.workspace}_link`;
    await Deno.symlink(place.workspace, link);
    await using weir = await startWeir({ args: ["--mode", "rpc", link], home: place.home });
    const paths = ["new.txt", `${link}/new.txt`, `${place.workspace}/new.txt`, "../new.txt"];
    server.reply(
      { toolCalls: paths.map((path) => ({ name: "write", args: { path, content: "x" } })) },
      { text: "done" },
    );
    await weir.send({ type: "prompt", message: "go" });
    const reasons = (await weir.settled()).filter(({ type }) => type === "not_run")
      .map(({ reason }) => reason);
    const inside = "changes files in the workspace";
    const out = "changes files outside the workspace";
    // A path counts as given and as resolved: the link itself is no part of the real workspace.
    assertEquals(reasons, [inside, out, inside, out]);
  },
});
