import { assert, assertEquals, assertObjectMatch } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import type { AgentEvent } from "../../src/agent/agent_event.ts";
import type { Conversation } from "../../src/agent/conversation.ts";
import type { TurnHooks } from "../../src/agent/hook.ts";
import type { Message } from "../../src/agent/message.ts";
import { runTurn, type TurnOptions, type TurnResult } from "../../src/agent/run_turn.ts";
import { textOutcome, type Tool } from "../../src/agent/tool.ts";
import { ModelError } from "../../src/errors.ts";
import { createMemoryHost } from "../../src/memory/memory_host.ts";
import { ScriptedModel, type ScriptedReply } from "../fakes/scripted_model.ts";

class Bench implements Conversation {
  readonly messages: Message[] = [
    { role: "user", content: [{ type: "text", text: "go" }], timestamp: 0 },
  ];
  readonly events: AgentEvent[] = [];
  readonly controller = new AbortController();
  readonly model: ScriptedModel;
  hooks: Partial<TurnHooks> = {};
  tools: Tool[] = [];
  #ids = 0;

  constructor(replies: readonly ScriptedReply[]) {
    this.model = new ScriptedModel(replies);
  }

  requestMessages(): readonly Message[] {
    return this.messages;
  }

  reserveId(): string {
    return `m${++this.#ids}`;
  }

  append(message: Message, options?: { id: string }): string {
    this.messages.push(message);
    return options?.id ?? this.reserveId();
  }

  run(options: Partial<TurnOptions> = {}): Promise<TurnResult> {
    const hooks: TurnHooks = {
      beforeRequest: () => Promise.resolve(),
      goesOn: () => false,
      beforeEnd: () => Promise.resolve(),
      beforeCall: () => Promise.resolve({ run: true }),
      afterCall: (_call, result) => Promise.resolve(result),
      makeRoom: () => Promise.resolve(false),
      ...this.hooks,
    };
    return runTurn({
      sessionId: "s",
      conversation: this,
      hooks,
      texts: {
        unknownTool: (name) => `no ${name}`,
        badArguments: (name, problem) => `${name}: ${problem}`,
        interrupted: ({ begun, partial }) => `stopped ${begun} ${partial}`,
      },
      exitCodeIsError: false,
      emptyAnswer: "fail",
      lengthCut: "answer",
      toolContext: {
        host: createMemoryHost(),
        workspace: "/",
        isCredentialFile: () => false,
        outputFolder: () => Promise.resolve("/"),
        allowedVariables: [],
        secretVariables: [],
      },
      signal: this.controller.signal,
      setting: () =>
        Promise.resolve({
          model: this.model,
          thinkingLevel: undefined,
          systemPrompt: "",
          tools: new Map(this.tools.map((tool) => [tool.name, tool])),
        }),
      emit: (event) => {
        this.events.push(event);
        return undefined;
      },
      ...options,
    });
  }

  types(): string[] {
    return this.events.map((event) => event.type);
  }
}

/** In steps, so that timers that are set meanwhile run too. */
async function passTime(time: FakeTime, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += ms / 50) await time.tickAsync(ms / 50);
}

function tool(name: string, run: Tool["run"], group?: Tool["group"]): Tool {
  return {
    name,
    description: name,
    parameters: { type: "object" },
    parse: (args) =>
      args.bad ? { ok: false, problem: "bad is not allowed" } : { ok: true, value: args },
    run,
    ...(group === undefined ? {} : { group }),
  };
}

function call(id: string, name: string, args: Record<string, string> | string = {}) {
  return { id, name, args };
}

Deno.test("runTurn() answers and tells each step", async () => {
  const bench = new Bench([{ text: ["a", "b"], usage: { inputTokens: 3, outputTokens: 2 } }]);
  const result = await bench.run();
  assertObjectMatch(result, {
    outcome: "answered",
    answer: "ab",
    model: "scripted-1-answering",
    usage: { inputTokens: 3, outputTokens: 2 },
  });
  assertEquals(bench.types(), [
    "step_start",
    "reply_start",
    "text_start",
    "text_delta",
    "text_delta",
    "text_end",
    "reply_end",
    "step_end",
  ]);
  assertEquals(bench.messages.length, 2);
});

