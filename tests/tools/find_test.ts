import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/agent/message.ts";
import { findTool } from "../../src/tools/find.ts";
import { outcomeText, withToolBench } from "./tool_bench.ts";

async function fill(folder: string): Promise<void> {
  for (const path of ["src/a.ts", "src/deep/b.ts", "c.ts", "out/d.ts", ".hidden/e.ts", "x\ny.ts"]) {
    await Deno.mkdir(`${folder}/${path}`.replace(/\/[^/]*$/s, ""), { recursive: true });
    await Deno.writeTextFile(`${folder}/${path}`, "");
  }
  await Deno.writeTextFile(`${folder}/.gitignore`, "out\n");
}

Deno.test("find names files and folders, sorted, relative to the workspace", async () => {
  await withToolBench(async ({ folder, context }) => {
    await fill(folder);
    const find = async (args: { pattern: string; path?: string; limit?: number }) =>
      outcomeText(await findTool.run(args, context)).split("\n");
    assertEquals(await find({ pattern: "*.ts" }), [
      ".hidden/e.ts",
      "c.ts",
      "src/a.ts",
      "src/deep/b.ts",
      "x\\ny.ts",
    ]);
    assertEquals(await find({ pattern: "deep" }), ["src/deep/"]);
    assertEquals(await find({ pattern: "s*/" }), ["src/"]);
    assertEquals(await find({ pattern: "**/b.ts" }), ["src/deep/b.ts"]);
    assertEquals(await find({ pattern: "deep/*", path: "src" }), ["src/deep/b.ts"]);
    assertEquals(await find({ pattern: "d.ts", path: "out" }), ["out/d.ts"]);
    assertEquals(await find({ pattern: "*.ts", path: `${folder}/src/../src` }), [
      "src/a.ts",
      "src/deep/b.ts",
    ]);
    assertEquals(await find({ pattern: "nothing" }), ["No matches found"]);
    assertEquals(await find({ pattern: "*.ts", limit: 2 }), [
      ".hidden/e.ts",
      "c.ts",
      "[There are more than 2 results; raise limit or narrow the search]",
    ]);
    assertEquals((await find({ pattern: "*.ts", limit: 5 })).length, 5);
  });
});

Deno.test("find says what is wrong", async () => {
  await withToolBench(async ({ folder, context }) => {
    await fill(folder);
    const problem = async (args: { pattern: string; path?: string }) => {
      const outcome = await findTool.run(args, context);
      return outcome.isError ? outcomeText(outcome) : "";
    };
    assertEquals(await problem({ pattern: "[b-a]" }), "pattern: [b-a] is not a valid glob");
    assertEquals(await problem({ pattern: "a", path: "no" }), "path: no does not exist");
    assertEquals(await problem({ pattern: "a", path: "c.ts" }), "path: c.ts is not a folder");
    const wrong: JsonObject[] = [{}, { pattern: "a", limit: 0 }, { pattern: "a", deep: 1 }];
    assertEquals(
      wrong.map((args) => findTool.parse(args)).map((parsed) => parsed.ok ? "" : parsed.problem),
      [
        "pattern is required",
        "limit: expected a whole number of at least 1",
        "unknown argument: deep",
      ],
    );
  });
});
