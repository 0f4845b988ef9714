/** The endpoint's key goes to the endpoint and nowhere else. With the real process. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { type PreparedHome, prepareHome } from "../fakes/prepare_home.ts";
import type { Reply } from "../fakes/reply.ts";
import { cleanEnvironment, defaultProgram } from "../fakes/weir_process.ts";
import { withBench } from "./_circle_bench.ts";
import { createRandom, rounds } from "./_rounds.ts";

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
