import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";

const configOptions = [
  "--config",
  Deno.env.get("WEIR_STD") === "jsr" ? "deno.json" : "deno.npm.json",
];

Deno.test("demo.ts shows a whole conversation and leaves nothing behind", async () => {
  await using folder = await makeFolder();
  const { code, stdout } = await demo(folder.path).output();
  const text = new TextDecoder().decode(stdout);
  assertEquals(code, 0);
  const lines = text.trimEnd().split("\n");
  assertMatch(lines[0], /^\$ weir --mode rpc --dialect circle --model demo --trust /);
  assertMatch(lines.at(-1)!, /^Done: /);
  for (const line of lines.slice(1, -1)) {
    assertMatch(line, /^[<>] \{.*\}$/);
    JSON.parse(line.slice(2));
  }
  assert(lines.includes('< {"type":"agent_settled"}'));
  assertEquals([...Deno.readDirSync(folder.path)], []);
});

Deno.test({
  name: "demo.ts cleans up when it is stopped",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using folder = await makeFolder();
    const child = demo(folder.path).spawn();
    const errors = new Response(child.stderr).text();
    const reader = child.stdout.getReader();
    // The first lines come when everything is set up.
    await reader.read();
    child.kill("SIGTERM");
    while (!(await reader.read()).done);
    assertEquals((await child.status).code, 1);
    assertStringIncludes(await errors, "✖ Cannot finish the demo: got SIGTERM");
    assertEquals([...Deno.readDirSync(folder.path)], []);
  },
});

function demo(folder: string): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", ...configOptions, "scripts/demo.ts"],
    cwd: new URL("../..", import.meta.url),
    env: {
      TMPDIR: folder,
      TMP: folder,
      TEMP: folder,
      NO_COLOR: "1",
      WEIR_STD: Deno.env.get("WEIR_STD") ?? "npm",
    },
    stdout: "piped",
    stderr: "piped",
  });
}

async function makeFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await Deno.makeTempDir({ prefix: "weir_demo_test_" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
