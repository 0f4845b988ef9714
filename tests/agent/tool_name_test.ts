import { assertEquals } from "@std/assert";
import { BUILT_IN_TOOL_NAMES, createToolName, isToolName } from "../../src/agent/tool_name.ts";

function name(source: string, tool: string, taken: string[] = []): string {
  return createToolName({ source, name: tool, taken: new Set(taken) });
}

Deno.test("createToolName() joins server and tool with characters that models accept", () => {
  assertEquals(name("files", "read-text"), "files_read-text");
  assertEquals(name("my server", "a/b.c"), "my_server_a_b_c");
  assertEquals(name("Größe", "😀"), "Gr__e__");
  assertEquals(name("", ""), "_");
});

Deno.test("createToolName() cuts at 64 characters and stays unique", () => {
  const long = name("s", "t".repeat(100));
  assertEquals(long, `s_${"t".repeat(62)}`);
  const second = name("s", "t".repeat(100), [long]);
  assertEquals(second, `s_${"t".repeat(60)}_2`);
  assertEquals(name("s", "t".repeat(100), [long, second]), `s_${"t".repeat(60)}_3`);
});

Deno.test("createToolName() gives no server the name of a built-in tool", () => {
  assertEquals(name("list", "jobs"), "list_jobs_2");
  for (const builtIn of BUILT_IN_TOOL_NAMES) assertEquals(isToolName(builtIn), true);
});

Deno.test("isToolName() takes 1 to 64 letters, digits, _ and -", () => {
  for (const good of ["a", "A-1_b", "x".repeat(64)]) assertEquals(isToolName(good), true, good);
  for (const bad of ["", "a b", "é", "x".repeat(65), "a\n"]) {
    assertEquals(isToolName(bad), false, bad);
  }
});
