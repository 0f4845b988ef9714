/** The library's bundle where there is no Deno: a page in a real browser, and Node. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { bundleLibrary } from "../../scripts/bundle.ts";
import { lacksChromium, openPage } from "../fakes/chromium.ts";

const turns = new URL("./_turn.js", import.meta.url);
let made: Promise<URL> | undefined;
const bundle = () => made ??= bundleLibrary();

interface Turns {
  readonly end: { readonly outcome: string; readonly answer: string };
  readonly calls: readonly (readonly [string, boolean])[];
  readonly outcome: string;
  readonly saved: readonly string[];
  readonly served: readonly string[];
}

Deno.test("bundleLibrary() gives one file that imports nothing", async () => {
  const code = await Deno.readTextFile(await bundle());
  assertMatch(code, /^\/\/ Weir \d+\.\d+\.\d+, library\n/);
  for (const name of await importsOf(code)) assertMatch(name, /^node:/);
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
    const { code, stdout, stderr } = await new Deno.Command("node", {
      args: ["--input-type=module", "--eval", script],
    }).output();
    const text = new TextDecoder();
    assertEquals(code, 0, text.decode(stderr));
    checkTurns(JSON.parse(text.decode(stdout)));
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

function checkTurns({ end, calls, outcome, saved, served }: Turns): void {
  assertEquals(end.outcome, "answered");
  assert(end.answer.includes("README.md begins: # Kettle"), end.answer);
  assertEquals(calls, [["ls", false], ["read", false], ["read", false]]);
  assertEquals(outcome, "aborted");
  assertEquals(saved.slice(0, 4), ["user", "assistant", "toolResult", "assistant"]);
  assertEquals(served.slice(0, 3), ["response", "response", "turn_start"]);
  assertEquals(served.slice(-3), ["turn_end", "agent_settled", "jobs_stopped"]);
}

/** Names of the modules that the code imports, by the engine's own reading of it. */
async function importsOf(code: string): Promise<string[]> {
  const esbuild = await import("esbuild");
  try {
    const { metafile } = await esbuild.build({
      stdin: { contents: code },
      bundle: true,
      write: false,
      metafile: true,
      external: ["*"],
      format: "esm",
    });
    return Object.values(metafile.inputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  } finally {
    await esbuild.stop();
  }
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
