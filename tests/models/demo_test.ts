import { assert, assertEquals, assertStrictEquals, assertStringIncludes } from "@std/assert";
import type { Message, ToolCall, ToolResultMessage } from "../../src/agent/message.ts";
import { createDemoModel } from "../../src/models/demo.ts";
import { type Answer, ask, requestOf, user } from "./_ask.ts";

const FILES: Record<string, string> = {
  "README.md": "\n# Hats\n\nAll about hats.\n",
  "mod.ts": "export const hats = 3;\n",
  "notes.txt": "buy a hat\n",
};
const LISTING = "src/\nREADME.md\nlogo.png\nmod.ts\nnotes.txt\n";
const tools = ["ls", "read", "bash"].map((name) => ({ name, description: "", parameters: {} }));

/** Runs the calls like an agent; `steer` gives what is said after the n-th step. */
async function turn(
  prompt: string | Message[],
  options: { steer?: Record<number, string>; offered?: typeof tools } = {},
): Promise<{ calls: string[]; last: Answer; texts: string[]; messages: Message[] }> {
  const messages: Message[] = typeof prompt === "string" ? [user(prompt)] : [...prompt];
  const calls: string[] = [];
  const texts: string[] = [];
  for (let step = 1;; step++) {
    assert(step < 10, "the demo comes to an end");
    const request = { messages: [...messages], tools: options.offered ?? tools };
    const answer = await ask(createDemoModel(), { request });
    texts.push(textIn(answer));
    messages.push({
      role: "assistant",
      content: answer.content,
      api: "demo",
      provider: "demo",
      model: "demo",
      requestModel: "demo",
      stopReason: answer.end.stopReason,
      timestamp: 0,
    });
    const made = answer.content.filter((block) => block.type === "toolCall");
    if (made.length === 0) return { calls, last: answer, texts, messages };
    assertEquals(answer.end.stopReason, "toolUse");
    for (const call of made) {
      calls.push(`${call.name} ${Object.values(call.arguments).join(" ")}`);
      messages.push(run(call));
    }
    const said = options.steer?.[step];
    if (said !== undefined) messages.push(user(said));
  }
}

function run(call: ToolCall): ToolResultMessage {
  const path = String(call.arguments.path);
  const text = call.name === "ls" ? LISTING : call.name === "read" ? FILES[path] : "done\n";
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: [{ type: "text", text: text ?? "no such file" }],
    isError: text === undefined,
    timestamp: 0,
  };
}

function textIn(answer: Answer): string {
  return answer.content.map((block) => block.type === "text" ? block.text : "").join("");
}

Deno.test("createDemoModel() looks around and says what it saw", async () => {
  const { calls, last } = await turn("What is this project?");
  assertEquals(calls, ["ls .", "read README.md", "read mod.ts"]);
  const text = textIn(last);
  assertStringIncludes(text, "demo, not a language model");
  assertStringIncludes(text, 'You asked: "What is this project?"');
  assertStringIncludes(text, "The folder has 5 entries: src/, README.md,");
  assertStringIncludes(text, "README.md begins: # Hats");
  assertStringIncludes(text, "mod.ts begins: export const hats = 3;");
  assertEquals(last.content[0].type, "thinking");
  assert(last.events.filter((event) => event.type === "text_delta").length > 4);
  assert(last.end.usage && last.end.usage.inputTokens > 0 && last.end.usage.outputTokens > 0);
});

Deno.test("createDemoModel() reads a file that is named", async () => {
  const { calls } = await turn("Tell me about notes.txt please");
  assertEquals(calls, ["ls .", "read notes.txt", "read README.md"]);
});

Deno.test("createDemoModel() runs a command that is given", async () => {
  for (const prompt of ["Please run `make test`", "run: make test"]) {
    const { calls, last } = await turn(prompt);
    assertEquals(calls, ["bash make test"]);
    assertStringIncludes(textIn(last), "`make test` printed: done");
  }
});

Deno.test("createDemoModel() obeys steering and says so", async () => {
  const only = await turn("Look around", { steer: { 1: "only read notes.txt" } });
  assertEquals(only.calls, ["ls .", "read notes.txt"]);
  assertStringIncludes(only.texts[1], "Steered: only read notes.txt");
  assertStringIncludes(textIn(only.last), "Steered: only read notes.txt");
  const skip = await turn("Look around", { steer: { 1: "skip the files" } });
  assertEquals(skip.calls, ["ls ."]);
  const without = await turn("Look around", { steer: { 1: "skip mod.ts" } });
  assertEquals(without.calls, ["ls .", "read README.md"]);
  const command = await turn("Look around", { steer: { 2: "now `date`" } });
  assertEquals(command.calls, ["ls .", "read README.md", "bash date", "read mod.ts"]);
});

Deno.test("createDemoModel() begins anew with the next request, also after an interruption", async () => {
  const { messages } = await turn("Look around");
  const second = await turn([...messages, user("And now notes.txt")]);
  assertEquals(second.calls, ["ls .", "read notes.txt", "read README.md"]);
  const call: ToolCall = { type: "toolCall", id: "x", name: "ls", arguments: { path: "." } };
  const interrupted = {
    ...run(call),
    content: [{ type: "text", text: "Interrupted" } as const],
    isError: true,
  };
  const third = await turn([...messages, interrupted, user("Hello again")]);
  assertStringIncludes(textIn(third.last), 'You asked: "Hello again"');
});

Deno.test("createDemoModel() answers directly without tools, the same each time", async () => {
  const first = await turn("Hi", { offered: [] });
  assertEquals(first.calls, []);
  assertStringIncludes(textIn(first.last), "No tools are offered");
  assertEquals((await turn("Hi", { offered: [] })).last, first.last);
});

Deno.test("createDemoModel() leaves the thinking out at level off", async () => {
  const { content } = await ask(createDemoModel(), { request: { thinkingLevel: "off" } });
  assertEquals(content.map((block) => block.type), ["text"]);
});

Deno.test("createDemoModel() answers a notice of a job without looking around", async () => {
  const notice: Message = { ...user("Job j1 ended"), internal: "job_notice" };
  const { calls, last } = await turn([notice]);
  assertEquals(calls, []);
  assertStringIncludes(textIn(last), "Job j1 ended");
});

Deno.test("createDemoModel() looks at a huge prompt in no time of note", async () => {
  const { calls } = await turn("a".repeat(2_000_000));
  assertEquals(calls[0], "ls .");
});

Deno.test("createDemoModel() ends at once when aborted, waiting for the sink or not", async () => {
  const reason = new Error("enough");
  for (const wait of [undefined, new Promise<void>(() => {})]) {
    const controller = new AbortController();
    let pieces = 0;
    const reply = createDemoModel().reply(requestOf(), {
      signal: controller.signal,
      sink() {
        if (++pieces === 4) controller.abort(reason);
        return wait && pieces === 4 ? wait : undefined;
      },
    });
    const thrown = await reply.then(() => undefined, (error) => error);
    assertStrictEquals(thrown, reason);
    assertEquals(pieces, 4);
  }
  const signal = AbortSignal.abort(reason);
  const early = createDemoModel().reply(requestOf(), { signal, sink: () => undefined });
  assertStrictEquals(await early.catch((error) => error), reason);
});

Deno.test("createDemoModel() lists itself", async () => {
  const { signal } = new AbortController();
  assertEquals(await createDemoModel().listModels({ signal }), ["demo"]);
});
