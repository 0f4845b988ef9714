/** The bundle, run from a URL with all permissions, with the narrow set and with each of its flags missing. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { bundle } from "../../scripts/bundle.ts";
import { type ModelServer, startModelServer } from "../fakes/model_server.ts";
import { type PreparedHome, prepareHome } from "../fakes/prepare_home.ts";
import type { Reply } from "../fakes/reply.ts";
import { cleanEnvironment, startWeir, type WeirProcess } from "../fakes/weir_process.ts";
import { allOf } from "./_with_circle.ts";

interface Place {
  readonly url: string;
  readonly server: ModelServer;
  readonly home: PreparedHome;
  /** The flags of the README, by their names. */
  readonly flags: Readonly<Record<string, string>>;
  /** A cache of its own for Deno. */
  readonly env: Record<string, string>;
}

let program: Promise<string> | undefined;

async function readBundle(): Promise<string> {
  return await Deno.readTextFile(await bundle());
}

async function withPlace(
  replies: readonly Reply[],
  test: (place: Place) => Promise<void>,
): Promise<void> {
  const code = await (program ??= readBundle());
  await using web = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response(code, { headers: { "content-type": "text/javascript" } }),
  );
  await using server = startModelServer();
  server.reply(...replies);
  await using home = await prepareHome({ server });
  const cache = await Deno.makeTempDir({ prefix: "weir_url_" });
  const folders = `${home.workspace},${home.home}`;
  try {
    await test({
      url: `http://127.0.0.1:${web.addr.port}/weir.js`,
      server,
      home,
      flags: {
        read: `--allow-read=${folders}`,
        write: `--allow-write=${folders}`,
        net: `--allow-net=${new URL(server.url).host}`,
        env: "--allow-env",
        run: "--allow-run=bash",
      },
      env: { DENO_DIR: cache },
    });
    assertEquals([server.complaints, server.unused], [[], 0]);
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
}

function start(
  { url, home, env }: Place,
  flags: readonly string[],
  args: readonly string[] = [],
): Promise<WeirProcess> {
  return startWeir({
    program: [Deno.execPath(), "run", ...flags, url],
    args: ["--mode", "rpc", "--trust", "--yolo", ...args, home.workspace],
    home: home.home,
    env,
  });
}

/** All flags but some. */
function without(place: Place, ...names: string[]): string[] {
  return Object.entries(place.flags).filter(([name]) => !names.includes(name)).map(([, f]) => f);
}

/** One turn, then the end; what Weir said about itself, without Deno's lines about the download. */
async function turn(weir: WeirProcess, message: string) {
  await weir.request({ type: "prompt", message });
  const records = await weir.settled();
  await weir.closeInput();
  assertEquals(await weir.waitForExit(), { code: 0, signal: null }, weir.stderr);
  return { records, said: saidIn(weir.stderr) };
}

function saidIn(stderr: string): string[] {
  return stderr.split("\n").filter((line) => line !== "" && !line.startsWith("Download "));
}

function offered(server: ModelServer): string[] {
  const tools = server.requests[0]!.body.tools as { function: { name: string } }[] | undefined;
  return (tools ?? []).map((tool) => tool.function.name);
}

function systemPrompt(server: ModelServer): string {
  return String(server.requests[0]!.messages[0]!.content);
}

const bash = (command: string): Reply => ({ toolCalls: [{ name: "bash", args: { command } }] });

for (const kind of ["-A", "narrow"]) {
  Deno.test(`weir.js from a URL works with ${kind === "-A" ? "-A" : "the narrow flags"}`, async () => {
    const replies = [
      bash("echo one; echo two >&2"),
      { toolCalls: [{ name: "write", args: { path: "new/a.txt", content: "a\n" } }] },
      { toolCalls: [{ name: "grep", args: { pattern: "second" } }] },
      { text: "done" },
    ];
    await withPlace(replies, async (place) => {
      await using weir = await start(place, kind === "-A" ? ["-A"] : without(place));
      const { records, said } = await turn(weir, "work");
      assertEquals(said, []);
      const outputs = allOf(records, "tool_result").map(({ output }) => String(output));
      assertEquals(outputs[0], "one\ntwo\nExit code: 0");
      assertEquals(await Deno.readTextFile(`${place.home.workspace}/new/a.txt`), "a\n");
      assertStringIncludes(outputs[2]!, "second line");
      assertEquals(allOf(records, "turn_end")[0]!.answer, "done");
      assert((await sessions(place)).length === 1);
    });
  });
}

