import { assertThrows } from "@std/assert";
import { checkNimletRecords } from "./grammar_nimlet.ts";

type Json = Record<string, unknown>;

const RUN = { session_id: "s", turn_id: "s:turn:1", run_id: "s:turn:1" };
const TOOL = { ...RUN, step: 0, tool_id: "c", tool_name: "bash" };

/** A process with one run: a call, steering that waits for its end, and an answer. */
const RECORDS: Json[] = [
  { type: "session_start", session_id: "s" },
  { type: "response", id: "p", ok: true, state: "started" },
  { type: "message", session_id: "s", turn_id: "s:turn:1", role: "user", content: "go" },
  { type: "run_start", ...RUN, prompt: "go" },
  { type: "step_start", ...RUN, step: 0 },
  { type: "tool_call", ...TOOL, input: {} },
  { type: "response", id: "q", ok: true, state: "queued" },
  {
    type: "queue",
    session_id: "s",
    action: "enqueue",
    depth: 1,
    content: "left",
    request_id: "q",
    mode: "steer",
  },
  { type: "tool_output_delta", ...TOOL, delta: "x" },
  { type: "tool_result", ...TOOL, output: "x", is_error: false, duration_ms: 1 },
  { type: "step_end", ...RUN, step: 0, duration_ms: 1 },
  {
    type: "queue",
    session_id: "s",
    action: "dequeue",
    depth: 0,
    request_id: "q",
    mode: "steer",
  },
  { type: "message", session_id: "s", turn_id: "s:turn:1", role: "user", content: "left" },
  { type: "step_start", ...RUN, step: 1 },
  { type: "message_delta", ...RUN, step: 1, delta: "ok" },
  {
    type: "message",
    session_id: "s",
    turn_id: "s:turn:1",
    role: "assistant",
    content: "ok",
    final: true,
  },
  { type: "step_end", ...RUN, step: 1, duration_ms: 1 },
  { type: "run_end", ...RUN, duration_ms: 1 },
  { type: "session_end", session_id: "s", success: true },
].map((record) => ({ version: 1, ...record }));

const OPTIONAL = ["tool_output_delta"];

Deno.test("checkNimletRecords() takes a whole process", () => {
  checkNimletRecords(RECORDS, { ids: ["p", "q"] });
});

Deno.test("checkNimletRecords() refuses a process in which any record is missing", () => {
  for (const [index, { type }] of RECORDS.entries()) {
    if (OPTIONAL.includes(type as string)) continue;
    assertThrows(
      () => checkNimletRecords(RECORDS.toSpliced(index, 1), { ids: ["p", "q"] }),
      Error,
      undefined,
      `without record ${index + 1} (${type})`,
    );
  }
});

Deno.test("checkNimletRecords() refuses a process in which any record comes twice", () => {
  for (const [index, record] of RECORDS.entries()) {
    if (["message_delta", "tool_output_delta"].includes(record.type as string)) continue;
    assertThrows(
      () => checkNimletRecords(RECORDS.toSpliced(index, 0, record), { ids: ["p", "q"] }),
      Error,
      undefined,
      `record ${index + 1} (${record.type}) twice`,
    );
  }
});

Deno.test("checkNimletRecords() refuses fields that are wrong, missing or too many", () => {
  const refuse = (index: number, change: Json, message: string) => {
    const changed = { ...RECORDS[index], ...change };
    assertThrows(() => checkNimletRecords(RECORDS.with(index, changed)), Error, message);
  };
  refuse(0, { version: "1" }, 'field "version" cannot be "1"');
  refuse(2, { extra: 1 }, 'field "extra" does not belong there');
  refuse(4, { step: 1 }, "step should be 0");
  refuse(7, { depth: 2 }, "depth should be 1");
  refuse(9, { duration_ms: 0 }, 'field "duration_ms" cannot be 0');
  refuse(15, { content: "other" }, "the deltas say something else");
  refuse(18, { success: false }, "success cannot be false");
});