Deno.test("runTurn() runs calls and asks again until there are none", async () => {
  const bench = new Bench([
    { calls: [call("1", "echo", { x: "y" })], usage: { inputTokens: 1, outputTokens: 1 } },
    { text: ["done"], usage: { inputTokens: 2, outputTokens: 2 } },
  ]);
  bench.tools = [tool("echo", (args) => Promise.resolve(textOutcome(JSON.stringify(args))))];
  const result = await bench.run();
  assertObjectMatch(result, { outcome: "answered", usage: { inputTokens: 3, outputTokens: 3 } });
  assertObjectMatch(bench.messages[2]!, {
    role: "toolResult",
    toolCallId: "1",
    isError: false,
    content: [{ type: "text", text: '{"x":"y"}' }],
  });
});

Deno.test("runTurn() answers unknown tools, bad arguments and refusals with results and goes on", async () => {
  const bench = new Bench([
    {
      calls: [
        call("1", "none"),
        call("2", "a", { bad: "1" }),
        call("3", "a", "{broken"),
        call("4", "a"),
      ],
    },
    { text: ["ok"] },
  ]);
  bench.tools = [tool("a", () => Promise.resolve(textOutcome("ran")))];
  bench.hooks = {
    beforeCall: () =>
      Promise.resolve({ run: false, cause: "asks", text: "not run", reason: "why" }),
  };
  await bench.run();
  const results = bench.messages.filter((message) => message.role === "toolResult");
  assertEquals(
    results.map((message) => [message.toolCallId, message.content[0], message.isError]),
    [
      ["1", { type: "text", text: "no none" }, true],
      ["2", { type: "text", text: "a: bad is not allowed" }, true],
      ["3", { type: "text", text: "a: not JSON" }, true],
      ["4", { type: "text", text: "not run" }, true],
    ],
  );
  const told = bench.events.filter((event) => event.type === "call_not_run");
  assertEquals(told.map((event) => event.reason), ["why"]);
  assert(!bench.types().includes("tool_start"));
});

Deno.test("runTurn() turns a tool that throws into an error result", async () => {
  const bench = new Bench([{ calls: [call("1", "bad")] }, { text: ["ok"] }]);
  bench.tools = [tool("bad", () => Promise.reject(new Error("no luck")))];
  assertObjectMatch(await bench.run(), { outcome: "answered" });
  assertObjectMatch(bench.messages[2]!, { isError: true, content: [{ text: "no luck" }] });
});

Deno.test("runTurn() runs neighbours that read at the same time, results in call order", async () => {
  const order: string[] = [];
  const slow = Promise.withResolvers<void>();
  const bench = new Bench([
    { calls: [call("1", "slow"), call("2", "fast"), call("3", "write"), call("4", "fast")] },
    { text: ["ok"] },
  ]);
  const track = (name: string, wait?: Promise<void>) => async () => {
    order.push(`${name} begins`);
    await wait;
    order.push(`${name} ends`);
    if (name === "fast") slow.resolve();
    return textOutcome(name);
  };
  bench.tools = [
    tool("slow", track("slow", slow.promise), "read"),
    tool("fast", track("fast"), "read"),
    tool("write", track("write")),
  ];
  await bench.run();
  assertEquals(order, [
    "slow begins",
    "fast begins",
    "fast ends",
    "slow ends",
    "write begins",
    "write ends",
    "fast begins",
    "fast ends",
  ]);
  const ends = bench.events.filter((event) => event.type === "call_end");
  assertEquals(ends.map((event) => event.call.id), ["1", "2", "3", "4"]);
});

Deno.test("runTurn() repeats a request that failed before its first piece and tells of it", async () => {
  using time = new FakeTime();
  const failure = new ModelError("server", "503 busy", { status: 503 });
  const bench = new Bench([{ error: failure }, { error: failure }, { text: ["ok"] }]);
  const running = bench.run();
  await passTime(time, 10_000);
  assertObjectMatch(await running, { outcome: "answered", answer: "ok" });
  assertEquals(
    bench.events.filter((event) => event.type === "retry").map((
      event,
    ) => [event.attempt, event.limit]),
    [
      [1, 6],
      [2, 6],
    ],
  );
});

