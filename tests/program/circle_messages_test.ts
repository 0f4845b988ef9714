/** Stored messages and statistics, as a circle RPC process reports them. */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { allOf, calls, withCircle } from "./_with_circle.ts";

type Json = Record<string, unknown>;

/** A whole image of one pixel. */
const PNG = Uint8Array.from(
  atob(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  ),
  (character) => character.charCodeAt(0),
);

function dataOf(message: Json): Json {
  return message.data as Json;
}

const TOOL_TURN = [
  {
    text: "Reading it.",
    thinking: "hm",
    toolCalls: [
      { id: "c1", name: "read", args: { path: "notes.txt" } },
      { id: "c2", name: "read", args: { path: "missing.txt" } },
    ],
    usage: { input: 1000, output: 500, cacheRead: 400 },
    model: "test-model-0514",
  },
  { text: "Three lines.", usage: { input: 310, output: 18, cacheRead: 0, cacheWrite: 12 } },
];

Deno.test("circle get_messages has every key of each kind of message", async () => {
  await withCircle({ replies: TOOL_TURN }, async (circle) => {
    const records = await circle.turn("What is in notes.txt?");
    const [first, second] = allOf(records, "assistant");
    const messages = await circle.messages();
    const ids = messages.map((message) => dataOf(message).id);
    assertEquals([ids[1], ids[4]], [first.id, second.id]);
    assertEquals(new Set(ids).size, 5);
    const common = (type: string, index: number) => ({
      additional_kwargs: {},
      response_metadata: {},
      type,
      name: null,
      id: ids[index],
    });
    const result = (index: number, more: Json) => ({
      type: "tool",
      data: { ...common("tool", index), name: "read", artifact: null, ...more },
    });
    assertEquals(messages, [
      { type: "human", data: { ...common("human", 0), content: "What is in notes.txt?" } },
      {
        type: "ai",
        data: {
          ...common("ai", 1),
          content: "Reading it.",
          additional_kwargs: { reasoning_content: "hm" },
          tool_calls: [
            { name: "read", args: { path: "notes.txt" }, id: "c1", type: "tool_call" },
            { name: "read", args: { path: "missing.txt" }, id: "c2", type: "tool_call" },
          ],
          invalid_tool_calls: [],
          usage_metadata: {
            input_tokens: 1000,
            output_tokens: 500,
            total_tokens: 1500,
            input_token_details: { cache_read: 400 },
          },
        },
      },
      result(2, {
        content: "first line\nsecond line\nthird line\n",
        tool_call_id: "c1",
        status: "success",
      }),
      result(3, {
        content: allOf(records, "tool_result")[1].output,
        tool_call_id: "c2",
        status: "error",
      }),
      {
        type: "ai",
        data: {
          ...common("ai", 4),
          content: "Three lines.",
          tool_calls: [],
          invalid_tool_calls: [],
          usage_metadata: {
            input_tokens: 310,
            output_tokens: 18,
            total_tokens: 328,
            input_token_details: { cache_read: 0, cache_creation: 12 },
          },
        },
      },
    ]);
  });
});

Deno.test("circle get_native_messages has receipts and leaves out what has nothing to say", async () => {
  await withCircle({ replies: TOOL_TURN }, async (circle) => {
    await circle.turn("What is in notes.txt?");
    const messages = await circle.messages("get_native_messages");
    const ids = (await circle.messages()).map((message) => dataOf(message).id);
    assertEquals(messages.map(({ id }) => id), ids);
    const [user, reply, result, failed, answer] = messages;
    assertEquals(user, { id: ids[0], role: "user", content: "What is in notes.txt?" });
    const { cost, ...told } = reply;
    assertEquals(told, {
      id: ids[1],
      role: "assistant",
      content: "Reading it.",
      thinking: "hm",
      tool_calls: [
        { id: "c1", name: "read", args: { path: "notes.txt" } },
        { id: "c2", name: "read", args: { path: "missing.txt" } },
      ],
      model: "test-model-0514",
      request_model: "test-model",
      usage: { input_tokens: 1000, output_tokens: 500, cache_read_tokens: 400 },
    });
    assertEquals(cost, {
      model: "test-model",
      currency: "USD",
      amount: 0.00164,
      tokens: {
        input_miss: 600,
        input_hit: 400,
        input_write: 0,
        input_write_1h: 0,
        output: 500,
      },
      rates: { input: 1, output: 2, cache_read: 0.1, cache_write: 0 },
      provider: "local",
    });
    assertEquals(result, {
      id: ids[2],
      role: "tool",
      content: "first line\nsecond line\nthird line\n",
      tool_call_id: "c1",
      name: "read",
      status: "success",
    });
    assertEquals([failed.status, failed.recoverable], ["error", undefined]);
    assertEquals(Object.keys(answer).sort(), [
      "content",
      "cost",
      "id",
      "model",
      "request_model",
      "role",
      "usage",
    ]);
    // A cache rate of 0 is charged as input.
    assertEquals((answer.cost as Json).amount, 0.000346);
  });
});

