/** Secrets stay where they are: the endpoint's key in the configuration, those of the environment in the program. With the real process. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { type PreparedHome, prepareHome } from "../fakes/prepare_home.ts";
import type { Reply } from "../fakes/reply.ts";
import { cleanEnvironment, defaultProgram, startWeir } from "../fakes/weir_process.ts";
import { withBench } from "./_circle_bench.ts";
import { createRandom, rounds } from "./_rounds.ts";

const isUnix = Deno.build.os !== "windows";

/** Variables that look like secrets, and those that commands need although they nearly do. */
const SECRET_NAMES = [
  ...["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AZURE_OPENAI_KEY", "MY_OWN_KEY", "apikey", "APIKEY"],
  ...[
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "GITHUB_TOKEN",
    "GH_TOKEN",
  ],
  ...[
    "NPM_TOKEN",
    "HF_TOKEN",
    "npm_config__authToken",
    "CI_JOB_TOKEN",
    "GITHUB_PAT",
    "CLIENT_SECRET",
  ],
  ...["PGPASSWORD", "MYSQL_PWD", "SSHPASS", "DB_PASSWORD", "password", "SSH_KEY_PASSPHRASE"],
  ...["GOOGLE_APPLICATION_CREDENTIALS", "AZURE_STORAGE_CONNECTION_STRING", "DOCKER_AUTH_CONFIG"],
  ...[
    "STRIPE_SECRET",
    "SECRETS",
    "TOKENS",
    "TOKEN",
    "SIGNING_KEY_BASE64",
    "WEIR_API_KEY",
    "SMTP_PASS",
  ],
];
const PLAIN_NAMES = [
  ...[
    "SSH_AUTH_SOCK",
    "LANG",
    "EDITOR",
    "KEYBOARD",
    "PASSAGE",
    "TOKENIZER",
    "OLDER_PWDS",
    "MONKEY",
  ],
  ...["AWS_REGION", "GIT_AUTHOR_NAME", "COMPASS_HOME", "XDG_CONFIG_HOME"],
];
const CANARY = "canary4711";
const ENVIRONMENT = Object.fromEntries(
  [...SECRET_NAMES, ...PLAIN_NAMES].map((name) => [name, `${CANARY}_${name}`]),
);

/** Which of the variables a text of `env` has. */
function namesIn(text: string): string[] {
  return [...text.matchAll(new RegExp(`^(\\w+)=${CANARY}_\\1$`, "gm"))].map(([, name]) => name!)
    .sort();
}

Deno.test({
  name:
    "commands get no variable that looks like a secret, in the foreground, as jobs, in subagents",
  ignore: !isUnix,
  fn: () =>
    withBench({ env: ENVIRONMENT }, async ({ call, weir, server, turn, place }) => {
      const [front] = await call(["bash", { command: "env" }]);
      assertEquals(namesIn(front!.output), PLAIN_NAMES.toSorted());
      await call(["bash", { command: "env > job.txt; echo over", background: true }]);
      await waitForText(`${place.workspace}/job.txt`);
      assertEquals(
        namesIn(await Deno.readTextFile(`${place.workspace}/job.txt`)),
        PLAIN_NAMES.toSorted(),
      );
      server.answer((request) => {
        const texts = JSON.stringify(request.messages);
        if (!texts.includes("show-it")) {
          const args = { description: "env", prompt: "show-it", subagent_type: "general" };
          return { toolCalls: [{ name: "task", args }] };
        }
        if (request.messages.at(-1)!.role === "tool") return { text: "seen" };
        return { toolCalls: [{ name: "bash", args: { command: "sh -c env" } }] };
      });
      const before = server.requests.length;
      await turn("go");
      const seen = server.requests.slice(before).flatMap(({ messages }) => messages)
        .filter(({ role }) => role === "tool").map(({ content }) => String(content));
      assertEquals(
        [...new Set(seen.flatMap(namesIn))].sort(),
        PLAIN_NAMES.toSorted(),
      );
      assert(!weir.stderr.includes(CANARY));
    }),
});

Deno.test({
  name:
    "a variable that the configuration names is passed, and the key variable of a provider is not",
  ignore: !isUnix,
  fn: () =>
    withBench({
      env: { ...ENVIRONMENT, ODDLY_NAMED: `${CANARY}_ODDLY_NAMED` },
      extraConfig: {
        pass_environment: ["NPM_TOKEN"],
        providers: { other: { baseUrl: "http://127.0.0.1:1/v1", apiKeyEnv: "ODDLY_NAMED" } },
      },
    }, async ({ call }) => {
      const [result] = await call(["bash", { command: "env" }]);
      assertEquals(namesIn(result!.output), [...PLAIN_NAMES, "NPM_TOKEN"].sort());
    }),
});

