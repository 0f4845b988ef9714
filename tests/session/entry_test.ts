import { assertEquals, assertStrictEquals } from "@std/assert";
import type { JsonObject, Message, Receipt, Usage } from "../../src/agent/message.ts";
import { decodeEntry, decodeHeader, encodeEntry, type NewEntry } from "../../src/session/entry.ts";
import { decodeMessage, encodeMessage } from "../../src/session/stored_message.ts";
import { assistant, user } from "./session_samples.ts";

const receipt: Receipt = {
  model: "m",
  currency: "USD",
  amount: 0.00164,
  tokens: { input_miss: 600, input_hit: 400, input_write: 0, input_write_1h: 0, output: 500 },
  rates: { input: 1, output: 2, cache_read: 0.1, cache_write: 0 },
  provider: "openai",
};
const usage: Usage = { inputTokens: 1000, outputTokens: 500, cacheReadTokens: 400 };

const MESSAGES: Record<string, Message> = {
  "a user's text": user("hello"),
  "images": {
    role: "user",
    content: [
      { type: "image", data: "AA==", mimeType: "image/png", filename: "a.png" },
      { type: "text", text: "" },
      { type: "image", data: "AA==", mimeType: "image/png" },
    ],
    timestamp: 3,
    display: "shown",
  },
  "a notice": { ...user("job ended"), internal: "job_notice" },
  "a reply with usage and receipt": assistant("answer", { usage, receipt }),
  "a reply with usage in full": assistant("answer", {
    usage: { ...usage, cacheWriteTokens: 0, reasoningTokens: 20 },
    receipt: { ...receipt, currency: "", amount: null, rates: {} },
  }),
  "a reply without usage": assistant("answer"),
  "a reply with zeros": assistant("answer", { usage: { inputTokens: 0, outputTokens: 0 } }),
  "a reply with every member": assistant("", {
    content: [
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "\u2028 line" },
      { type: "toolCall", id: "c1", name: "read", arguments: { path: "a", deep: [1, null] } },
      {
        type: "toolCall",
        id: "c2",
        name: "read",
        arguments: {},
        rawArguments: "[1",
        argumentsError: "no object",
      },
    ],
    api: "responses",
    requestModel: "asked",
    stopReason: "aborted",
    errorMessage: "Interrupted",
    responseId: "r",
    rawStopReason: "x",
    thinkingLevel: "high",
    durationMs: 12,
  }),
  "a reply of another interface": assistant("answer", { api: "demo", stopReason: "length" }),
  "a result": {
    role: "toolResult",
    toolCallId: "c1",
    toolName: "read",
    content: [{ type: "text", text: "ok" }],
    isError: true,
    timestamp: 4,
    details: { diff: "+" },
    recoverable: true,
    durationMs: 1,
  },
  "a small result": {
    role: "toolResult",
    toolCallId: "c1",
    toolName: "read",
    content: [],
    isError: false,
    timestamp: 4,
  },
};

for (const [name, message] of Object.entries(MESSAGES)) {
  Deno.test(`decodeMessage() gives back what encodeMessage() took: ${name}`, () => {
    assertEquals(decodeMessage(JSON.parse(JSON.stringify(encodeMessage(message)))), message);
  });
}

Deno.test("encodeMessage() writes tokens and costs as pi does", () => {
  const raw = encodeMessage(assistant("answer", { usage, receipt }));
  assertEquals(raw.api, "openai-completions");
  assertEquals(raw.usage, {
    input: 600,
    output: 500,
    cacheRead: 400,
    cacheWrite: 0,
    totalTokens: 1500,
    cost: { input: 0.0006, output: 0.001, cacheRead: 0.00004, cacheWrite: 0, total: 0.00164 },
  });
});

Deno.test("encodeMessage() writes zeros when nothing was reported, because pi needs the members", () => {
  assertEquals(encodeMessage(assistant("answer")).usage, {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  });
});

Deno.test("decodeMessage() makes the best of what others write", () => {
  const reply = (rest: JsonObject) =>
    decodeMessage({ role: "assistant", content: [], model: "m", ...rest }, { timestamp: 9 });
  assertEquals(reply({ stopReason: "pending" }), {
    role: "assistant",
    content: [],
    api: "",
    provider: "",
    model: "m",
    requestModel: "m",
    stopReason: "aborted",
    timestamp: 9,
  });
  const call = { type: "toolCall", id: "c", name: "n", arguments: "junk" };
  const withCall = reply({ content: [call, 5, { type: "odd" }] });
  assertEquals(withCall?.content, [{ type: "toolCall", id: "c", name: "n", arguments: {} }]);
  assertEquals(withCall?.role === "assistant" && withCall.stopReason, "toolUse");
  assertEquals(reply({ content: "text alone" })?.content, [{ type: "text", text: "text alone" }]);
});

Deno.test("decodeMessage() refuses what is no message", () => {
  const refused = [
    undefined,
    null,
    5,
    [],
    {},
    { role: "user" },
    { role: "system", content: "x" },
    { role: "bashExecution", command: "ls" },
    { role: "toolResult", content: [] },
    { role: "assistant", content: 5 },
  ];
  for (const value of refused) assertStrictEquals(decodeMessage(value), undefined);
});

const ENTRIES: NewEntry[] = [
  { type: "message", message: user("x") },
  { type: "model_change", provider: "openai", modelId: "m" },
  { type: "thinking_level_change", thinkingLevel: "high" },
  { type: "compaction", summary: "s", firstKeptEntryId: "a", tokensBefore: 7 },
  {
    type: "compaction",
    summary: "s",
    firstKeptEntryId: "a",
    tokensBefore: 7,
    usage,
    receipt,
    details: { readFiles: [] },
  },
  { type: "session_info", name: "n" },
  { type: "custom", customType: "weir.todo", data: [1] },
  { type: "custom", customType: "weir.mark" },
  { type: "usage", kind: "task", provider: "openai", model: "m", usage, receipt },
  { type: "usage", kind: "compaction", provider: "openai", model: "m", usage },
  { type: "opaque", raw: { type: "label", targetId: "a", label: "l" } },
];

const place = { id: "0000000a", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };

Deno.test("decodeEntry() gives back what encodeEntry() took", () => {
  for (const entry of ENTRIES) {
    const raw = encodeEntry(entry, place);
    assertEquals([raw.id, raw.parentId, raw.timestamp], Object.values(place));
    const again = decodeEntry(JSON.parse(JSON.stringify(raw)));
    assertEquals(again, entry.type === "opaque" ? { type: "opaque", raw } : entry);
  }
});

Deno.test("decodeEntry() keeps what it does not understand as it is", () => {
  const raws: JsonObject[] = [
    { type: "branch_summary", summary: "s" },
    { type: "message", message: { role: "bashExecution", command: "ls" } },
    { type: "message", message: 5 },
    { type: "model_change" },
    { type: "compaction", summary: 1 },
    { type: "usage", usage: null },
    { type: "__proto__" },
  ];
  for (const raw of raws) assertEquals(decodeEntry(raw), { type: "opaque", raw });
});

Deno.test("decodeHeader() reads all versions and refuses other lines", () => {
  assertEquals(decodeHeader({ type: "session", id: "x", cwd: "/a", branchedFrom: "/b" }), {
    type: "session",
    version: 1,
    id: "x",
    timestamp: "",
    cwd: "/a",
    parentSession: "/b",
  });
  assertEquals(decodeHeader({ type: "session" }), undefined);
  assertEquals(decodeHeader({ type: "message", id: "x" }), undefined);
});
