/** The library's bundle where there is no Deno: a page in a real browser, and Node. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { makeFolder } from "../client/_programs.ts";
import { lacksChromium, openPage } from "../fakes/chromium.ts";

const turns = new URL("./_turn.js", import.meta.url);
const root = new URL("../../", import.meta.url);
let made: Promise<URL> | undefined;
const bundle = () => made ??= makeBundle();

interface Turns {
  readonly end: { readonly outcome: string; readonly answer: string };
  readonly calls: readonly (readonly [string, boolean])[];
  readonly outcome: string;
  readonly saved: readonly string[];
  readonly served: readonly string[];
}

Deno.test("bundleLibrary() gives one file that imports nothing at its start", async () => {
  const file = await bundle();
  assertMatch(await Deno.readTextFile(file), /^\/\/ Weir \d+\.\d+\.\d+, library\n/);
  for (const { specifier, isDynamic } of await importsOf(file)) {
    assertMatch(specifier, /^node:/);
    assertEquals(isDynamic, true);
  }
});

Deno.test({
  name: "createSession() runs turns with tool calls in Node",
  ignore: lacksNode(),
  async fn() {
    const script = `
      import * as weir from ${JSON.stringify((await bundle()).href)};
      import { runTurns } from ${JSON.stringify(turns.href)};
      console.log(JSON.stringify(await runTurns(weir)));
    `;
    checkTurns(await runNode(script) as Turns);
  },
});

Deno.test({
  name: "WeirClient.start() starts the program from Node",
  ignore: lacksNode(),
  async fn() {
    await using folder = await makeFolder();
    const options = {
      program: [Deno.execPath(), "run", "-A", "--config", "deno.npm.json", "src/main.ts"],
      args: ["--model", "demo", "--trust", folder.path],
      cwd: decodeURIComponent(root.pathname),
      env: { WEIR_HOME: `${folder.path}/home` },
    };
    const script = `
      import { WeirClient } from ${JSON.stringify((await bundle()).href)};
      const client = await WeirClient.start(${JSON.stringify(options)});
      const events = client.events();
      await client.prompt("What is here?");
      for await (const event of events) if (event.type === "agent_settled") break;
      const { text } = await client.getLastAssistantText();
      const exit = await client.close();
      const failing = await WeirClient.start({ program: [process.execPath, "-e",
        "process.stderr.write('no'); process.exitCode = 7;", "--"] });
      const error = await failing.getState().catch((error) => error);
      const missing = await WeirClient.start({ program: "/nowhere" }).catch((error) => error);
      console.log(JSON.stringify([text, exit, error.message, missing.message]));
    `;
    const [text, ...rest] = await runNode(script) as [string, ...unknown[]];
    assertMatch(text, /You asked: "What is here\?"/);
    assertEquals(rest, [
      { code: 0 },
      "Cannot get state: Weir has ended with exit code 7; the end of its stderr:\nno",
      'Cannot start "/nowhere": there is no such program or folder, give the path of one',
    ]);
  },
});

Deno.test({
  name: "createSession() runs turns with tool calls in a page",
  ignore: lacksChromium(),
  async fn() {
    const files: Record<string, readonly [string, URL]> = {
      "/weir_lib.js": ["text/javascript", await bundle()],
      "/turn.js": ["text/javascript", turns],
    };
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      async (request) => {
        const { pathname } = new URL(request.url);
        if (pathname === "/") {
          const html = '<!doctype html><title>Weir</title><link rel="icon" href="data:,">';
          return new Response(html, { headers: { "content-type": "text/html" } });
        }
        const file = files[pathname];
        if (file === undefined) return new Response(null, { status: 404 });
        return new Response(await Deno.readFile(file[1]), { headers: { "content-type": file[0] } });
      },
    );
    await using page = await openPage(`http://127.0.0.1:${server.addr.port}/`);
    checkTurns(
      await page.evaluate(`(async () => {
        const weir = await import("/weir_lib.js");
        const { runTurns } = await import("/turn.js");
        return await runTurns(weir);
      })()`) as Turns,
    );
    assertEquals(page.consoleErrors, []);
  },
});

/** What the script prints, which is JSON. */
async function runNode(script: string): Promise<unknown> {
  const { code, stdout, stderr } = await new Deno.Command("node", {
    args: ["--input-type=module", "--eval", script],
  }).output();
  const text = new TextDecoder();
  assertEquals(code, 0, text.decode(stderr));
  return JSON.parse(text.decode(stdout));
}

function checkTurns({ end, calls, outcome, saved, served }: Turns): void {
  assertEquals(end.outcome, "answered");
  assert(end.answer.includes("README.md begins: # Kettle"), end.answer);
  assertEquals(calls, [["ls", false], ["read", false], ["read", false]]);
  assertEquals(outcome, "aborted");
  assertEquals(saved.slice(0, 4), ["user", "assistant", "toolResult", "assistant"]);
  assertEquals(served.slice(0, 3), ["response", "response", "turn_start"]);
  assertEquals(served.slice(-3), ["turn_end", "agent_settled", "jobs_stopped"]);
}

/** In a process of its own, because a bundler leaves things running. */
async function makeBundle(): Promise<URL> {
  await runDeno(["run", "-A", "--config", "deno.npm.json", "scripts/bundle.ts", "library"]);
  return new URL("dist/weir_lib.js", root);
}

/** What it imports and how, by Deno's own reading of it. */
async function importsOf(file: URL): Promise<{ specifier: string; isDynamic?: boolean }[]> {
  const { modules } = JSON.parse(await runDeno(["info", "--no-config", "--json", file.href]));
  return modules.find((module: { specifier: string }) => module.specifier === file.href)
    .dependencies ?? [];
}

async function runDeno(args: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: root })
    .output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

function lacksNode(): boolean {
  try {
    const { code, stdout } = new Deno.Command("node", { args: ["--version"] }).outputSync();
    const major = Number(/^v(\d+)/.exec(new TextDecoder().decode(stdout))?.[1]);
    if (code === 0 && major >= 20) return false;
  } catch {
    // There is none.
  }
  console.error("No Node 20 or newer on PATH: its test is skipped");
  return true;
}
