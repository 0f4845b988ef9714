/** Compaction of long conversations in a circle RPC process. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { RecordedRequest } from "../fakes/model_server.ts";
import type { Reply } from "../fakes/reply.ts";
import { allOf, type Circle, typesOf, withCircle } from "./_with_circle.ts";

const PHASES = ["start", "saving", "saved", "summarizing", "chunks", "summarized", "done"];
const OVERFLOW = {
  status: 400,
  body: {
    error: {
      message: "This model's maximum context length is 10000 tokens.",
      code: "context_length_exceeded",
    },
  },
};

/** A request that offers no tools is one for a summary. */
function isSummary({ body }: RecordedRequest): boolean {
  return body.tools === undefined;
}

function phasesOf(records: readonly Record<string, unknown>[]): unknown[] {
  const phases = allOf(records, "compaction").map(({ phase }) => phase);
  return phases.filter((phase, index) => phase !== "chunks" || phases[index - 1] !== "chunks");
}

/** Fills the conversation with long messages. */
async function fill(circle: Circle, turns: number): Promise<void> {
  for (let n = 0; n < turns; n++) await circle.turn(`message ${n} ${"word ".repeat(400)}`);
}

Deno.test("circle compaction begins by itself at 85 % of the window", async () => {
  let tokens = 0;
  const answer = (request: RecordedRequest): Reply =>
    isSummary(request)
      ? { text: "SUMMARY of it", usage: { input: 50, output: 5 } }
      : { text: `answer ${"word ".repeat(100)}`, usage: { input: tokens += 1000, output: 10 } };
  await withCircle({ contextWindow: 10_000, answer }, async (circle) => {
    await fill(circle, 8);
    tokens = 9_000;
    await circle.turn("nearly full");
    tokens = 0;
    const before = await circle.messages();
    const records = await circle.turn("one more");
    assertEquals(phasesOf(records), PHASES);
    const { sessionId } = await circle.state();
    const steps = allOf(records, "compaction");
    for (const step of steps) assertEquals([step.sessionId, step.trigger], [sessionId, "auto"]);
    const done = steps.at(-1)!;
    assert(Number(done.tokens_after) < Number(done.tokens_before));
    assert(Number(done.summarized) > 0 && Number(done.kept) > 0);
    const file = String(done.file);
    assert(file.startsWith(`${circle.home.home}/jobs/`), file);
    assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);
    assertStringIncludes(await Deno.readTextFile(file), "message 0");
    const sent = JSON.stringify(circle.lastRequest.messages);
    assertStringIncludes(sent, "SUMMARY of it");
    assertStringIncludes(sent, "one more");
    assertEquals(sent.includes("message 0"), false);
    const after = await circle.messages();
    assertEquals(after.slice(0, before.length), before);
    assertEquals((await circle.state()).messageCount, before.length + 2);
    const { costs } = await circle.data({ type: "get_session_stats" });
    assertEquals((costs as { calls: number }).calls, circle.server.requests.length);
    await circle.start(["-c"]);
    assertEquals(await circle.messages(), after);
    await circle.turn("after reopening");
    const again = JSON.stringify(circle.lastRequest.messages);
    assertStringIncludes(again, "SUMMARY of it");
    assertEquals(again.includes("message 0"), false);
  });
});

Deno.test("circle compaction makes room when the endpoint refuses the length", async () => {
  let refused = false;
  const answer = (request: RecordedRequest): Reply => {
    if (isSummary(request)) return { text: "SUMMARY of it" };
    const isLast = JSON.stringify(request.messages).includes("too much");
    if (isLast && !refused) {
      refused = true;
      return OVERFLOW;
    }
    return { text: "answer" };
  };
  await withCircle({ contextWindow: 10_000, answer }, async (circle) => {
    await fill(circle, 4);
    const records = await circle.turn("too much");
    assertEquals(phasesOf(records), PHASES);
    for (const { trigger } of allOf(records, "compaction")) assertEquals(trigger, "overflow");
    assertEquals(typesOf(records).at(-2), "turn_end");
    assertEquals(allOf(records, "assistant").length, 1);
  });
});

Deno.test("circle compaction that fails skips an auto one and fails the turn after an overflow", async () => {
  const denied = { status: 401, body: { error: { message: "no summary" } } };
  let overflow = false;
  let tokens = 1000;
  const answer = (request: RecordedRequest): Reply => {
    if (isSummary(request)) return denied;
    return overflow ? OVERFLOW : { text: "answer", usage: { input: tokens, output: 1 } };
  };
  await withCircle({ contextWindow: 10_000, answer }, async (circle) => {
    await fill(circle, 4);
    tokens = 9_500;
    await circle.turn("nearly full");
    const skipped = await circle.turn("go on");
    assertEquals(phasesOf(skipped).at(-1), "error");
    assertEquals(typesOf(skipped).at(-2), "turn_end");
    overflow = true;
    const failed = await circle.turn("too much");
    assertEquals(phasesOf(failed).at(-1), "error");
    assertEquals(typesOf(failed).at(-2), "error");
  });
});