Deno.test({
  name: "the direct bash of the pi dialect has no secrets either",
  ignore: !isUnix,
  fn: async () => {
    await using server = startModelServer();
    await using place = await prepareHome({ server });
    await using weir = await startWeir({
      args: ["--mode", "rpc", "--dialect", "pi", place.workspace],
      home: place.home,
      env: ENVIRONMENT,
    });
    const { data } = await weir.request({ type: "bash", command: "env" });
    assertEquals(namesIn((data as { output: string }).output), PLAIN_NAMES.toSorted());
  },
});

const SERVER = `
let rest = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\\n");
  rest = lines.pop();
  for (const { id, method } of lines.map((line) => JSON.parse(line))) {
    if (id === undefined) continue;
    const child = () => new TextDecoder().decode(new Deno.Command("env").outputSync().stdout);
    const own = () => Object.entries(Deno.env.toObject()).map((pair) => pair.join("=")).join("\\n");
    const result = method === "initialize"
      ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "e", version: "1" } }
      : method === "tools/list"
      ? { tools: [{ name: "show", description: "", inputSchema: { type: "object", properties: {} } }] }
      : { content: [{ type: "text", text: own() + "\\n" + child() }] };
    console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }
}`;

Deno.test({
  name:
    "MCP servers and what they start have only the secrets that their own configuration gives them",
  ignore: !isUnix,
  fn: async () => {
    await using server = startModelServer();
    await using place = await prepareHome({ server });
    const script = `${place.home}/server.ts`;
    await Deno.writeTextFile(script, SERVER);
    const config = JSON.parse(await Deno.readTextFile(`${place.home}/config.jsonc`));
    config.mcp = {
      servers: {
        env: {
          command: Deno.execPath(),
          args: ["run", "-A", "--no-config", script],
          env: { GH_TOKEN: `${CANARY}_GH_TOKEN` },
        },
      },
    };
    await Deno.writeTextFile(`${place.home}/config.jsonc`, JSON.stringify(config));
    await using weir = await startWeir({
      args: ["--mode", "rpc", "--yolo", "--extensions", place.workspace],
      home: place.home,
      env: ENVIRONMENT,
    });
    server.reply({ toolCalls: [{ name: "env_show", args: {} }] }, { text: "done" });
    await weir.send({ type: "prompt", message: "go" });
    const result = (await weir.settled()).find(({ type }) => type === "tool_result")!;
    assertEquals(
      [...new Set(namesIn(String(result.output)))].sort(),
      [...PLAIN_NAMES, "GH_TOKEN"].sort(),
    );
  },
});

const KEYS = [
  "sk-live-4711-Ab0815cdEfGh",
  "k$&-.*+?^${4711}()|[a]\\d/=~",
  `quo"te'd\\\\key-0815-4711-x`,
  "plainwordskeyof32lettersand4711",
];

/** Ways in which an endpoint can give back what it was sent. */
function echoes(key: string, random: () => number): Reply[] {
  const header = `Bearer ${key}`;
  const cut = 1 + Math.floor(random() * (key.length - 1));
  const split = [`you sent ${key.slice(0, cut)}`, `${key.slice(cut)} to me`];
  const letters = [...`Authorization: ${header}!`];
  return [
    { status: 401, body: { error: { message: `bad key ${header}`, code: key } } },
    { status: 400, body: `<html><body>your header was ${header}</body></html>` },
    { status: 403, body: `Authorization: ${header}` },
    { status: 422, body: { detail: [{ msg: `key ${key}`, input: { authorization: header } }] } },
    { status: 400, body: "x".repeat(480) + " " + key },
    { status: 400, body: { error: { message: "y".repeat(65_500) + key + key } } },
    { errorInStream: { message: `refused ${header}` } },
    { text: `begun ${key}`, errorInStream: { message: `broken off ${header}` } },
    { text: letters, cutAfter: letters.length - 3 },
    { raw: `data: {"choices": [${"z".repeat(190 - key.length / 2)}${key}\n\n` },
    { raw: `data: ${JSON.stringify(key).slice(1, -1)} is no JSON\n\n` },
    { text: `It is ${header}.` },
    { text: split },
    { text: letters },
    { thinking: split, text: "fine" },
    { thinking: letters, text: key },
    { text: [`ends with the key: ${key.slice(0, 3)}`, key.slice(3)] },
    { text: `${key}${key} and ${key.slice(0, -1)}`.slice(0, key.length * 2) },
  ];
}

