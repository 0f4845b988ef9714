import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { checkCircleRecords } from "./grammar_circle.ts";

type Json = Record<string, unknown>;

const response = (command: string, more: Json = {}): Json => ({
  type: "response",
  command,
  success: true,
  ...more,
});
const started = response("prompt", { id: "p", data: { disposition: "started" } });
const queued = response("steer", { id: "s", data: { disposition: "queued" } });
const turn = { type: "turn_start", message: "go" };
const usage = (input: number, output: number) => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_tokens: 0,
});
const assistant = (id: string, text: string, ...calls: (string | Json)[]): Json => ({
  type: "assistant",
  id,
  text,
  tool_calls: calls.map((call) =>
    typeof call === "string" ? { id: call, name: "bash", args: {} } : call
  ),
  usage: usage(10, 1),
});
const result = (id: string, more: Json = {}): Json => ({
  type: "tool_result",
  id,
  name: "bash",
  status: "success",
  output: "out",
  ...more,
});
const notRun = { type: "not_run", name: "bash", args: {}, reason: "runs a shell command" };
const steer = { type: "steer", message: "left" };
const end = (answer: string, replies = 1): Json => ({
  type: "turn_end",
  answer,
  usage: usage(10 * replies, replies),
});
const aborted = { type: "turn_end", aborted: true };
const failed = { type: "error", message: "401 no" };
const settled = { type: "agent_settled" };
const stopped = { type: "jobs_stopped", count: 0 };
const job = (event: string, more: Json = {}): Json => ({
  type: "job",
  event,
  job: {
    id: "j1",
    kind: "shell",
    title: "make",
    status: event === "ended" ? "done" : "running",
    reason: event === "ended" ? "exit" : "",
    exitCode: event === "ended" ? 0 : null,
    startedBy: "model",
    elapsed: 0.1,
    output: "/home/ann/run-1.log",
    sessionId: "s",
    ...more,
  },
});
const compaction = (phase: string, more: Json = {}): Json => ({
  type: "compaction",
  sessionId: "s",
  trigger: "auto",
  phase,
  ...more,
});
const task = { id: "t", name: "task", args: {} };
const subagent = (event: string, more: Json = {}, tags: Json = {}): Json => ({
  type: "subagent_event",
  event,
  ...more,
  tags: { subagent: "a1", name: "general", ...tags },
});
const full = response("set_event_detail", { data: { detail: "full" } });
const delta = (id: string, text: string): Json => ({ type: "message_delta", id, delta: text });
const toolStart = (id: string): Json => ({ type: "tool_start", id, name: "bash", args: {} });
const opening = [started, turn];

const accepted: Record<string, Json[]> = {
  "a prompt": [...opening, assistant("1", "hi"), end("hi"), settled, stopped],
  "calls, one of them not run": [
    ...opening,
    assistant("1", "", "a", "b"),
    result("a"),
    notRun,
    result("b", { status: "error" }),
    assistant("2", "done"),
    end("done", 2),
    settled,
    stopped,
  ],
  "steering and a follow-up": [
    ...opening,
    queued,
    assistant("1", "first"),
    steer,
    assistant("2", "x"),
    end("x", 2),
    turn,
    assistant("3", "y"),
    end("y"),
    settled,
    stopped,
  ],
  "an abort and a failed turn": [
    ...opening,
    assistant("1", "", "a"),
    result("a", { status: "error", output: "Interrupted" }),
    aborted,
    settled,
    response("abort", { id: "x" }),
    ...opening,
    failed,
    settled,
    stopped,
  ],
  "a job and the turn it starts": [
    ...opening,
    assistant("1", "", "a"),
    job("started"),
    result("a"),
    assistant("2", "ok"),
    end("ok", 2),
    settled,
    job("ended"),
    { type: "turn_start" },
    assistant("3", "it ended"),
    end("it ended"),
    settled,
    stopped,
  ],
  "full detail with a reply that was cut": [
    full,
    ...opening,
    delta("0", "lost"),
    { type: "thinking_delta", id: "1", delta: "hm" },
    delta("1", "a"),
    delta("1", "b"),
    assistant("1", "ab", "c"),
    toolStart("c"),
    { type: "tool_output", id: "c", delta: "out" },
    result("c"),
    delta("2", "z"),
    assistant("2", "z"),
    end("z", 2),
    settled,
    stopped,
  ],
  "a compaction and a subagent": [
    ...opening,
    compaction("start", { tokens_before: 9, summarized: 2, kept: 1 }),
    compaction("saving"),
    compaction("error", { message: "disk full" }),
    assistant("1", "", task),
    subagent("run_start", { message: "look" }),
    subagent("llm_token", { text: "a", thinking: false }),
    subagent("run_end", { answer: "a", usage: usage(1, 1) }),
    result("t", { name: "task" }),
    assistant("2", "ok"),
    end("ok", 2),
    settled,
    stopped,
  ],
  "responses with every kind of id": [
    response("get_state", { id: 0, data: { isStreaming: false } }),
    response("x", { id: { a: [1] }, success: false, error: "Unknown command: x" }),
    response("parse", { success: false, error: "invalid JSON command" }),
    response("parse", { id: "q", success: false, error: "Unknown command: parse" }),
    stopped,
  ],
};

