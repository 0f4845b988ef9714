import { assertEquals, assertMatch } from "@std/assert";
import { type Message, textOf } from "../../src/agent/message.ts";
import { ModelError } from "../../src/errors.ts";
import { ScriptedModel, type ScriptedReply } from "../fakes/scripted_model.ts";
import { HubBench } from "./_hub_bench.ts";

const ANSWER = { text: ["well"] };
const START = { calls: [{ id: "c1", name: "start", args: {} }] };

function task(args: Record<string, string> = {}): ScriptedReply {
  const id = "t1";
  return { calls: [{ id, name: "task", args: { description: "look", prompt: "work", ...args } }] };
}

function call(name: string, args: Record<string, string | number | string[]> = {}): ScriptedReply {
  return { calls: [{ id: "c", name, args }] };
}

/** What the last message of each request says. */
function lastTexts({ requests }: ScriptedModel): string[] {
  return requests.map(({ messages }) => textOf(messages.at(-1) as Message));
}

Deno.test("Subagent sees its prompt alone, and its usage is its parent's", async () => {
  const usage = { inputTokens: 100, outputTokens: 10 };
  const model = new ScriptedModel([task(), { ...ANSWER, usage }, ANSWER]);
  await using bench = await HubBench.open(model);
  await bench.turn("go");
  assertEquals(lastTexts(model), ["go", "work", "well"]);
  assertEquals(model.requests[1]!.messages.length, 1);
  const { inputTokens, outputTokens, calls, assistantMessages } = {
    ...bench.hub.session.transcript.stats(),
    ...bench.hub.session.transcript.stats().receipts,
  };
  assertEquals([inputTokens, outputTokens, calls, assistantMessages], [100, 10, 1, 2]);
});

Deno.test("Subagent of kind explore has the tools that only read", async () => {
  const model = new ScriptedModel([task({ subagent_type: "explore" }), ANSWER, ANSWER]);
  await using bench = await HubBench.open(model);
  await bench.turn("go");
  assertEquals(
    model.requests[1]!.tools.map(({ name }) => name),
    ["read", "ls", "find", "grep", "list_jobs", "stop_job", "wait_jobs"],
  );
});

Deno.test("Subagent ends its jobs also when it fails, and the failure is a result", async () => {
  const error = new ModelError("request", "no such key");
  const model = new ScriptedModel([task(), START, { error }, ANSWER]);
  await using bench = await HubBench.open(model);
  await bench.turn("go");
  const [job] = bench.hub.jobs.list();
  assertEquals([job!.status, job!.reason, job!.sessionId], [
    "stopped",
    "parent ended",
    bench.hub.session.id,
  ]);
  assertEquals(bench.subagentEvents().at(-1), "subagent_error");
  // The parent is told of the job after the result.
  const [result, notice] = model.requests.at(-1)!.messages.slice(-2);
  assertEquals(textOf(result!), "The subagent failed: no such key");
  assertMatch(textOf(notice!), /\nj1 · shell · stopped, exit 130 \(parent ended\) · /);
});

Deno.test("Subagent reads the notices of its jobs before its next request, its parent does not", async () => {
  const gate = Promise.withResolvers<void>();
  const model = new ScriptedModel([
    task(),
    START,
    { ...call("list_jobs"), gate: gate.promise },
    ANSWER,
    ANSWER,
  ]);
  await using bench = await HubBench.open(model);
  const turn = bench.turn("go");
  await bench.until(() => bench.commands.length === 1 && model.requests.length === 3);
  bench.commands[0]!.finish({ code: 7 });
  await bench.until(() => bench.count("job_change") === 2);
  gate.resolve();
  await turn;
  const texts = lastTexts(model);
  assertMatch(texts[3]!, /\nj1 · shell · failed, exit 7 · /);
  assertEquals(texts[4], "well");
});

Deno.test("wait_jobs without ids reports a job that ended before it was asked for", async () => {
  const gate = Promise.withResolvers<void>();
  const model = new ScriptedModel([
    task(),
    START,
    { ...call("wait_jobs"), gate: gate.promise },
    call("wait_jobs", { job_ids: ["j1", "j9"] }),
    ANSWER,
    ANSWER,
  ]);
  await using bench = await HubBench.open(model);
  const turn = bench.turn("go");
  await bench.until(() => bench.commands.length === 1 && model.requests.length === 3);
  bench.commands[0]!.finish();
  await bench.until(() => bench.count("job_change") === 2);
  gate.resolve();
  await turn;
  const texts = lastTexts(model);
  assertMatch(texts[3]!, /^<system-reminder [^]*\nj1 · shell · done, exit 0 · /);
  assertEquals(texts[4], "None of these jobs runs.");
});