Deno.test("weir.js with the narrow flags ends what a command has started", async () => {
  const left = "setsid sh -c 'echo up; exec sleep 60'";
  await withPlace(
    [bash(`${left} & (${left} &); sleep 60`)],
    async (place) => {
      await using weir = await start(place, without(place));
      await weir.request({ type: "set_event_detail", detail: "full" });
      await weir.request({ type: "prompt", message: "wait" });
      let output = "";
      while (output !== "up\nup\n") output += (await weir.next("tool_output")).delta;
      await weir.request({ type: "abort" });
      await weir.settled();
      // A shell may be there, by which Weir looks for what is left.
      const names = (await weir.livingProcesses()).map(nameOf);
      assertEquals(names.filter((name) => ["sleep", "setsid", "sh"].includes(name)), []);
      await weir.closeInput();
      assertEquals((await weir.waitForExit()).code, 0);
    },
  );
});

Deno.test("weir.js keeps to the files that its flags name", async () => {
  const replies = [{ toolCalls: [{ name: "read", args: { path: "/etc/hostname" } }] }, {
    text: "x",
  }];
  await withPlace(replies, async (place) => {
    await using weir = await start(place, without(place));
    const { records } = await turn(weir, "look");
    const [result] = allOf(records, "tool_result");
    assertEquals(result!.status, "error");
  });
});

Deno.test("weir.js without --allow-run has no bash tool and tells both", async () => {
  await withPlace([{ text: "fine" }], async (place) => {
    await using weir = await start(place, without(place, "run"));
    const { said } = await turn(weir, "hello");
    assertEquals(said, [
      "weir: --allow-run=bash is missing: the agent has no bash tool, it cannot run commands",
    ]);
    assert(!offered(place.server).includes("bash"));
    assert(offered(place.server).includes("edit"));
    assertStringIncludes(systemPrompt(place.server), "You cannot run commands in this session.");
    assertEquals((await sessions(place)).length, 1);
  });
});

Deno.test("weir.js without --allow-write only reads", async () => {
  await withPlace([
    { toolCalls: [{ name: "read", args: { path: "notes.txt" } }] },
    bash("seq 100000"),
    { text: "fine" },
  ], async (place) => {
    const { home, workspace } = place.home;
    await using weir = await start(place, without(place, "write"));
    const { records, said } = await turn(weir, "hello");
    assertEquals(said, [
      `weir: --allow-write=${workspace} is missing: the agent cannot change files, unless its commands do`,
      `weir: --allow-write=${home} is missing: the conversation is not kept, nor is long output, and there are no background jobs`,
    ]);
    assertStringIncludes(String(allOf(records, "tool_result")[0]!.output), "second line");
    assertMatch(
      String(allOf(records, "tool_result")[1]!.output),
      /could not be kept[^]*100000\nExit code: 0$/,
    );
    const names = offered(place.server);
    assertEquals(names.filter((name) => ["write", "edit"].includes(name)), []);
    assert(names.includes("bash") && names.includes("ls"));
    assertStringIncludes(systemPrompt(place.server), "have no tools to change them");
    assertEquals(await sessions(place), []);
  });
});

Deno.test("weir.js without --allow-read has no file tools", async () => {
  await withPlace([bash("echo hi"), { text: "fine" }], async (place) => {
    const { home, workspace } = place.home;
    const { server } = place;
    await using weir = await start(place, without(place, "read"), [
      ...["--base-url", server.url, "--api-key", "test-key", "--model", "test-model"],
    ]);
    const { records, said } = await turn(weir, "hello");
    assertEquals(said, [
      `weir: --allow-read=${workspace} is missing: the agent has no tools for files`,
      `weir: --allow-read=${home} is missing: ` +
      "there are no settings, no folder is trusted, and the conversation is not kept",
    ]);
    assertEquals(allOf(records, "tool_result")[0]!.output, "hi\nExit code: 0");
    const gone = ["read", "write", "edit", "ls", "grep", "find"];
    assertEquals(offered(server).filter((name) => gone.includes(name)), []);
    assertStringIncludes(systemPrompt(server), "You have no tools for files in this session.");
  });
});