for (
  const [kind, tries] of [["rate_limit", 6], ["server", 7], ["network", 7], ["auth", 1], [
    "request",
    1,
  ]] as const
) {
  Deno.test(`runTurn() gives up on ${kind} after ${tries} requests`, async () => {
    using time = new FakeTime();
    const bench = new Bench(
      Array.from({ length: 10 }, () => ({ error: new ModelError(kind, "no") })),
    );
    const running = bench.run();
    await passTime(time, 300_000);
    assertObjectMatch(await running, { outcome: "failed", error: "no" });
    assertEquals(bench.model.requests.length, tries);
  });
}

Deno.test("runTurn() waits as long as the endpoint asks", async () => {
  using time = new FakeTime();
  const bench = new Bench([
    { error: new ModelError("rate_limit", "429", { retryAfterMs: 7000 }) },
    { text: ["ok"] },
  ]);
  const running = bench.run();
  await time.tickAsync(6999);
  assertEquals(bench.model.requests.length, 1);
  await time.tickAsync(1);
  assertObjectMatch(await running, { outcome: "answered" });
});

Deno.test("runTurn() keeps the text of a reply that breaks off and repeats the step once", async () => {
  const cut = new ModelError("stream_cut", "cut");
  const bench = new Bench([{ text: ["half"], error: cut }, { text: ["whole"] }]);
  assertObjectMatch(await bench.run(), { outcome: "answered", answer: "whole" });
  assertObjectMatch(bench.messages[1]!, {
    stopReason: "error",
    errorMessage: "cut",
    content: [{ type: "text", text: "half" }],
  });
  const twice = new Bench([{ text: ["half"], error: cut }, { text: ["half"], error: cut }]);
  assertObjectMatch(await twice.run(), { outcome: "failed", error: "cut" });
});

Deno.test("runTurn() fails on a reply with neither text nor calls", async () => {
  const bench = new Bench([{}]);
  assertObjectMatch(await bench.run(), {
    outcome: "failed",
    error: "model ended without an answer",
  });
  assert(bench.types().includes("reply_end"));
});

Deno.test("runTurn() asks once more for an answer where that is wanted, with a reminder that is not kept", async () => {
  const bench = new Bench([{}, { text: ["here"] }]);
  assertObjectMatch(await bench.run({ emptyAnswer: "ask_again" }), {
    outcome: "answered",
    answer: "here",
  });
  assertEquals(bench.model.requests[1]!.messages.at(-1)!.role, "user");
  assertEquals(bench.messages.length, 3);
  const never = new Bench([{}, {}]);
  await never.run({ emptyAnswer: "ask_again" });
  assertEquals(never.types().filter((type) => type === "soft_stop").length, 1);
});

Deno.test("runTurn() stops while the model streams and keeps what came as a partial reply", async () => {
  const bench = new Bench([{ text: ["par", "tial"], gate: new Promise(() => {}) }]);
  const running = bench.run({
    emit: (event) => {
      if (event.type === "text_end") {
        queueMicrotask(() => bench.controller.abort(new Error("stop")));
      }
      return undefined;
    },
  });
  assertObjectMatch(await running, { outcome: "aborted" });
  assertObjectMatch(bench.messages[1]!, { stopReason: "aborted", content: [{ text: "partial" }] });
});

Deno.test("runTurn() stops while it waits for a retry, at once", async () => {
  using time = new FakeTime();
  const bench = new Bench([{
    error: new ModelError("rate_limit", "429", { retryAfterMs: 60_000 }),
  }]);
  const running = bench.run();
  await time.tickAsync(10);
  bench.controller.abort(new Error("stop"));
  assertObjectMatch(await running, { outcome: "aborted" });
});