for (const [what, records] of Object.entries(accepted)) {
  Deno.test(`checkCircleRecords() accepts ${what}`, () => {
    checkCircleRecords(records, { state: "ended" });
    for (const count of records.keys()) {
      checkCircleRecords(records.slice(0, count), { state: "midway" });
    }
  });
}

const first = assistant("1", "", "a", "b");
const refused: [rule: string, records: Json[]][] = [
  ['unknown type "session"', [{ type: "session", id: "x", workspace: "/w", model: "m" }]],
  ['unknown type "toString"', [{ type: "toString" }]],
  ["unknown type undefined", [{}]],
  ['field "extra" does not belong there', [{ ...settled, extra: 1 }]],
  ['field "usage" is missing', [...opening, { type: "turn_end", answer: "x" }]],
  ['field "answer" does not belong there', [...opening, { ...aborted, answer: "x" }]],
  ['field "aborted" cannot be false', [...opening, { ...aborted, aborted: false }]],
  ['field "data" does not belong there', [
    response("x", { success: false, error: "no", data: {} }),
  ]],
  ['field "error" is missing', [response("x", { success: false })]],
  ['field "error" cannot be "a\\nb"', [response("x", { success: false, error: "a\nb" })]],
  ['field "id" cannot be null', [response("x", { id: null })]],
  ['field "job" cannot be', [job("started", { extra: 1 })]],
  ['field "tool_calls" cannot be', [...opening, assistant("1", "", { id: "a", name: "b" })]],
  ['field "usage" cannot be', [
    ...opening,
    { ...assistant("1", "x"), usage: { ...usage(1, 1), total: 2 } },
  ]],
  ['field "phase" cannot be "odd"', [compaction("odd")]],
  ['field "file" is missing', [compaction("saved")]],
  ['field "message" is missing', [subagent("run_start")]],
  ["parse has its fixed error, no id", [
    response("parse", { id: 1, success: false, error: "invalid JSON command" }),
  ]],
  ["a prompt is answered with a disposition", [response("prompt")]],
  ["a turn runs, so the message cannot start one", [...opening, started]],
  ["abort is answered after agent_settled", [...opening, aborted, response("abort")]],
  ["new_session is refused while a turn runs", [...opening, response("new_session")]],
  ["isStreaming is true until agent_settled", [
    ...opening,
    response("get_state", { data: { isStreaming: false } }),
  ]],
  ["the response that says started comes before turn_start", [turn]],
  ["the turn that a response promised comes first", [started, { type: "turn_start" }]],
  ["the turn before was not closed", [...opening, turn]],
  ["agent_settled has to follow an error or an abort", [...opening, failed, turn]],
  ["a turn of finished jobs starts after agent_settled", [
    ...opening,
    assistant("1", "x"),
    end("x"),
    { type: "turn_start" },
  ]],
  ["no turn is open", [assistant("1", "x")]],
  ["no turn is open", [...opening, failed, failed]],
  ["assistant comes before the tool_result of call a", [...opening, first, assistant("2", "x")]],
  ["steer comes before the tool_result of call a", [...opening, first, steer]],
  ["a reply without tool calls ends the turn, unless steer follows", [
    ...opening,
    assistant("1", "x"),
    assistant("2", "y"),
  ]],
  ["there was an assistant 1 before", [
    ...opening,
    assistant("1", "", "a"),
    result("a"),
    assistant("1", "x"),
  ]],
  ["the next tool_result is that of bash a", [...opening, first, result("b")]],
  ["the next tool_result is that of bash a", [...opening, first, result("a", { name: "ls" })]],
  ["every call has its tool_result already", [
    ...opening,
    assistant("1", "", "a"),
    result("a"),
    result("a"),
  ]],
  ["a call that was not run has an error", [...opening, first, notRun, result("a")]],
  ["it stands right before its call's tool_result", [...opening, notRun]],
  ["it comes once for a call", [...opening, first, notRun, notRun]],
  ["call a has no tool_result", [...opening, first, aborted]],
  ["call a has no tool_result", [...opening, first, failed]],
  ["an answer ends the turn", [...opening, end("x")]],
  ["an answer ends the turn", [...opening, assistant("1", "x"), steer, end("x")]],
  ["a reply without text is no answer", [...opening, assistant("1", ""), end("")]],
  ["answer is the last assistant's text", [...opening, assistant("1", "x"), end("y")]],
  ["usage.input_tokens is not the turn's sum", [...opening, assistant("1", "x"), end("x", 2)]],
  ["the turn was not closed by turn_end or error", [...opening, settled]],
  ["there is no work to settle", [settled]],
  ["there is no work to settle", [...opening, failed, settled, settled]],
  ["the work was not settled", [...opening, failed, stopped]],
  ["nothing comes after jobs_stopped", [stopped, response("x")]],
  ["job j1 has not ended", [job("started"), stopped]],
  ["job j1 was not started", [job("ended")]],
  ["job j1 was started before", [job("started"), job("started")]],
  ["job j1 has ended", [job("started"), job("ended"), job("ended")]],
  ["status cannot be running", [job("started"), job("ended", { status: "running" })]],
  ["phase saving cannot follow nothing", [compaction("saving")]],
  ["no task call is open", [...opening, subagent("run_start", { message: "x" })]],
  ["a run begins with one run_start", [
    ...opening,
    subagent("llm_start", {}, { job_id: "j1" }),
  ]],
  ["full detail was not asked for", [...opening, delta("1", "x")]],
  ["its text is not what its deltas joined are", [
    full,
    ...opening,
    delta("1", "x"),
    assistant("1", "xy"),
  ]],
  ["message_delta comes before the tool_result of call a", [
    full,
    ...opening,
    assistant("1", "", "a"),
    delta("2", "x"),
  ]],
  ["tool_start is missing", [full, ...opening, assistant("1", "", "a"), result("a")]],
  ["no call z of bash waits to be started", [full, ...opening, first, toolStart("z")]],
  ["no call a of bash waits to be started", [
    full,
    ...opening,
    first,
    toolStart("a"),
    toolStart("a"),
  ]],
  ["a call that was not run is never started", [
    full,
    ...opening,
    first,
    notRun,
    toolStart("a"),
  ]],
  ["call a was not started", [
    full,
    ...opening,
    first,
    { type: "tool_output", id: "a", delta: "x" },
  ]],
];

