/** How a circle RPC process makes a conversation shorter for the model, and what stays as it was. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { RecordedRequest } from "../fakes/model_server.ts";
import type { Reply } from "../fakes/reply.ts";
import { backgroundCall, outline } from "./_jobs.ts";
import { allOf, calls, type Circle, saidIn, type WireRecord, withCircle } from "./_with_circle.ts";

/** Tokens; 3400 fill it, and the newest 1600 characters are kept. */
const contextWindow = 4000;
const FULL = { input: 3390, output: 10 };
/** Too long to be kept. */
const LONG = "long ".repeat(600);
const TOO_LONG: Reply = {
  status: 400,
  body: {
    error: {
      message: "This model's maximum context length is 4096 tokens.",
      type: "invalid_request_error",
      code: "context_length_exceeded",
    },
  },
};
const AUTO = ["start", "saving", "saved", "summarizing", "chunks", "summarized", "done"]
  .map((phase) => `compaction ${phase}`);
const TURN = ["turn_start", "assistant", "turn_end", "agent_settled"];

function isForSummary(request: RecordedRequest): boolean {
  return saidIn(request)[0].includes("<record>");
}

/** Answers requests for summaries and all others each from a list of their own. */
function answerFrom(replies: Reply[], summaries: Reply[]) {
  return (request: RecordedRequest): Reply => {
    const reply = (isForSummary(request) ? summaries : replies).shift();
    if (reply === undefined) throw new Error(`nothing to say to ${saidIn(request).at(-1)}`);
    return reply;
  };
}

function summaryRequests(circle: Circle): string[] {
  return circle.server.requests.filter(isForSummary).map((request) => saidIn(request)[0]);
}

function phases(records: readonly WireRecord[]): WireRecord[] {
  return allOf(records, "compaction");
}

Deno.test("circle compaction of a full conversation: events, the file, the next request, what stays", async () => {
  const answer = answerFrom(
    [
      { text: "one", usage: FULL },
      { text: "two", usage: { input: 300, output: 20 } },
      { text: "three" },
    ],
    [{ text: "\nIt was long.\n", usage: { input: 900, output: 100 } }],
  );
  const args = ["--session-id", "s-1"];
  await withCircle({ args, answer, contextWindow }, async (circle) => {
    await circle.turn(LONG);
    const before = await circle.messages();
    const records = await circle.turn("two");
    assertEquals(outline(records), [TURN[0], ...AUTO, ...TURN.slice(1)]);
    const told = phases(records);
    const file = String(told[2].file);
    const { tokens_after, seconds } = told[6];
    const common = { type: "compaction", sessionId: "s-1", trigger: "auto" };
    const counts = { summarized: 2, kept: 1 };
    assertEquals(told, [
      { ...common, phase: "start", tokens_before: 3401, ...counts },
      { ...common, phase: "saving" },
      { ...common, phase: "saved", file },
      { ...common, phase: "summarizing" },
      { ...common, phase: "chunks", chunks: 1 },
      { ...common, phase: "summarized", chunks: 1 },
      { ...common, phase: "done", tokens_before: 3401, tokens_after, ...counts, file, seconds },
    ]);
    assert(Number(tokens_after) < 50, `${tokens_after} tokens`);
    assert(file.startsWith(`${circle.home.home}/jobs/${circle.weir.pid}-`), file);
    assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);
    const saved = (await Deno.readTextFile(file)).trimEnd().split("\n").map((l) => JSON.parse(l));
    assertEquals(saved.map(({ message }) => message.role), ["user", "assistant"]);
    assertStringIncludes(JSON.stringify(saved[0]), LONG);

    const [summaryRequest] = summaryRequests(circle);
    assertStringIncludes(summaryRequest, LONG);
    const [summary, user, ...others] = saidIn(circle.lastRequest);
    assertMatch(summary, /^user: <[^>]*>\nIt was long\.\n<[^>]*>$/);
    assertEquals([user, ...others], ["user: two"]);
    assertEquals((await circle.messages()).slice(0, 2), before);
    assertEquals((await circle.messages()).length, 4);
    assertEquals((await circle.state()).messageCount, 4);
    const usage = { input_tokens: 300, output_tokens: 20, cache_read_tokens: 0 };
    assertEquals(records.at(-2)!.usage, usage);
    const stats = await circle.data({ type: "get_session_stats" });
    assertEquals(stats.totalMessages, 4);
    const tokens = { input: 3390 + 300 + 900, output: 10 + 20 + 100 };
    assertEquals(stats.tokens, { ...tokens, total: tokens.input + tokens.output });
    const { calls, amounts } = stats.costs as Record<string, unknown>;
    const usd = (tokens.input + 2 * tokens.output) / 1e6;
    assertEquals([calls, amounts], [3, { USD: usd }]);

    await circle.start(args);
    assertEquals(await circle.data({ type: "get_session_stats" }), stats);
    assertEquals(outline(await circle.turn("three")), TURN);
    assertEquals(saidIn(circle.lastRequest), [summary, user, "assistant: two", "user: three"]);
    assertEquals((await circle.messages()).length, 6);
  });
});