Deno.test("runTurn() gives every call a result when it is stopped in one", async () => {
  const bench = new Bench([{ calls: [call("1", "wait"), call("2", "wait")] }]);
  bench.tools = [
    tool("wait", (_args, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        queueMicrotask(() => bench.controller.abort(new Error("stop")));
      })),
  ];
  assertObjectMatch(await bench.run(), { outcome: "aborted" });
  const ends = bench.events.filter((event) => event.type === "call_end");
  assertEquals(ends.map((event) => [event.call.id, event.begun, event.cause]), [
    ["1", true, "interrupted"],
    ["2", false, "interrupted"],
  ]);
  assertEquals(bench.types().filter((type) => type === "step_end").length, 0);
});

Deno.test("runTurn() does nothing when it is stopped already", async () => {
  const bench = new Bench([{ text: ["never"] }]);
  bench.controller.abort(new Error("stop"));
  assertObjectMatch(await bench.run(), { outcome: "aborted" });
  assertEquals([bench.model.requests.length, bench.events.length], [0, 0]);
});

Deno.test("runTurn() leaves a tool behind that does not stop", async () => {
  using time = new FakeTime();
  const bench = new Bench([{ calls: [call("1", "deaf")] }]);
  bench.tools = [tool("deaf", () => new Promise(() => {}))];
  const running = bench.run();
  await time.tickAsync(1);
  bench.controller.abort(new Error("stop"));
  await time.tickAsync(5000);
  assertObjectMatch(await running, { outcome: "aborted" });
  assertEquals(bench.messages.at(-1)!.role, "toolResult");
});

Deno.test("runTurn() goes on after an answer when messages wait", async () => {
  const bench = new Bench([{ text: ["one"] }, { text: ["two"] }]);
  let waiting = 1;
  bench.hooks = {
    goesOn: () => waiting-- > 0,
    beforeRequest: ({ afterAnswer }) => {
      if (afterAnswer) {
        bench.append({ role: "user", content: [{ type: "text", text: "more" }], timestamp: 0 });
      }
      return Promise.resolve();
    },
  };
  assertObjectMatch(await bench.run(), { outcome: "answered", answer: "two" });
  assertEquals(bench.messages.map((message) => message.role), [
    "user",
    "assistant",
    "user",
    "assistant",
  ]);
});

Deno.test("runTurn() makes room once when the conversation is too long", async () => {
  const overflow = new ModelError("overflow", "too long", { status: 400 });
  let made = 0;
  const bench = new Bench([{ error: overflow }, { text: ["ok"] }]);
  bench.hooks = { makeRoom: () => Promise.resolve(++made === 1) };
  assertObjectMatch(await bench.run(), { outcome: "answered" });
  const again = new Bench([{ error: overflow }, { error: overflow }]);
  again.hooks = { makeRoom: () => Promise.resolve(true) };
  assertObjectMatch(await again.run(), { outcome: "failed", error: "too long" });
});

Deno.test("runTurn() goes on after a reply that was cut by its length, eight times at most", async () => {
  const cut: ScriptedReply = { text: ["x"], stopReason: "length" };
  const bench = new Bench([cut, cut, { text: ["end"] }]);
  assertObjectMatch(await bench.run({ lengthCut: "go_on" }), {
    outcome: "answered",
    answer: "end",
  });
  const endless = new Bench(Array.from({ length: 20 }, () => cut));
  await endless.run({ lengthCut: "go_on" });
  assertEquals(endless.model.requests.length, 8);
  const plain = new Bench([cut]);
  assertObjectMatch(await plain.run(), { outcome: "answered", answer: "x" });
});

Deno.test("runTurn() takes what a hook makes of a result", async () => {
  const bench = new Bench([{ calls: [call("1", "a")] }, { text: ["ok"] }]);
  bench.tools = [tool("a", () => Promise.resolve(textOutcome("long")))];
  bench.hooks = {
    afterCall: (_call, result) =>
      Promise.resolve({ ...result, content: [{ type: "text", text: "short" }] }),
  };
  await bench.run();
  assertObjectMatch(bench.messages[2]!, { content: [{ text: "short" }] });
});
