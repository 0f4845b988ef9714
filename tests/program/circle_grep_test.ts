/** A hostile pattern in a circle RPC process. */

import { assertEquals } from "@std/assert";
import { allOf, calls, withCircle } from "./_with_circle.ts";

Deno.test("circle grep with a pattern that never ends holds nothing up and can be aborted", async () => {
  const grep = { id: "g", name: "grep", args: { pattern: "(a+)+$", path: "hostile.txt" } };
  await withCircle({ replies: [calls(grep)] }, async (circle) => {
    await Deno.writeTextFile(`${circle.workspace}/hostile.txt`, "a".repeat(60) + "!\n");
    await circle.data({ type: "set_event_detail", detail: "full" });
    await circle.begin("go");
    await circle.weir.next("tool_start");
    assertEquals((await circle.state()).isStreaming, true);
    const from = circle.weir.records.length;
    await circle.ask({ type: "abort" });
    const results = allOf(circle.weir.records.slice(from), "tool_result");
    assertEquals(results.map(({ id, output }) => [id, output]), [["g", "Interrupted"]]);
  });
});