/** Every file below a folder with its text, except for the user's own settings. */
function* filesBelow(folder: string): Generator<[path: string, text: string]> {
  for (const entry of Deno.readDirSync(folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) yield* filesBelow(path);
    else if (entry.isFile && entry.name !== "config.jsonc") {
      yield [path, Deno.readTextFileSync(path)];
    }
  }
}

function assertNoKey(texts: Iterable<readonly [string, string]>, key: string): void {
  const forms = [key, JSON.stringify(key).slice(1, -1), key.replaceAll('"', "&quot;")];
  for (const [name, text] of texts) {
    for (const form of forms) {
      const at = text.indexOf(form);
      assert(at === -1, `the key is in ${name}: ${text.slice(Math.max(0, at - 100), at + 60)}`);
    }
  }
}

Deno.test("an endpoint's key is in no record, log, session or export, whatever the endpoint gives back", async () => {
  const { random } = createRandom();
  for (let round = 0; round < rounds(1); round++) {
    for (const api of ["chat", "responses"] as const) {
      for (const key of api === "chat" ? KEYS : KEYS.slice(0, 2)) {
        await echoKey({ key, api, random });
      }
    }
  }
});

async function echoKey(
  { key, api, random }: { key: string; api: "chat" | "responses"; random: () => number },
): Promise<void> {
  await withBench({
    api,
    extraConfig: {
      providers: { local: { apiKey: key, headers: { "X-Api-Key": `${key}-2` } } },
    },
    args: ["--verbose"],
  }, async ({ server, weir, turn, place }) => {
    await weir.request({ type: "set_event_detail", detail: "full" });
    for (const reply of echoes(key, random)) {
      // What fails in the stream is tried again; a refusal ends it.
      server.reply(reply);
      server.answer(() => ({ status: 400, body: `once more ${key}` }));
      await turn("go");
      assertEquals(server.requests.at(-1)!.headers.authorization, `Bearer ${key}`);
    }
    await weir.request({ type: "get_messages" });
    await weir.request({ type: "get_native_messages" });
    await weir.request({ type: "get_state" });
    const stored = [...filesBelow(`${place.home}/sessions`)].map(([path]) => path);
    const [, id] = /([0-9a-f-]{36})\.jsonl(?: |$)/.exec(stored.join(" "))!;
    await weir.closeInput();
    await weir.waitForExit();
    const exported = await runWeir(["export", id!, `${place.workspace}/out.html`], place);
    assertEquals(exported.code, 0, exported.stderr);
    assertNoKey([
      ["stdout", weir.records.map((record) => JSON.stringify(record)).join("\n")],
      ["stderr", weir.stderr],
      ["stdout of export", exported.stdout + exported.stderr],
      ...filesBelow(place.home),
      ...filesBelow(place.workspace),
    ], key);
    const html = await Deno.readTextFile(`${place.workspace}/out.html`);
    assertStringIncludes(html, "[redacted]");
  });
}

Deno.test("a word that is the key of an endpoint without keys stays a word", async () => {
  for (const key of ["ollama", "sk-no-key-required", "not-needed"]) {
    await withBench(
      { extraConfig: { providers: { local: { apiKey: key } } } },
      async ({ server, turn }) => {
        server.reply({ text: [`This is ${key.slice(0, 4)}`, `${key.slice(4)}, as you said`] });
        const reply = (await turn("go")).find(({ type }) => type === "assistant")!;
        assertEquals(reply.text, `This is ${key}, as you said`);
      },
    );
  }
});