for (const [index, [rule, records]] of refused.entries()) {
  Deno.test(`checkCircleRecords() refuses ${index + 1}: ${rule}`, () => {
    const error = assertThrows(() => checkCircleRecords(records, { state: "midway" }), Error);
    const { type } = records.at(-1)!;
    assertStringIncludes(error.message, `Record ${records.length} (${type}): ${rule}`);
  });
}

Deno.test("checkCircleRecords() demands what the state of the process promises", () => {
  const explain = (records: Json[], state: "running" | "ended" = "running") =>
    assertThrows(() => checkCircleRecords(records, { state }), Error).message.split("\n")[0];
  assertEquals(
    explain(opening),
    "End of 2 records: the last turn was not closed by turn_end or error",
  );
  assertEquals(explain([...opening, failed]), "End of 3 records: agent_settled is missing");
  assertEquals(
    explain([started]),
    "End of 1 records: turn_start is missing after a response that said started",
  );
  assertEquals(explain([], "ended"), "End of 0 records: jobs_stopped is missing");
  checkCircleRecords([]);
});

Deno.test("checkCircleRecords() compares responses with the commands", () => {
  const records = [
    response("get_state", { id: 1 }),
    response("5", { success: false, error: "Unknown command: 5" }),
    response("parse", { success: false, error: "invalid JSON command" }),
  ];
  const commands = [{ type: "get_state", id: 1 }, { type: 5, id: null }, { type: "parse" }];
  checkCircleRecords(records, { commands });
  const explain = (list: Json[]) =>
    assertThrows(() => checkCircleRecords(records, { commands: list }), Error).message;
  assertStringIncludes(explain(commands.slice(0, 2)), "3 responses to 2 commands");
  assertStringIncludes(
    explain([...commands, { type: "abort" }]),
    "command 4 (abort) has no response",
  );
  assertStringIncludes(explain([commands[1], commands[0]]), "response 1 is not that of");
});
