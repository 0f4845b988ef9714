/** What a turn of a circle RPC process writes, sends to the model and keeps, also when the endpoint misbehaves. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { allOf, calls, onlyOutput, saidIn, typesOf, withCircle } from "./_with_circle.ts";

const ONE_ANSWER = ["turn_start", "assistant", "turn_end", "agent_settled"];
const DENIED = { status: 401, body: { error: { message: "bad key" } } };

Deno.test("circle prompt answers started, then one turn and its end", async () => {
  const usage = { input: 2110, output: 6 };
  await withCircle({ replies: [{ text: ["There ", "are 7."], usage }] }, async (circle) => {
    const id = await circle.send({ id: "a1", type: "prompt", message: "How many?" });
    const records = await circle.weir.settled();
    assertEquals(typesOf(records), ["response", ...ONE_ANSWER]);
    const told = { input_tokens: 2110, output_tokens: 6, cache_read_tokens: 0 };
    const assistant = records[2];
    assertMatch(String(assistant.id), /./);
    assertEquals(records, [
      {
        type: "response",
        command: "prompt",
        success: true,
        id,
        data: { disposition: "started" },
      },
      { type: "turn_start", message: "How many?" },
      {
        type: "assistant",
        id: assistant.id,
        text: "There are 7.",
        tool_calls: [],
        usage: told,
      },
      { type: "turn_end", answer: "There are 7.", usage: told },
      { type: "agent_settled" },
    ]);
  });
});

Deno.test("circle prompt, steer and follow_up need a message with text", async () => {
  await withCircle({}, async (circle) => {
    for (const type of ["prompt", "steer", "follow_up"]) {
      for (const more of [{}, { message: "" }, { message: " \n\t\u00a0" }, { message: 5 }]) {
        assertEquals(await circle.error({ type, ...more }), "message is required");
      }
      for (const message of [null, ["a"], { text: "a" }, true]) {
        assertEquals(await circle.error({ type, message }), "message is required");
      }
    }
    assertEquals(circle.server.requests, []);
  });
});

Deno.test("circle prompt uses the message as it is, slash and white space included", async () => {
  await withCircle({ replies: [{ text: "a" }, { text: "b" }] }, async (circle) => {
    for (const message of ["  /help \n", "/compact"]) {
      const [start] = await circle.turn(message, { streamingBehavior: 17 });
      assertEquals(start.message, message);
      assertEquals(circle.lastRequest.messages.at(-1), { role: "user", content: message });
    }
  });
});

Deno.test("circle turns sum the usage of their replies", async () => {
  const replies = [
    {
      toolCalls: [{ id: "c1", name: "read", args: { path: "notes.txt" } }],
      usage: { input: 100, output: 7, cacheRead: 40, cacheWrite: 9 },
    },
    { text: "Three lines.", usage: { input: 150, output: 3, cacheRead: 90 } },
  ];
  await withCircle({ replies }, async (circle) => {
    const records = await circle.turn("read it");
    assertEquals(typesOf(records), [
      "turn_start",
      "assistant",
      "tool_result",
      "assistant",
      "turn_end",
      "agent_settled",
    ]);
    const first = { input_tokens: 100, output_tokens: 7, cache_read_tokens: 40 };
    assertEquals(records[1].usage, { ...first, cache_write_tokens: 9 });
    assertEquals(records[1].text, "");
    assertEquals(records[1].tool_calls, [
      { id: "c1", name: "read", args: { path: "notes.txt" } },
    ]);
    assertEquals(records[2], {
      type: "tool_result",
      id: "c1",
      name: "read",
      status: "success",
      output: "first line\nsecond line\nthird line\n",
    });
    assertEquals(records[4].usage, {
      input_tokens: 250,
      output_tokens: 10,
      cache_read_tokens: 130,
      cache_write_tokens: 9,
    });
  });
});

Deno.test("circle turns report zeros where the endpoint reports nothing", async () => {
  await withCircle({ replies: [{ text: "a", usage: null }] }, async (circle) => {
    const records = await circle.turn("go");
    const zero = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0 };
    assertEquals([records[1].usage, records[2].usage], [zero, zero]);
    const stats = await circle.data({ type: "get_session_stats" });
    assertEquals(stats.costs, { amounts: {}, calls: 0, unpriced_calls: 0 });
  });
});

Deno.test("circle turns give results in call order", async () => {
  const replies = [
    calls(
      { id: "1", name: "read", args: { path: "missing.txt" } },
      { id: "2", name: "ls", args: { path: "src" } },
      { id: "3", name: "fly", args: { to: "Rome" } },
      { id: "4", name: "read", args: "{not json" },
      { id: "5", name: "read", args: "[1]" },
      { id: "6", name: "read", args: { path: 7, more: true } },
      { id: "7", name: "read", args: { path: "README.md" } },
    ),
    { text: "done" },
  ];
  await withCircle({ replies, strict: false }, async (circle) => {
    const records = await circle.turn("go");
    const results = allOf(records, "tool_result");
    assertEquals(results.map(({ id, status }) => `${id} ${status}`), [
      "1 error",
      "2 success",
      "3 error",
      "4 error",
      "5 error",
      "6 error",
      "7 success",
    ]);
    assertEquals(results[2].output, "tool is not available: fly");
    for (const index of [3, 4, 5]) {
      assertMatch(String(results[index].output), /^read was called with invalid arguments: ./);
    }
    const [{ tool_calls }] = allOf(records, "assistant") as { tool_calls?: unknown[] }[];
    const bad = tool_calls!.slice(3, 5) as Record<string, unknown>[];
    assertEquals(bad.map(({ args, raw_args }) => [args, raw_args]), [
      [{}, "{not json"],
      [{}, "[1]"],
    ]);
    for (const { argument_error } of bad) assertMatch(String(argument_error), /./);
    assertEquals(allOf(records, "not_run"), []);
    const answered = circle.lastRequest.messages.filter(({ role }) => role === "tool");
    assertEquals(answered.map(({ tool_call_id }) => tool_call_id), [..."1234567"]);
  });
});

Deno.test("circle turns send calls with broken arguments back in a form that endpoints take", async () => {
  const replies = [calls({ id: "4", name: "read", args: "{not json" }), { text: "done" }];
  await withCircle({ replies }, async (circle) => {
    await circle.turn("go");
    assertEquals(circle.server.complaints, []);
  });
});

Deno.test("circle turns send the system prompt, the messages and nothing else", async () => {
  const files = { "AGENTS.md": "Always answer in rhyme.\n", "notes.txt": "n\n" };
  const args = ["--append-system-prompt", "Appended here."];
  await withCircle({ files, args, replies: [{ text: "a" }, { text: "b" }] }, async (circle) => {
    await circle.turn("one");
    await circle.turn("two");
    const [system] = circle.lastRequest.messages;
    for (const part of ["Always answer in rhyme.", "Appended here.", circle.workspace]) {
      assertStringIncludes(String(system.content), part);
    }
    assertEquals(saidIn(circle.lastRequest), ["user: one", "assistant: a", "user: two"]);
    const system2 = circle.server.requests[0].messages[0];
    assertEquals(system2, system);
  });
});

Deno.test("circle turns retry a busy endpoint without a record", async () => {
  const busy = { status: 503, body: "busy", headers: { "retry-after-ms": "1" } };
  await withCircle({ replies: [busy, busy, { text: "well" }] }, async (circle) => {
    assertEquals(typesOf(await circle.turn("go")), ONE_ANSWER);
    assertEquals(circle.server.requests.length, 3);
  });
});

Deno.test("circle turns fail at once on 401 and go on with the next prompt", async () => {
  await withCircle({ replies: [DENIED, { text: "well" }] }, async (circle) => {
    const records = await circle.turn("go");
    assertEquals(typesOf(records), ["turn_start", "error", "agent_settled"]);
    assertMatch(String(records[1].message), /401.*bad key/);
    assertEquals((await circle.state()).isStreaming, false);
    assertEquals(typesOf(await circle.turn("again")), ONE_ANSWER);
    assertEquals(saidIn(circle.lastRequest), ["user: go", "user: again"]);
  });
});

Deno.test("circle turns give up on an endpoint that stays busy", async () => {
  const busy = {
    status: 500,
    body: { error: { message: "down" } },
    headers: { "retry-after-ms": "1" },
  };
  await withCircle({ answer: () => busy }, async (circle) => {
    const records = await circle.turn("go");
    assertEquals(typesOf(records), ["turn_start", "error", "agent_settled"]);
    assertMatch(String(records[1].message), /500.*down/);
    assertEquals(circle.server.requests.length, 7);
  });
});

Deno.test("circle turns fail on a reply with neither text nor calls", async () => {
  await withCircle({ replies: [{ text: "" }, { text: [] }, { text: " \n " }] }, async (circle) => {
    for (const message of ["one", "two"]) {
      const records = await circle.turn(message);
      assertEquals(typesOf(records), ["turn_start", "assistant", "error", "agent_settled"]);
      assertEquals(records[2].message, "model ended without an answer");
    }
    // White space is a text.
    assertEquals(typesOf(await circle.turn("three")), ONE_ANSWER);
  });
});

Deno.test("circle turns keep the text of a reply that was cut and try once more", async () => {
  const cuts = [
    { text: ["half", " a", " reply"], cutAfter: 2 },
    { text: ["half"], errorInStream: { message: "overloaded", code: "server_error" } },
  ];
  for (const cut of cuts) {
    await withCircle({ replies: [cut, { text: "whole" }, { text: "next" }] }, async (circle) => {
      assertEquals(typesOf(await circle.turn("go")), ONE_ANSWER);
      await circle.turn("more");
      assertEquals(saidIn(circle.lastRequest), ["user: go", "assistant: whole", "user: more"]);
      const messages = await circle.messages("get_native_messages");
      assertEquals(messages.map(({ role, truncated }) => [role, truncated]), [
        ["user", undefined],
        ["assistant", true],
        ["assistant", undefined],
        ["user", undefined],
        ["assistant", undefined],
      ]);
      assertMatch(String(messages[1].content), /^half/);
      assertEquals((await circle.state()).messageCount, 5);
    });
  }
});

Deno.test("circle turns fail when the repeated step is cut as well", async () => {
  const cut = { text: ["half", " a"], cutAfter: 1 };
  await withCircle({ replies: [cut, cut, { text: "well" }] }, async (circle) => {
    assertEquals(typesOf(await circle.turn("go")), ["turn_start", "error", "agent_settled"]);
    assertEquals((await circle.state()).messageCount, 3);
    assertEquals(typesOf(await circle.turn("again")), ONE_ANSWER);
    assertEquals(saidIn(circle.lastRequest), ["user: go", "user: again"]);
  });
});

Deno.test("circle turns end with the text of a reply that met the length limit", async () => {
  await withCircle({ replies: [{ text: "as far as", finish: "length" }] }, async (circle) => {
    const records = await circle.turn("go");
    assertEquals(records[2].answer, "as far as");
    const [, reply] = await circle.messages("get_native_messages");
    assertEquals(reply.truncated, true);
  });
});

Deno.test("circle turns show what the tools of the skeleton do", async () => {
  const replies = [
    calls({ id: "t", name: "todo", args: { items: [{ text: "look", status: "in_progress" }] } }),
    { text: "ok" },
    calls({
      id: "q",
      name: "question",
      args: {
        questions: [
          {
            question: "Which colour?",
            options: ["red", { label: "blue", description: "sky" }],
            multiple: true,
          },
          { prompt: "Secret word?", secret: true, choices: [{ text: "yes" }], multiSelect: false },
        ],
      },
    }),
    { text: "Please tell me." },
  ];
  await withCircle({ replies }, async (circle) => {
    const [todo] = allOf(await circle.turn("plan"), "tool_result");
    assertEquals([todo.name, todo.status], ["todo", "success"]);
    const [question] = allOf(await circle.turn("ask"), "tool_result");
    assertEquals(question.status, "success");
    const output = String(question.output);
    assert(output.startsWith("USER_QUESTIONS"), output);
    for (
      const part of ["1. ", "Which colour?", "red", "blue", "sky", "2. ", "Secret word?", "yes"]
    ) {
      assertStringIncludes(output, part);
    }
    assertEquals(output.split("(several may be chosen)").length, 2);
  });
});

Deno.test("circle turns report the exit code of a command as a success", async () => {
  const command = "printf out; printf err >&2; exit 3";
  const replies = [
    calls({ name: "bash", args: { command } }),
    { text: "ok" },
    calls({ name: "bash", args: { command: "echo whole; sleep 5", timeout: 0.2 } }),
    { text: "ok" },
  ];
  await withCircle({ args: ["--yolo"], replies }, async (circle) => {
    const records = await circle.turn("run");
    assertEquals(allOf(records, "tool_result")[0].status, "success");
    assertEquals(onlyOutput(records), "outerr\nExit code: 3");
    const ended = await circle.turn("run longer");
    assertEquals(allOf(ended, "tool_result")[0].status, "error");
    assertMatch(onlyOutput(ended), /^whole\n(.*\n)*Command ended: timeout\nExit code: \d+$/);
  });
});