Deno.test("a redirect to another host gets neither keys nor the conversation, one on the same host is followed", async () => {
  const key = KEYS[0]!;
  const seen: string[] = [];
  await using stranger = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      seen.push(
        `${request.method} ${JSON.stringify([...request.headers])} ${await request.text()}`,
      );
      return new Response("nothing here");
    },
  );
  let target = "";
  const asked: string[] = [];
  await using server = startModelServer();
  await using door = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      if (!pathname.startsWith("/real")) {
        await request.body?.cancel();
        return new Response(null, {
          status: Number(pathname.slice(2, 5)),
          headers: { location: target },
        });
      }
      // What a server does that moved its API elsewhere on itself.
      return await fetch(`${server.url}/chat/completions`, {
        method: "POST",
        body: await request.text(),
        headers: request.headers,
      });
    },
  );
  const home = (status: number) => ({
    extraConfig: {
      providers: {
        local: {
          apiKey: key,
          baseUrl: `http://127.0.0.1:${door.addr.port}/v${status}`,
          headers: { "X-Api-Key": `${key}-2`, "X-Team": "red" },
        },
      },
      retry: { maxRetries: 0 },
    },
  });
  for (const status of [301, 302, 303, 307, 308]) {
    target = `http://127.0.0.1:${stranger.addr.port}/v1/chat/completions?from=${key}`;
    await withBench(home(status), async ({ turn, weir }) => {
      const records = await turn("a private matter");
      const error = records.find(({ type }) => type === "error")!;
      assertStringIncludes(
        String(error.message),
        `${status} the endpoint redirects to http://127.0.0.1:${stranger.addr.port}`,
      );
      assert(!(weir.stderr + JSON.stringify(records)).includes(key));
    });
  }
  assertEquals(seen, []);
  target = "/real";
  for (const status of [307, 308]) {
    server.reply({ text: "there" });
    await withBench(home(status), async ({ turn }) => {
      const reply = (await turn("go")).find(({ type }) => type === "assistant");
      assertEquals(reply?.text, "there");
    });
    assertEquals(server.requests.at(-1)!.headers["x-api-key"], `${key}-2`);
  }
  assert(asked.length > 0);
});

Deno.test("an MCP server that redirects to another host does not send the key there", async () => {
  const seen: string[] = [];
  await using stranger = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => {
      seen.push(JSON.stringify([...request.headers]));
      return new Response("nothing here", { status: 404 });
    },
  );
  let asked = 0;
  await using door = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => {
      asked++;
      const location = `http://127.0.0.1:${stranger.addr.port}/mcp`;
      return new Response(null, { status: 307, headers: { location } });
    },
  );
  await withBench({
    args: ["--extensions"],
    extraConfig: {
      mcp: {
        servers: {
          web: { url: `http://127.0.0.1:${door.addr.port}/mcp`, headers: { "X-Api-Key": KEYS[0] } },
        },
      },
    },
  }, async ({ weir }) => {
    await weir.request({ type: "get_state" });
    assertEquals(seen, []);
    assert(asked > 0);
    assertStringIncludes(weir.stderr, "web");
    assert(!weir.stderr.includes(KEYS[0]!), weir.stderr);
  });
});

Deno.test("texts about a wrong start do not repeat the key", async () => {
  await using server = startModelServer();
  await using place = await prepareHome({ server });
  const key = KEYS[0]!;
  for (
    const args of [
      ["--api-key", key, "--no-such-option", "--mode", "rpc", place.workspace],
      [`--api-key=${key}`, "--session", "nobody", "--mode", "rpc", place.workspace],
      [`--api-kye=${key}`, "--mode", "rpc", place.workspace],
      ["--api-key", key, "--mode", "rpc", `${place.workspace}/missing`],
      ["--api-key", key, "--model", "nobody/none", "--mode", "rpc", place.workspace],
      ["--api-key", key, "--base-url", "no address", "-p", place.workspace, "hi"],
    ]
  ) {
    const { stdout, stderr } = await runWeir(args, place);
    assertNoKey([["stdout", stdout], [`stderr of ${args.join(" ")}`, stderr]], key);
  }
  const { stdout, stderr } = await runWeir(["doctor"], place, { OPENAI_API_KEY: key });
  assertNoKey([["doctor", stdout + stderr]], key);
});

async function runWeir(
  args: readonly string[],
  { home, workspace }: PreparedHome,
  env: Record<string, string> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${folder}/tmp`);
    const [command, ...first] = defaultProgram();
    const { code, stdout, stderr } = await new Deno.Command(command!, {
      args: [...first, ...args],
      cwd: workspace,
      clearEnv: true,
      env: { ...cleanEnvironment(folder), WEIR_HOME: home, ...env },
      stdin: "null",
    }).output();
    const decoder = new TextDecoder();
    return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Waits until a file has its text. */
async function waitForText(path: string): Promise<void> {
  const deadline = Date.now() + 10_000;
  while ((await Deno.readTextFile(path).catch(() => "")) === "") {
    assert(Date.now() < deadline, `${path} stays empty`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
