import { assertEquals, assertRejects } from "@std/assert";
import { createMemoryHost } from "../../src/memory/memory_host.ts";
import { todoTool } from "../../src/tools/todo.ts";
import { createMemoryContext, createToolContext, runTool } from "./_tool_context.ts";

Deno.test("todo lists the items and has them in its details", async () => {
  const items = [
    { text: "look", status: "completed" },
    { text: "fix", status: "in_progress" },
    { text: "test", status: "pending" },
  ];
  assertEquals(await runTool(todoTool, { items }, createMemoryContext()), {
    content: [{ type: "text", text: "[x] look\n[>] fix\n[ ] test\n" }],
    isError: false,
    details: { items },
  });
  assertEquals(await runTool(todoTool, { items: [] }, createMemoryContext()), {
    content: [{ type: "text", text: "[the list is empty]" }],
    isError: false,
    details: { items: [] },
  });
});

Deno.test("todo refuses a status that it does not know", () => {
  assertEquals(todoTool.parse({ items: [{ text: "a", status: "done" }] }), {
    ok: false,
    problem: "items[0].status: expected one of pending, in_progress, completed",
  });
});

Deno.test("todo throws the reason when it is aborted", async () => {
  const reason = new Error("stop");
  const signal = AbortSignal.abort(reason);
  const context = createToolContext(createMemoryHost(), { signal });
  assertEquals(await assertRejects(() => runTool(todoTool, { items: [] }, context)), reason);
});