Deno.test("circle compaction begins at 85 % of the window", async () => {
  const answer = answerFrom(
    [
      { text: "one", usage: { input: 3388, output: 10 } },
      { text: "two", usage: { input: 3389, output: 10 } },
      { text: "three" },
    ],
    [{ text: "summary" }],
  );
  await withCircle({ answer, contextWindow }, async (circle) => {
    await circle.turn(LONG);
    assertEquals(outline(await circle.turn("two2")), TURN);
    const [start] = phases(await circle.turn("four"));
    assertEquals([start.phase, start.tokens_before, start.kept], ["start", 3400, 3]);
  });
});

Deno.test("circle compaction works through a long conversation part by part, also in the middle of a turn", async () => {
  const files = { "a.txt": `${"a".repeat(79)}\n`.repeat(100) };
  const read = (id: string) => calls({ id, name: "read", args: { path: "a.txt" } });
  const texts = Array.from({ length: 5 }, (_, i) => `${i} ${"word ".repeat(1000)}`);
  const answer = answerFrom(
    [
      ...texts.map((text) => ({ text, usage: { input: 10, output: 5 } })),
      { ...read("r1"), usage: FULL },
      { text: "done", usage: { input: 500, output: 5 } },
    ],
    Array.from({ length: 9 }, (_, i) => ({ text: `summary ${i + 1}` })),
  );
  await withCircle({ answer, contextWindow, files }, async (circle) => {
    for (const text of texts) await circle.turn(text.slice(0, 1));
    const records = await circle.turn("read it");
    const told = phases(records);
    const parts = told.filter(({ phase }) => phase === "chunks").map(({ chunks }) => chunks);
    assert(parts.length > 2, `${parts.length} parts`);
    assertEquals(parts, parts.map((_, i) => i + 1));
    assertEquals(told.at(-1)!.phase, "done");
    const asked = summaryRequests(circle);
    assertEquals(asked.length, parts.length);
    for (const [i, text] of asked.entries()) {
      // About half of the window, in characters.
      assert(text.length < contextWindow * 2 + 1000, `${text.length} characters`);
      assertEquals(text.includes(`\nsummary ${i}\n`), i > 0);
    }
    assertEquals(outline(records).slice(0, 4), [
      "turn_start",
      "assistant",
      "tool_result r1",
      "compaction start",
    ]);
    // What is left begins with a whole call and its result, or with a message of the person.
    const [summary, first] = saidIn(circle.lastRequest);
    assertStringIncludes(summary, `summary ${parts.length}`);
    assertMatch(first, /^(assistant|user): /);
    assertEquals((await circle.messages()).length, 14);
  });
});