Deno.test("circle get_native_messages marks malformed calls", async () => {
  const replies = [
    calls({ id: "a", name: "read", args: "{oops" }, { id: "b", name: "read", args: {} }),
    { text: "ok" },
  ];
  await withCircle({ replies }, async (circle) => {
    await circle.turn("go");
    const [, reply, first, second] = await circle.messages("get_native_messages");
    const [bad, good] = reply.tool_calls as Json[];
    assertEquals([bad.args, bad.raw_args], [{}, "{oops"]);
    assertMatch(String(bad.argument_error), /./);
    assertEquals(good, { id: "b", name: "read", args: {} });
    assertEquals([first.recoverable, second.recoverable], [true, true]);
  });
});

Deno.test("circle get_messages shows images as parts and names them in results", async () => {
  const replies = [calls({ id: "c", name: "read", args: { path: "dot.png" } }), { text: "a dot" }];
  await withCircle({ replies }, async (circle) => {
    await Deno.writeFile(`${circle.workspace}/dot.png`, PNG);
    const records = await circle.turn("see @dot.png please");
    assertStringIncludes(String(allOf(records, "tool_result")[0].output), "dot.png");
    assertEquals(JSON.stringify(records).includes("iVBORw0"), false);
    const [user, , result] = await circle.messages();
    const image = {
      type: "image",
      base64: btoa(String.fromCharCode(...PNG)),
      mime_type: "image/png",
      filename: "dot.png",
    };
    assertEquals(dataOf(user).content, [{ type: "text", text: "see @dot.png please" }, image]);
    assertEquals((dataOf(result).content as Json[]).at(-1), image);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", PNG));
    const sha256 = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    const native = await circle.messages("get_native_messages");
    for (const message of [native[0], native[2]]) {
      assertEquals(message.attachments, [
        { kind: "image", mime_type: "image/png", filename: "dot.png", data: image.base64, sha256 },
      ]);
    }
    const sent = circle.server.requests[0].messages.at(-1)!.content as Json[];
    assertEquals(sent.map(({ type }) => type), ["text", "image_url"]);
  });
});

Deno.test("circle get_session_stats equals the endpoint's usage and the configured price", async () => {
  const denied = { status: 401, body: { error: { message: "no" } } };
  const replies = [...TOOL_TURN, denied, { text: "free", usage: null }];
  await withCircle({ args: ["--session-id", "s-1"], replies }, async (circle) => {
    const empty = {
      sessionId: "s-1",
      userMessages: 0,
      assistantMessages: 0,
      toolCalls: 0,
      toolResults: 0,
      totalMessages: 0,
      tokens: { input: 0, output: 0, total: 0 },
      costs: { amounts: {}, calls: 0, unpriced_calls: 0 },
    };
    assertEquals(await circle.data({ type: "get_session_stats" }), empty);
    for (const message of ["one", "two", "three"]) await circle.turn(message);
    const stats = {
      sessionId: "s-1",
      userMessages: 3,
      assistantMessages: 3,
      toolCalls: 2,
      toolResults: 2,
      totalMessages: 8,
      tokens: { input: 1310, output: 518, total: 1828 },
      costs: { amounts: { USD: 0.001986 }, calls: 2, unpriced_calls: 0 },
    };
    assertEquals(await circle.data({ type: "get_session_stats" }), stats);
    assertEquals((await circle.state()).messageCount, 8);
    await circle.start(["-c"]);
    assertEquals(await circle.data({ type: "get_session_stats" }), stats);
    await circle.data({ type: "new_session" });
    const { sessionId: _, ...fresh } = await circle.data({ type: "get_session_stats" });
    const { sessionId: __, ...expected } = empty;
    assertEquals(fresh, expected);
  });
});

Deno.test("circle get_session_stats counts calls without a known price", async () => {
  await withCircle({ price: null, replies: [{ text: "a" }] }, async (circle) => {
    await circle.turn("one");
    const { costs } = await circle.data({ type: "get_session_stats" });
    assertEquals(costs, { amounts: {}, calls: 1, unpriced_calls: 1 });
    const [, { cost }] = await circle.messages("get_native_messages");
    const { currency, amount, rates } = cost as Json;
    assertEquals([currency, amount, rates], ["", null, {}]);
  });
});

Deno.test("circle takes a price that is not configured from the endpoint's list", async () => {
  const pricing = { prompt: "0.000001", completion: "0.000002", input_cache_read: "0.0000001" };
  const models = { status: 200, body: { data: [{ id: "other" }, { id: "test-model", pricing }] } };
  const usage = { input: 1000, output: 500, cacheRead: 400 };
  const replies = [{ text: "a", usage }, { text: "b", usage }];
  await withCircle({ price: null, models, replies }, async (circle) => {
    await circle.turn("one");
    await circle.turn("two");
    const [, { cost }] = await circle.messages("get_native_messages");
    assertEquals((cost as Json).amount, 0.00164);
    const { costs } = await circle.data({ type: "get_session_stats" });
    assertEquals(costs, { amounts: { USD: 0.00328 }, calls: 2, unpriced_calls: 0 });
    assertEquals(circle.server.listRequests.length, 1);
  });
});
