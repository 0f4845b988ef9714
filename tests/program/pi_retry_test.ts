/** Retries and compactions of a pi RPC process. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import type { RecordedRequest } from "../fakes/model_server.ts";
import { allOf, held, type Json, textOf, typesOf, withPi } from "./_with_pi.ts";

const RETRY = { retry: { baseDelayMs: 20 } };
const BUSY = { status: 503, body: { error: { message: "try later", type: "x" } } };
const TOLD = `503: ${JSON.stringify(BUSY.body.error)}`;

Deno.test("pi retry: a failed attempt is told, left out and made again", async () => {
  const first = { ...BUSY, headers: { "retry-after": "0.2" } };
  await withPi({ replies: [first, { text: "fine" }] }, async (pi) => {
    const records = await pi.run("go");
    assertEquals(typesOf(records), [
      "agent_start",
      "turn_start",
      "message_start",
      "message_end",
      "message_start",
      "message_end",
      "turn_end",
      "agent_end",
      "auto_retry_start",
      "entry_appended",
      "agent_start",
      "turn_start",
      "message_start",
      "message_end",
      "auto_retry_end",
      "turn_end",
      "agent_end",
      "agent_settled",
    ]);
    const [start] = allOf(records, "auto_retry_start");
    assertEquals(start, {
      type: "auto_retry_start",
      attempt: 1,
      maxAttempts: 3,
      delayMs: 200,
      errorMessage: TOLD,
    });
    const failed = allOf(records, "message_start")[1].message as Json;
    assertEquals([failed.stopReason, failed.errorMessage], ["error", TOLD]);
    const { entry } = allOf(records, "entry_appended")[0] as { entry: Json };
    const entries = await pi.entries();
    const target = entries.find(({ id }) => id === entry.targetId) as { message: Json };
    assertEquals([entry.type, entry.replacement], ["context_edit", null]);
    assertEquals(target.message.stopReason, "error");
    assertEquals(allOf(records, "auto_retry_end")[0], {
      type: "auto_retry_end",
      success: true,
      attempt: 1,
    });
    assertEquals((await pi.messages()).map(({ role }) => role), ["user", "assistant"]);
  });
});

Deno.test("pi retry: given up after the configured number", async () => {
  const extraConfig = { retry: { baseDelayMs: 10, maxRetries: 2 } };
  await withPi({ replies: [BUSY, BUSY, BUSY], extraConfig }, async (pi) => {
    const records = await pi.run("go");
    const delays = allOf(records, "auto_retry_start").map(({ delayMs }) => delayMs);
    assertEquals(delays, [10, 20]);
    assertEquals(typesOf(records).slice(-3), ["agent_end", "auto_retry_end", "agent_settled"]);
    assertEquals(allOf(records, "agent_end").map(({ willRetry }) => willRetry), [
      true,
      true,
      false,
    ]);
    assertEquals(records.at(-2), {
      type: "auto_retry_end",
      success: false,
      attempt: 2,
      finalError: TOLD,
    });
    assertEquals(records.at(-1), { type: "agent_settled", aborted: false });
  });
});

Deno.test("pi retry: a stream that breaks keeps its text in the file only", async () => {
  const replies = [{ text: ["par", "tial"], cutAfter: 1 }, { text: "fine" }];
  await withPi({ replies, extraConfig: RETRY }, async (pi) => {
    const records = await pi.run("go");
    const broken = allOf(records, "message_end")[1].message as Json;
    assertEquals([textOf(broken), broken.stopReason], ["par", "error"]);
    assertEquals((await pi.messages()).map(textOf), ["go", "fine"]);
  });
});

Deno.test("pi retry: status decides, never words", async () => {
  const message = "timeout, server_error, please retry";
  const replies = [{ status: 400, body: { error: { message, type: "server_error" } } }];
  await withPi({ replies, strict: false }, async (pi) => {
    const records = await pi.run("go");
    assertEquals(allOf(records, "auto_retry_start"), []);
    assertEquals(allOf(records, "agent_end")[0].willRetry, false);
    const { errorMessage } = allOf(records, "turn_end")[0].message as Json;
    assertEquals(errorMessage, `400: ${JSON.stringify({ message, type: "server_error" })}`);
  });
});

Deno.test("pi abort_retry ends the pause, and abort does", async () => {
  const extraConfig = { retry: { baseDelayMs: 60_000 } };
  await withPi({ replies: [BUSY, BUSY, BUSY], extraConfig }, async (pi) => {
    assertEquals((await pi.ask({ type: "abort_retry" })).success, true);
    await pi.data({ type: "prompt", message: "go" });
    await pi.weir.next("auto_retry_start");
    await pi.weir.next("entry_appended");
    assertEquals((await pi.state()).isStreaming, true);
    await pi.ask({ type: "abort_retry" });
    await pi.weir.settled();
    const types = pi.weir.records.slice(-3);
    assertEquals(types.map(({ type }) => type), ["auto_retry_end", "response", "agent_settled"]);
    assertEquals([types[0].finalError, types[2].aborted], ["Retry cancelled", false]);
    await pi.data({ type: "prompt", message: "go" });
    await pi.weir.next("entry_appended");
    await pi.ask({ type: "abort" });
    const end = pi.weir.records.slice(-3);
    assertEquals(end.map(({ type }) => type), ["auto_retry_end", "agent_settled", "response"]);
    assertEquals([end[0].finalError, end[1].aborted], ["Retry cancelled", true]);
    await pi.ask({ type: "set_auto_retry", enabled: false });
    await pi.data({ type: "prompt", message: "go" });
    const records = await pi.weir.settled();
    assertEquals(allOf(records, "auto_retry_start").length, 0);
  });
});

const LONG = "many words ".repeat(400);
const SMALL = { compaction: { keepRecentTokens: 1500, reserveTokens: 1000 } };

Deno.test("pi compact: nothing to do, then a summary that begins the conversation", async () => {
  const replies = [{ text: LONG }, { text: LONG }, { text: "the summary" }, { text: "fine" }];
  await withPi({ replies, extraConfig: SMALL }, async (pi) => {
    const error = "Nothing to compact (session too small)";
    assertEquals(await pi.error({ type: "compact" }), error);
    assertEquals(pi.weir.records.slice(0, 2), [
      { type: "compaction_start", reason: "manual" },
      {
        type: "compaction_end",
        reason: "manual",
        aborted: false,
        willRetry: false,
        errorMessage: `Compaction failed: ${error}`,
      },
    ]);
    await pi.run(LONG);
    await pi.run(LONG);
    const data = await pi.data({ type: "compact", customInstructions: "keep the names" });
    assertEquals(Object.keys(data), [
      "summary",
      "firstKeptEntryId",
      "tokensBefore",
      "estimatedTokensAfter",
      "usage",
      "details",
    ]);
    assertEquals([data.summary, data.details], [
      "the summary",
      { readFiles: [], modifiedFiles: [] },
    ]);
    assertMatch(JSON.stringify(pi.lastRequest.messages), /keep the names/);
    const end = allOf(pi.weir.records, "compaction_end").at(-1)!;
    assertEquals(end.result, data);
    const [summary] = await pi.messages();
    assertEquals([summary.role, summary.summary], ["compactionSummary", "the summary"]);
    assertEquals((await pi.messages()).length, (await pi.state()).messageCount);
    const stats = await pi.data({ type: "get_session_stats" });
    assertEquals((stats.contextUsage as Json).tokens, null);
    assertEquals(stats.userMessages, 2);
    assertEquals(await pi.error({ type: "compact" }), "Already compacted");
    await pi.run("again");
    const after = await pi.data({ type: "get_session_stats" });
    assert(Number((after.contextUsage as Json).tokens) > 0);
  });
});

Deno.test("pi compact: prompt is refused meanwhile, and abort ends it", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const replies = [{ text: LONG }, { text: LONG }, { text: "never", gate: promise }];
  await withPi({ replies, extraConfig: SMALL }, async (pi) => {
    await pi.run(LONG);
    await pi.run(LONG);
    const id = await pi.send({ type: "compact" });
    await pi.weir.next("compaction_start");
    const { isCompacting, isStreaming } = await pi.state();
    assertEquals([isCompacting, isStreaming], [true, false]);
    assertEquals(
      await pi.error({ type: "prompt", message: "now" }),
      "Cannot submit a prompt while compaction is in progress. Wait for compaction to finish and retry.",
    );
    assertEquals(await pi.data({ type: "steer", message: "s" }), { disposition: "queued" });
    assertEquals(await pi.error({ type: "compact" }), "Compaction is already in progress");
    await pi.ask({ type: "abort" });
    assertEquals((await pi.weir.response(id)).error, "Compaction cancelled");
    assertEquals(allOf(pi.weir.records, "compaction_end").at(-1), {
      type: "compaction_end",
      reason: "manual",
      aborted: true,
      willRetry: false,
    });
    resolve();
    assertEquals((await pi.messages()).length, 4);
  });
});

Deno.test("pi compacts by itself when the window is full, and when the model refuses", async () => {
  const overflow = {
    status: 400,
    body: { error: { message: "too long", type: "x", code: "context_length_exceeded" } },
  };
  const big = { text: LONG, usage: { input: 3500, output: 1200 } };
  const answers = [{ text: LONG }, big, { text: LONG }, overflow, { text: "fine" }];
  const answer = (request: RecordedRequest) =>
    JSON.stringify(request.messages[0]).includes("You shorten the record")
      ? { text: "sum" }
      : answers.shift()!;
  await withPi({ answer, extraConfig: SMALL, contextWindow: 5000, strict: false }, async (pi) => {
    await pi.run(LONG);
    await pi.run(LONG);
    const full = await pi.run("three");
    assertEquals(
      allOf(full, "compaction_end").map(({ reason, willRetry }) => [reason, willRetry]),
      [
        ["threshold", false],
      ],
    );
    const refused = await pi.run("four");
    const types = typesOf(refused);
    const at = types.indexOf("compaction_start");
    assertEquals(types.slice(at - 1, at + 3), [
      "agent_end",
      "compaction_start",
      "compaction_end",
      "agent_start",
    ]);
    assertEquals(allOf(refused, "agent_end").map(({ willRetry }) => willRetry), [true, false]);
    const [end] = allOf(refused, "compaction_end");
    assertEquals([end.reason, end.willRetry], ["overflow", true]);
  });
});

Deno.test("pi compact ends the run first, and a prompt behind it is refused", async () => {
  const first = held();
  await withPi({ replies: [first.reply] }, async (pi) => {
    await pi.begin("go");
    const [compact, prompt] = await pi.sendAll(
      { type: "compact" },
      { type: "prompt", message: "now" },
    );
    assertMatch(String((await pi.weir.response(prompt)).error), /^Cannot submit a prompt/);
    assertMatch(String((await pi.weir.response(compact)).error), /^Nothing to compact/);
    const order = pi.weir.records.map(({ type }) => type);
    assert(order.indexOf("agent_settled") < order.indexOf("compaction_start"));
    first.letGo();
  });
});
