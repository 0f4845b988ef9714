import { assertEquals, assertMatch } from "@std/assert";
import type { ModelServer } from "../fakes/model_server.ts";
import { DIALECTS, drive } from "./_drive.ts";
import { chunk, STREAM, write } from "./_faulty_endpoint.ts";
import { rounds } from "./_rounds.ts";
import { finish, withEndpoint } from "./_with_endpoint.ts";

type Part = Record<string, unknown>;

const MEBIBYTE = 1024 * 1024;
const named = (name: unknown, args: unknown): Part => ({ name, arguments: args });

/** Fragments that other tests have not. */
const CHAT: Record<string, readonly Part[]> = {
  "a name in pieces": [
    { index: 0, id: "a", function: named("re", "") },
    { index: 0, function: named("ad", '{"path":"notes.txt"}') },
  ],
  "a name in each piece": [
    { index: 0, id: "a", function: named("read", '{"path":') },
    { index: 0, id: "a", function: named("read", '"notes.txt"}') },
  ],
  "the name behind the arguments": [
    { index: 0, id: "a", function: { arguments: '{"path":"notes.txt"}' } },
    { index: 0, function: { name: "read" } },
  ],
  "a name that is no text": [{ index: 0, id: "a", function: named({ a: 1 }, "{}") }],
  "a name with spaces": [{ index: 0, id: "a", function: named(" read ", "{}") }],
  "a long name": [{ index: 0, id: "a", function: named("x".repeat(5000), "{}") }],
  "a name of control characters": [{ index: 0, id: "a", function: named("\n\0\u001b[31m", "{}") }],
  "an id that is no text": [{ index: 0, id: 5, function: named("ls", "{}") }],
  "a long id": [{ index: 0, id: "i".repeat(5000), function: named("ls", "{}") }],
  "an index far away": [{ index: 1e9, id: "a", function: named("ls", "{}") }],
  "an index below zero": [{ index: -1, id: "a", function: named("ls", "{}") }],
  "an index that is no number": [{ index: "0", id: "a", function: named("ls", "{}") }],
  "arguments as an object": [
    { index: 0, id: "a", function: named("read", { path: "notes.txt" }) },
  ],
  "arguments twice": [
    { index: 0, id: "a", function: named("ls", "{}") },
    { index: 0, function: { arguments: "{}" } },
  ],
  "half a character": [
    { index: 0, id: "a", function: named("read", '{"path":"\\ud83d"}') },
  ],
  "a NUL in a path": [{ index: 0, id: "a", function: named("read", '{"path":"a\\u0000b"}') }],
  "__proto__": [{ index: 0, id: "a", function: named("ls", '{"__proto__":{"path":"x"}}') }],
  "big arguments": [
    { index: 0, id: "a", function: named("read", `{"path":"${"x".repeat(2 * MEBIBYTE)}"}`) },
  ],
};

const item = (fields: Part): Part => ({ type: "function_call", status: "completed", ...fields });

/** Items of the other API, each added and done. */
const RESPONSES: Record<string, readonly Part[]> = {
  "a tool that does not exist": [item({ call_id: "a", name: "fly", arguments: "{}" })],
  "arguments that are no JSON": [item({ call_id: "a", name: "read", arguments: '{"path' })],
  "arguments against the schema": [item({ call_id: "a", name: "read", arguments: '{"path":5}' })],
  "arguments that are no object": [item({ call_id: "a", name: "read", arguments: "[1]" })],
  "no arguments": [item({ call_id: "a", name: "ls" })],
  "arguments as an object": [item({ call_id: "a", name: "ls", arguments: {} })],
  "no id": [item({ name: "ls", arguments: "{}" })],
  "an empty id": [item({ call_id: "", id: "", name: "ls", arguments: "{}" })],
  "an empty name": [item({ call_id: "a", name: "", arguments: "{}" })],
  "no name": [item({ call_id: "a", arguments: "{}" })],
  "one id for two calls": [
    item({ call_id: "a", name: "ls", arguments: "{}" }),
    item({ call_id: "a", name: "read", arguments: '{"path":"notes.txt"}' }),
  ],
  "an item of a kind that is to come": [
    { type: "hologram", id: "h" },
    item({ call_id: "a", name: "ls", arguments: "{}" }),
  ],
  "many calls": Array.from(
    { length: 60 },
    (_, index) => item({ call_id: `c${index}`, name: index % 2 ? "ls" : "fly", arguments: "{}" }),
  ),
};