Deno.test("circle compaction when the endpoint says the request is too long, once a turn", async () => {
  const answer = answerFrom(
    [{ text: "one", usage: FULL }, TOO_LONG, { text: "two" }, TOO_LONG, TOO_LONG, { text: "four" }],
    [{ text: "first summary" }, { text: "second summary" }],
  );
  await withCircle({ answer, contextWindow: 100_000 }, async (circle) => {
    await circle.turn(LONG);
    const records = await circle.turn("two");
    assertEquals(outline(records), [TURN[0], ...AUTO, ...TURN.slice(1)]);
    for (const { trigger } of phases(records)) assertEquals(trigger, "overflow");
    assertMatch(saidIn(circle.lastRequest)[0], /\nfirst summary\n/);
    assertEquals(saidIn(circle.lastRequest).length, 2);

    const failed = await circle.turn("three");
    assertEquals(outline(failed), [TURN[0], ...AUTO, "error", "agent_settled"]);
    assertStringIncludes(String(failed.at(-2)!.message), "maximum context length is 4096");
    assertMatch(summaryRequests(circle)[1], /<summary-so-far>\nfirst summary\n/);
    await circle.turn("four");
    assertEquals(saidIn(circle.lastRequest).slice(1), ["user: three", "user: four"]);
    assertMatch(saidIn(circle.lastRequest)[0], /\nsecond summary\n/);
    assertEquals(saidIn(circle.lastRequest)[0].includes("first summary"), false);
  });
});

Deno.test("circle compaction that fails is skipped, or fails the turn that cannot go on without", async () => {
  const refused = { status: 401, body: { error: { message: "no summaries today" } } };
  const answer = answerFrom(
    [
      { text: "one", usage: FULL },
      { text: "two", usage: FULL },
      { text: "three", usage: { input: 3800, output: 10 } },
      TOO_LONG,
      { text: "five" },
    ],
    [refused, { text: " " }, refused, refused],
  );
  await withCircle({ answer, contextWindow }, async (circle) => {
    await circle.turn(LONG);
    const records = await circle.turn("two");
    const [...told] = phases(records);
    assertEquals(told.map(({ phase }) => phase), [...AUTO.slice(0, 4).map(last), "error"]);
    assertStringIncludes(String(told.at(-1)!.message), "no summaries today");
    assertEquals(records.at(-2)!.answer, "two");
    assertEquals(saidIn(circle.lastRequest)[0], `user: ${LONG}`);
    // It is tried again before the next request.
    const again = phases(await circle.turn("three"));
    assertEquals(again.at(-1)!.message, "the model gave no summary");
    const failed = await circle.turn("four");
    assertEquals(outline(failed).slice(-3), ["compaction error", "error", "agent_settled"]);
    assertEquals(
      phases(failed).filter(({ phase }) => phase === "error")
        .map(({ trigger, message }) => [trigger, String(message).includes("no summaries today")]),
      [["auto", true], ["overflow", true]],
    );
    assertEquals((await circle.messages()).length, 7);
  });

  function last(text: string): string {
    return text.split(" ")[1];
  }
});

Deno.test("circle abort ends a compaction, which delays no command and begins anew in the next turn", async () => {
  const gate = Promise.withResolvers<void>();
  const answer = answerFrom(
    [{ text: "one", usage: FULL }, { text: "three" }],
    [{ text: "late", gate: gate.promise }, { text: "summary" }],
  );
  await withCircle({ answer, contextWindow }, async (circle) => {
    await circle.turn(LONG);
    await circle.begin("two");
    await circle.request(2);
    assertEquals((await circle.state()).isStreaming, true);
    const from = circle.weir.records.length;
    await circle.ask({ type: "abort" });
    assertEquals(outline(circle.weir.records.slice(from)), [
      "turn_end aborted",
      "agent_settled",
      "response abort",
    ]);
    await circle.weir.settled();
    gate.resolve();
    assertEquals(outline(await circle.turn("three")), [TURN[0], ...AUTO, ...TURN.slice(1)]);
    assertEquals(saidIn(circle.lastRequest).slice(1), ["user: two", "user: three"]);
  });
});

Deno.test("circle compaction names the jobs that still run", async () => {
  const answer = answerFrom(
    [
      calls(backgroundCall("b1", "sleep 300")),
      { text: "runs", usage: FULL },
      { text: "two" },
    ],
    [{ text: "It builds." }],
  );
  const env = { WEIR_JOB_WAIT: "0" };
  await withCircle({ args: ["--yolo"], answer, contextWindow, env }, async (circle) => {
    await circle.turn(LONG);
    await circle.turn("two");
    const [summary, user] = saidIn(circle.lastRequest);
    assertMatch(
      summary,
      /\nIt builds\.\n[^]*\nj1 · shell · running · [^\n]* · sleep 300 · output \//,
    );
    assertEquals(user, "user: two");
  });
});
