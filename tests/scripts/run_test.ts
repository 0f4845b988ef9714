import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { chooseSource } from "../../scripts/choose_source.ts";

const root = new URL("../../", import.meta.url);

async function runTask(...args: string[]): Promise<{ code: number; lines: string[] }> {
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-config", "scripts/run.ts", ...args],
    cwd: root,
    env: { WEIR_STD: Deno.env.get("WEIR_STD") ?? "npm" },
    stdin: "null",
    stderr: "null",
  }).output();
  return { code, lines: new TextDecoder().decode(stdout).trimEnd().split("\n") };
}

async function withTestFile(text: string, use: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/some_test.ts`, text);
    await use(`${folder}/some_test.ts`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("run.ts ends a test run with its counts and passes on the exit code", async () => {
  const good = 'Deno.test("a", () => {}); Deno.test("b", () => {});';
  await withTestFile(good, async (path) => {
    const { code, lines } = await runTask("test", path);
    assertEquals([code, lines.at(-1)], [0, "2 passed, 0 failed"]);
  });
  const mixed = `${good} Deno.test("c", () => { throw 1; }); Deno.test.ignore("d", () => {});`;
  await withTestFile(mixed, async (path) => {
    const { code, lines } = await runTask("test", path);
    assertEquals([code, lines.at(-1)], [1, "2 passed, 1 failed, 1 skipped"]);
    const filtered = await runTask("test", path, "--filter", "a");
    assertEquals([filtered.code, filtered.lines.at(-1)], [0, "1 passed, 0 failed"]);
  });
});

Deno.test("run.ts counts a test file that does not even start as a failure", async () => {
  await withTestFile("const a: string = 1;", async (path) => {
    const { code, lines } = await runTask("test", path);
    assertEquals([code, lines.at(-1)], [1, "0 passed, 1 failed"]);
  });
});

Deno.test("run.ts refuses an unknown task", async () => {
  assertEquals((await runTask("toString")).code, 2);
});

Deno.test("chooseSource() believes WEIR_STD, else only an answer that JSR would give", async () => {
  const before = ["WEIR_STD", "JSR_URL"].map((name) => [name, Deno.env.get(name)] as const);
  let answer = () => Response.json({ versions: {} });
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    assertMatch(new URL(request.url).pathname, /meta\.json$/);
    return answer();
  });
  try {
    Deno.env.set("JSR_URL", `http://127.0.0.1:${server.addr.port}/`);
    for (const source of ["jsr", "npm"]) {
      Deno.env.set("WEIR_STD", source);
      assertEquals(await chooseSource(), source);
    }
    Deno.env.set("WEIR_STD", "other");
    await assertRejects(chooseSource, TypeError, 'Cannot use WEIR_STD="other"');
    Deno.env.delete("WEIR_STD");
    assertEquals(await chooseSource(), "jsr");
    answer = () => new Response("<html>Please log in</html>");
    assertEquals(await chooseSource(), "npm");
    answer = () => Response.json({ versions: {} }, { status: 403 });
    assertEquals(await chooseSource(), "npm");
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) Deno.env.delete(name);
      else Deno.env.set(name, value);
    }
  }
});
