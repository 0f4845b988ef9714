import { assertEquals, assertStrictEquals } from "@std/assert";
import type {
  AssistantMessage,
  Message,
  ToolResultMessage,
  UserMessage,
} from "../../src/agent/message.ts";
import { missingResults, pairCalls } from "../../src/agent/pair_calls.ts";

const hello: UserMessage = { role: "user", content: [], timestamp: 1 };

function reply(ids: string[], stopReason: AssistantMessage["stopReason"] = "toolUse") {
  const content = ids.map((id) => ({ type: "toolCall" as const, id, name: "read", arguments: {} }));
  const rest = { api: "chat", provider: "p", model: "m", requestModel: "m", timestamp: 2 };
  return { role: "assistant", content, stopReason, ...rest } satisfies AssistantMessage;
}

function result(toolCallId: string, text = "ok"): ToolResultMessage {
  const content = [{ type: "text" as const, text }];
  return {
    role: "toolResult",
    toolCallId,
    toolName: "read",
    content,
    isError: false,
    timestamp: 3,
  };
}

const missing = (id: string): ToolResultMessage => ({
  ...result(id, "gone"),
  isError: true,
  timestamp: 2,
});

const pair = (messages: Message[]) => pairCalls(messages, { missingText: "gone" });

Deno.test("pairCalls() returns the same array when nothing needs to change", () => {
  const messages = [hello, reply(["a", "b"]), result("a"), result("b"), reply([]), hello];
  assertStrictEquals(pair(messages), messages);
  const none: Message[] = [];
  assertStrictEquals(pair(none), none);
});

Deno.test("pairCalls() gives a call without result an error result", () => {
  assertEquals(pair([reply(["a", "b"]), result("b"), hello]), [
    reply(["a", "b"]),
    missing("a"),
    result("b"),
    hello,
  ]);
  assertEquals(pair([reply(["a"])]), [reply(["a"]), missing("a")]);
});

Deno.test("pairCalls() moves results behind their reply, in the order of the calls", () => {
  const moved = pair([reply(["a", "b"]), result("b"), hello, reply([]), result("a")]);
  assertEquals(moved, [reply(["a", "b"]), result("a"), result("b"), hello, reply([])]);
});

Deno.test("pairCalls() drops results without a call, second results and partial replies", () => {
  const stray = result("x");
  const messages = [
    stray,
    reply(["a"]),
    result("a", "first"),
    result("a", "second"),
    reply(["c"], "aborted"),
    result("c"),
    reply([], "error"),
  ];
  assertEquals(pair(messages), [reply(["a"]), result("a", "first")]);
});

Deno.test("pairCalls() gives a result to the last reply before it that has the id", () => {
  const messages = [reply(["a"]), hello, reply(["a"]), result("a", "second")];
  assertEquals(pair(messages), [
    reply(["a"]),
    missing("a"),
    hello,
    reply(["a"]),
    result("a", "second"),
  ]);
  const twice = [reply(["a", "a"]), result("a", "1"), result("a", "2")];
  assertStrictEquals(pair(twice), twice);
});

Deno.test("pairCalls() is linear", () => {
  const messages: Message[] = [];
  for (let index = 0; index < 50_000; index++) messages.push(reply([`c${index}`]));
  for (let index = 0; index < 50_000; index++) messages.push(result(`c${index}`));
  const paired = pair(messages);
  assertEquals(paired.length, 100_000);
  assertEquals(paired[99_999], result("c49999"));
});

Deno.test("missingResults() names the calls of whole replies that have no result", () => {
  const messages = [reply(["a", "b"]), result("b"), reply(["c"], "aborted"), reply(["d"])];
  assertEquals(missingResults(messages).map((call) => call.id), ["a", "d"]);
  assertEquals(missingResults([reply(["a"]), result("a")]), []);
});