function chatStream(parts: readonly Part[]): string {
  const events = parts.map((part) => chunk({ tool_calls: [part] })).join("");
  return `${STREAM}${events}${chunk({}, "tool_calls")}data: [DONE]\n\n`;
}

/** `gap`: how far the numbers of two items are from each other. */
function responsesStream(items: readonly Part[], gap = 1): string {
  const events: Part[] = [{ type: "response.created", response: { id: "r" } }];
  for (const [index, whole] of items.entries()) {
    const output_index = index * gap;
    const { arguments: args, ...rest } = whole;
    const added = { ...rest, ...(args === undefined ? {} : { arguments: "" }) };
    events.push({ type: "response.output_item.added", output_index, item: added });
    if (typeof args === "string") {
      const delta = { type: "response.function_call_arguments.delta", output_index };
      events.push({ ...delta, delta: args.slice(0, 3) }, { ...delta, delta: args.slice(3) });
    }
    events.push({ type: "response.output_item.done", output_index, item: whole });
  }
  const response = { id: "r", status: "completed", model: "test-model", output: items };
  events.push({ type: "response.completed", response });
  return STREAM +
    events.map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`).join("");
}

/** Each answer in every dialect; in the short form in one of them, in turn. The turn goes on behind the broken calls. */
async function runAnswers(
  answers: Record<string, string>,
  { api, check }: {
    api: "chat" | "responses";
    check?: (name: string, server: ModelServer) => void;
  },
): Promise<void> {
  await withEndpoint({ api }, async ({ server, endpoint, home }) => {
    for (const [turn, dialect] of DIALECTS.entries()) {
      await using driver = await drive({ dialect, home });
      for (const [index, [name, bytes]] of Object.entries(answers).entries()) {
        if (rounds(1) === 1 && index % DIALECTS.length !== turn) continue;
        const before = server.requests.length;
        endpoint.misbehave((conn) => write(conn, bytes), 1);
        assertEquals(await (await driver.prompt(name))(), "answer", `${dialect}: ${name}`);
        assertEquals(server.requests.length - before, 1, `${dialect}: ${name}: no other try`);
        check?.(name, server);
        assertEquals(await (await driver.prompt("again"))(), "answer", `${dialect}: after ${name}`);
        // A strict endpoint refuses what is not paired.
        assertEquals(server.complaints, [], `${dialect}: ${name}`);
      }
      await finish(driver);
    }
  });
}

Deno.test("chat: a call in an odd form has its result, and the turn goes on", async () => {
  const answers = Object.entries(CHAT).map(([name, parts]) => [name, chatStream(parts)]);
  await runAnswers(Object.fromEntries(answers), {
    api: "chat",
    check: (name, { requests }) => {
      const borne = [
        "a name in each piece",
        "the name behind the arguments",
        "arguments as an object",
      ];
      if (!borne.includes(name)) return;
      assertMatch(JSON.stringify(requests.at(-1)!.messages.at(-1)), /second line/, name);
    },
  });
});

Deno.test("responses: a call in an odd form has its result, and the turn goes on", async () => {
  const answers = Object.entries(RESPONSES).map(([name, items]) => [name, responsesStream(items)]);
  answers.push([
    "gaps between the numbers",
    responsesStream(RESPONSES["many calls"]!.slice(0, 3), 7),
  ]);
  await runAnswers(Object.fromEntries(answers), { api: "responses" });
});
