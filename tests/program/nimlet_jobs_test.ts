/** Background jobs of a nimlet RPC process: the runs that they start, and when none starts. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { allOf, calls, isEnd, kindsOf, saidIn, withNimlet } from "./_with_nimlet.ts";

const STUCK = { text: ["part", "never sent"], stallAfter: 1 };

function job(id: string, file: string) {
  const command = `while [ ! -e ${file} ]; do sleep 0.02; done; echo ${file} is there`;
  return { id, name: "bash", args: { command, background: true } };
}

Deno.test("nimlet job that ends in a run is told in its next request, one that ends in idle starts a run", async () => {
  const gate = Promise.withResolvers<void>();
  const replies = [
    calls(job("a", "one"), job("b", "two"), job("c", "three")),
    { gate: gate.promise, ...calls({ name: "ls", args: {} }) },
    { text: "seen" },
    { text: "by itself" },
  ];
  await withNimlet({ replies }, async (nimlet) => {
    await nimlet.begin("go");
    await nimlet.server.waitForRequests(2);
    await nimlet.touch("one");
    // The command has written its last words; the model's next step is let go only then.
    const log = await nimlet.jobOutput("one is there");
    gate.resolve();
    const records = await nimlet.weir.until(isEnd);
    assertEquals(records.at(-1)!.type, "run_end");
    assertEquals(allOf(records, "message").map(({ role }) => role), ["assistant"]);
    assertStringIncludes(log, "one is there");
    await nimlet.touch("two");
    await nimlet.touch("three");
    const rest = await nimlet.weir.until(isEnd);
    // The first job's notice may have come too late for the first run; it shares this one then.
    assertEquals(kindsOf(rest), [
      "run_start",
      "step_start",
      "message_delta",
      "assistant",
      "step_end",
      "run_end",
    ]);
    assertEquals("prompt" in rest[0], false);
    const said = saidIn(nimlet.server.requests[3]).join("\n");
    for (const text of ["one is there", "two is there", "three is there"]) {
      assertStringIncludes(said, text);
    }
  });
});

Deno.test("nimlet interrupt leaves jobs alone and holds their runs until a client's run", async () => {
  const replies = [calls(job("a", "one")), STUCK, { text: "queued" }, { text: "mine" }];
  await withNimlet({ replies }, async (nimlet) => {
    const { weir } = nimlet;
    await nimlet.begin("go");
    await weir.next("message_delta");
    await nimlet.ask({ type: "interrupt" });
    await weir.next(isEnd);
    await nimlet.touch("one");
    await nimlet.jobOutput("one is there");
    const records = await nimlet.run("what now?");
    assertEquals(records.at(-1)!.run_id, "s1:turn:2");
    const said = saidIn(nimlet.server.requests[2]).join("\n");
    assertStringIncludes(said, "what now?");
    // The notice goes along with the request, or starts a run of its own right after.
    if (!said.includes("one is there")) await weir.next("run_end");
    assertStringIncludes(
      saidIn(nimlet.server.requests.at(-1)!).join("\n"),
      "one is there",
    );
    await nimlet.send({ type: "shutdown" });
    await weir.waitForExit();
    assertEquals(await weir.livingProcesses(), []);
  });
});

Deno.test("nimlet stops jobs at the end and starts no run for them", async () => {
  await withNimlet({ replies: [calls(job("a", "never")), { text: "ok" }] }, async (nimlet) => {
    await nimlet.run("go");
    assertEquals((await nimlet.ask({ type: "get_state" })).busy, false);
    await nimlet.send({ type: "shutdown" });
    assertEquals(kindsOf(await nimlet.weir.until("session_end")), ["response", "session_end"]);
    await nimlet.weir.waitForExit();
    assertEquals(await nimlet.weir.livingProcesses(), []);
    assertEquals(nimlet.server.requests.length, 2);
  });
});