Deno.test("weir.js without --allow-net says so at once and does not try", async () => {
  await withPlace([], async (place) => {
    const { host } = new URL(place.server.url);
    await using weir = await start(place, without(place, "net"));
    await weir.request({ type: "prompt", message: "hello" });
    const records = await weir.settled();
    assertEquals(
      saidIn(weir.stderr)[0],
      `weir: --allow-net=${host} is missing: the model there cannot be reached`,
    );
    assertStringIncludes(JSON.stringify(allOf(records, "error")), `--allow-net=${host}`);
    assertEquals(place.server.requests.length, 0);
    // What needs no model goes on.
    assertEquals((await weir.request({ type: "get_messages" })).success, true);
  });
});

Deno.test("weir.js without --allow-env finds no home and goes on", async () => {
  await withPlace([bash("echo $HOME-$PATH | wc -l"), { text: "fine" }], async (place) => {
    const { server } = place;
    await using weir = await start(place, without(place, "env"), [
      ...["--base-url", server.url, "--api-key", "test-key", "--model", "test-model"],
    ]);
    const { records, said } = await turn(weir, "hello");
    assertEquals(said, [
      "weir: --allow-env is missing: OPENAI_API_KEY and other variables are not seen, commands get hardly any, " +
      "and without HOME there are no settings and the conversation is not kept",
    ]);
    assertEquals(String(allOf(records, "tool_result")[0]!.output).trim(), "1\nExit code: 0");
    assertEquals(await sessions(place), []);
  });
});

Deno.test("weir.js without any flag still answers with the demo", async () => {
  await withPlace([], async (place) => {
    await using weir = await start(place, [], ["--model", "demo"]);
    const { records, said } = await turn(weir, "hello");
    for (const name of ["env", "read", "write", "run", "net"]) {
      assert(said.some((line) => line.startsWith(`weir: --allow-${name}`)), name);
    }
    assertMatch(String(allOf(records, "turn_end")[0]!.answer), /not a language model/);
  });
});

Deno.test({
  name: "weir.js never lets Deno ask at a terminal",
  ignore: lacksScript(),
  async fn() {
    await withPlace([], async (place) => {
      const { url, home, env } = place;
      const command = [
        ...[Deno.execPath(), "run", url, "-p", "--model", "demo", "--trust"],
        ...[home.workspace, "'read README.md'"],
      ];
      const { code, stdout } = await new Deno.Command("script", {
        args: ["--quiet", "--return", "--command", command.join(" "), "/dev/null"],
        clearEnv: true,
        env: { ...cleanEnvironment(home.home), ...env },
        stdin: "null",
        stderr: "null",
      }).output();
      const text = new TextDecoder().decode(stdout);
      assert(!text.includes("Deno requests"), text);
      assertStringIncludes(text, "not a language model");
      assertEquals(code, 0);
    });
  },
});

/** The terminal comes from a program of util-linux. */
function lacksScript(): boolean {
  if (
    Deno.build.os === "linux" &&
    new Deno.Command("sh", { args: ["-c", "command -v script"] }).outputSync().success
  ) {
    return false;
  }
  console.error("No script of util-linux on PATH: the test that needs a terminal is skipped");
  return true;
}

function nameOf(pid: number): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/comm`).trim();
  } catch {
    return ""; // It has ended.
  }
}

/** Names of the files with conversations. */
async function sessions({ home }: Place): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const folder of Deno.readDir(`${home.home}/sessions`)) {
      for await (const file of Deno.readDir(`${home.home}/sessions/${folder.name}`)) {
        names.push(file.name);
      }
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return names;
}
