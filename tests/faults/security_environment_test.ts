/** What the children of the real process get of its environment, and who may read what it writes. */

import { assert, assertEquals } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { defaultProgram, startWeir } from "../fakes/weir_process.ts";
import { allOf, withCircle } from "../program/_with_circle.ts";
import { withPi } from "../program/_with_pi.ts";
import { tryCalls } from "./_try_calls.ts";

const VALUE = "hush-8-15";

const SECRET_NAMES = [
  ...["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
  ...["AWS_SESSION_TOKEN", "AZURE_CLIENT_SECRET", "GITHUB_TOKEN", "GH_TOKEN", "NODE_AUTH_TOKEN"],
  ...["GOOGLE_APPLICATION_CREDENTIALS", "PGPASSWORD", "MYSQL_PWD", "SSHPASS", "DOCKER_AUTH_CONFIG"],
  ...["db_password", "Db_Password", "MY_SECRET", "SECRET_KEY_BASE", "HF_TOKEN", "SLACK_BOT_TOKEN"],
  ...["STRIPE_SECRET_KEY", "API_KEYS", "SIGNING_KEYS", "ENCRYPTION_KEY_V2", "KEY_PASSPHRASE"],
  ...["npm_config__auth", "CI_JOB_TOKEN", "VAULT_TOKEN", "GH_PAT", "STORAGE_CONNECTION_STRING"],
  // Its name says nothing, but a provider takes its key from it.
  "MY_PROVIDER",
];
/** The last one looks like a secret, but the configuration lists it. */
const KEPT = ["PLAIN", "SSH_AUTH_SOCK", "KEYBOARD", "AWS_REGION", "LISTED_TOKEN"];

const env = Object.fromEntries([...SECRET_NAMES, ...KEPT].map((name) => [name, VALUE]));
const extraConfig = {
  pass_environment: ["LISTED_TOKEN"],
  providers: { other: { baseUrl: "http://127.0.0.1:9/v1", apiKeyEnv: "MY_PROVIDER" } },
};

/** The text of `env` has all that children may have, and nothing else of ours. */
function assertKept(text: string): void {
  const names = text.split("\n").filter((line) => line.endsWith(`=${VALUE}`))
    .map((line) => line.slice(0, line.indexOf("=")));
  assertEquals(names.sort(), [...KEPT].sort());
}

/** The file once its last line is `end`; what there is of it when that takes too long. */
async function readWhenWritten(path: string): Promise<string> {
  for (let tries = 0;; tries++) {
    const text = await Deno.readTextFile(path).catch(() => "");
    if (text.endsWith("end\n") || tries === 1000) return text;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

Deno.test({
  name: "commands, jobs, subagents and servers get no secrets of the environment",
  ignore: Deno.build.os === "windows",
  async fn() {
    const tiny = new URL("../mcp/tiny_server.ts", import.meta.url).pathname;
    const script = 'env > server.vars; sh -c env > child.vars; exec "$@"';
    const argv = [Deno.execPath(), "run", "-A", "--no-config", tiny, "good"];
    const mcp = {
      servers: {
        tiny: { command: "sh", args: ["-c", script, "sh", ...argv], env: { OWN: VALUE } },
      },
    };
    const args = ["--yolo", "--extensions"];
    await withCircle({ args, env, extraConfig: { ...extraConfig, mcp } }, async (circle) => {
      const seen = await tryCalls(circle, [
        ["bash", { command: "env" }],
        ["bash", { command: "sh -c 'env; cat /proc/self/status >/dev/null'" }],
        ["bash", { command: "(env; echo end) > job.vars", background: true }],
        ["tiny_get_env_", { name: "GITHUB_TOKEN" }],
      ]);
      assertKept(seen[0].output);
      assertKept(seen[1].output);
      assertKept(await readWhenWritten(`${circle.workspace}/job.vars`));
      assertEquals(seen[3].output, "(unset)");
      for (const name of ["server.vars", "child.vars"]) {
        const text = await Deno.readTextFile(`${circle.workspace}/${name}`);
        assertEquals(text.split("\n").includes(`OWN=${VALUE}`), true);
        assertKept(text.replace(`OWN=${VALUE}\n`, ""));
      }
      circle.server.reply(
        {
          toolCalls: [{
            name: "task",
            args: { description: "look", prompt: "look", subagent_type: "general" },
          }],
        },
        {
          toolCalls: [{ name: "bash", args: { command: "env > sub.vars; echo end >> sub.vars" } }],
        },
        { text: "looked" },
        { text: "done" },
      );
      await circle.turn("go");
      assertKept(await readWhenWritten(`${circle.workspace}/sub.vars`));
    });
    await withPi({ env, extraConfig }, async (pi) => {
      const data = await pi.data({ type: "bash", command: "env" });
      assertKept(String(data.output));
    });
  },
});

/** Everything below a folder that others may use in any way, as `<mode> <path>`. */
async function openToOthers(folder: string): Promise<string[]> {
  const open: string[] = [];
  const look = async (path: string) => {
    const info = await Deno.lstat(path);
    if (!info.isSymlink && ((info.mode ?? 0) & 0o077) !== 0) {
      open.push(`${((info.mode ?? 0) & 0o777).toString(8)} ${path}`);
    }
    if (!info.isDirectory) return;
    for await (const { name } of Deno.readDir(path)) await look(`${path}/${name}`);
  };
  await look(folder);
  return open;
}

Deno.test({
  name: "what is written is for its user alone, whatever the umask",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using server = startModelServer();
    await using place = await prepareHome({ server });
    const home = place.home.replace(/home$/, "new/home");
    const program = ["sh", "-c", 'umask 000; exec "$@"', "sh", ...defaultProgram()];
    const own = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: server.url, OPENAI_MODEL: "test-model" };
    const common = { home, env: own, program };
    for (const dialect of ["circle", "nimlet", "pi"]) {
      const storing = dialect === "pi" ? ["--session-dir", `${home}/elsewhere/deep`] : [];
      await using weir = await startWeir({
        ...common,
        args: [
          ...["--mode", "rpc", "--dialect", dialect, "--trust", "--yolo", ...storing],
          ...(dialect === "pi" ? [] : [place.workspace]),
        ],
        cwd: place.workspace,
      });
      const isOver = { circle: "agent_settled", pi: "agent_settled", nimlet: "run_end" }[dialect]!;
      server.reply({
        toolCalls: [
          // More than is told at once, so that it is kept in a file.
          { name: "bash", args: { command: "seq 1 30000" } },
          {
            name: "bash",
            args: { command: "until test -e go; do sleep 0.05; done", background: true },
          },
        ],
      });
      server.answer(() => ({ text: "done" }));
      await weir.request({ type: "prompt", message: "go" });
      await weir.next(({ type, event }) => type === isOver || event === isOver);
      if (dialect === "pi") {
        await weir.request({ type: "set_steering_mode", mode: "all" });
        const file = `${home}/out.html`;
        const { data } = await weir.request({ type: "export_html", outputPath: file });
        assertEquals((data as { path: string }).path, file);
      }
      // Also while it runs: locks, records of processes, logs.
      assertEquals(await openToOthers(`${home}/..`), []);
      await Deno.writeTextFile(`${place.workspace}/go`, "");
      await weir.closeInput();
      await weir.waitForExit();
      await Deno.remove(`${place.workspace}/go`);
      assertEquals(await openToOthers(`${home}/..`), []);
    }
    const names: string[] = [];
    for await (const { name } of Deno.readDir(home)) names.push(name);
    for (const name of ["config.jsonc", "jobs", "sessions", "elsewhere", "out.html"]) {
      assert(names.includes(name), `${name} of ${names}`);
    }
    const [sh, ...before] = program;
    const { code } = await new Deno.Command(sh, {
      args: [...before, "trust", place.workspace],
      env: { WEIR_HOME: home },
      stdout: "null",
    }).output();
    assertEquals(code, 0);
    assert((await Deno.stat(`${home}/trust.json`)).isFile);
    assertEquals(await openToOthers(home), []);
  },
});

Deno.test({
  name:
    "files of the workspace get the modes that the user's umask gives, and keep those they have",
  ignore: Deno.build.os === "windows",
  async fn() {
    for (const [umask, mode] of [["022", 0o644], ["077", 0o600]] as const) {
      await using server = startModelServer();
      await using place = await prepareHome({ server });
      const { workspace } = place;
      await Deno.writeTextFile(`${workspace}/private.txt`, "a\n");
      await Deno.chmod(`${workspace}/private.txt`, 0o640);
      await Deno.writeTextFile(`${workspace}/run.sh`, "a\n");
      await Deno.chmod(`${workspace}/run.sh`, 0o755);
      await using weir = await startWeir({
        args: ["--mode", "rpc", "--yolo", workspace],
        home: place.home,
        program: ["sh", "-c", `umask ${umask}; exec "$@"`, "sh", ...defaultProgram()],
      });
      const edit = (path: string) => ({ name: "edit", args: { path, oldText: "a", newText: "b" } });
      server.reply(
        {
          toolCalls: [
            { name: "write", args: { path: "made/new.txt", content: "x" } },
            { name: "write", args: { path: "private.txt", content: "a\n" } },
            ...[edit("private.txt"), edit("run.sh")],
          ],
        },
        { text: "done" },
      );
      await weir.request({ type: "prompt", message: "go" });
      for (const { status } of allOf(await weir.settled(), "tool_result")) {
        assertEquals(status, "success");
      }
      const modes: number[] = [];
      for (const path of ["made/new.txt", "private.txt", "run.sh"]) {
        modes.push(((await Deno.stat(`${workspace}/${path}`)).mode ?? 0) & 0o777);
      }
      assertEquals(modes, [mode, 0o640, 0o755]);
    }
  },
});

Deno.test({
  name:
    "what is kept for a run without a session is in a private folder with a name that nobody guesses",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using server = startModelServer();
    await using place = await prepareHome({ server });
    const temporary = `${place.workspace}/../temporary`;
    await Deno.mkdir(temporary, { mode: 0o777 });
    await Deno.chmod(temporary, 0o777);
    await using weir = await startWeir({
      args: ["--mode", "rpc", "--yolo", "--no-session", place.workspace],
      home: place.home,
      env: { TMPDIR: temporary },
      program: ["sh", "-c", 'umask 000; exec "$@"', "sh", ...defaultProgram()],
    });
    server.reply(
      { toolCalls: [{ name: "bash", args: { command: "seq 1 30000" } }] },
      { text: "done" },
    );
    await weir.request({ type: "prompt", message: "go" });
    await weir.settled();
    const folders: string[] = [];
    for await (const { name } of Deno.readDir(temporary)) folders.push(name);
    assertEquals(folders.length, 1);
    assert(/^weir-[0-9a-zA-Z]{8,}$/.test(folders[0]), folders[0]);
    assertEquals(await openToOthers(`${temporary}/${folders[0]}`), []);
    await weir.closeInput();
    await weir.waitForExit();
    assertEquals([...Deno.readDirSync(temporary)], []);
  },
});
