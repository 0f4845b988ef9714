/** The events of this dialect as schemas, and all its schemas together. For `weir schema` and tests. */

import * as z from "zod/mini";
import type { WireSchemas } from "../wire_schema.ts";
import { command, named, names, response } from "./response_schema.ts";

const count = z.int().check(z.minimum(0));
const durationMs = z.number().check(z.minimum(0));

const session = { session_id: z.string() };
const run = { ...session, turn_id: z.string(), run_id: z.string() };
/** -1 for an error before the first step. */
const step = { ...run, step: z.int().check(z.minimum(-1)) };
const model = z.optional(z.string());
const tool = { tool_id: z.string(), tool_name: z.string() };

const usage = named(
  "TokenCounts",
  "Tokens as the endpoint counted them; zeros stand for what it did not report.",
  z.strictObject({
    input_tokens: count,
    output_tokens: count,
    cache_read_tokens: count,
    cache_write_tokens: count,
    cache_reported: z.boolean(),
  }),
);

function event<Shape extends z.core.$ZodShape>(id: string, description: string, shape: Shape) {
  return named(id, description, z.strictObject({ version: z.literal(1), ...shape }));
}

const message = {
  type: z.literal("message"),
  ...session,
  turn_id: z.string(),
  content: z.string(),
};
const delta = { ...step, delta: z.string(), model };

const EVENTS = [
  event("SessionStartEvent", "The first line of the process.", {
    type: z.literal("session_start"),
    ...session,
  }),
  event("SessionEndEvent", "The last line of the process.", {
    type: z.literal("session_end"),
    ...session,
    success: z.boolean(),
  }),
  event("UserMessageEvent", "A message was added to the conversation.", {
    ...message,
    role: z.literal("user"),
  }),
  event("AssistantMessageEvent", "The model has said something; `final` when it is done.", {
    ...message,
    role: z.literal("assistant"),
    model,
    final: z.boolean(),
  }),
  event("RunStartEvent", "A run begins; without a prompt jobs that ended have started it.", {
    type: z.literal("run_start"),
    ...run,
    prompt: z.optional(z.string()),
  }),
  event("RunEndEvent", "A run ended with an answer.", {
    type: z.literal("run_end"),
    ...run,
    model,
    duration_ms: durationMs,
  }),
  event("StepStartEvent", "The model is asked.", { type: z.literal("step_start"), ...step, model }),
  event("StepEndEvent", "A reply and its calls are done.", {
    type: z.literal("step_end"),
    ...step,
    model,
    usage: z.optional(usage),
    duration_ms: durationMs,
  }),
  event("MessageDeltaEvent", "Text of a reply, as it comes.", {
    type: z.literal("message_delta"),
    ...delta,
  }),
  event("ThinkingDeltaEvent", "Thinking, as it comes.", {
    type: z.literal("thinking_delta"),
    ...delta,
  }),
  event("ToolCallEvent", "A call is taken up; without input it had no usable arguments.", {
    type: z.literal("tool_call"),
    ...step,
    ...tool,
    input: z.optional(z.record(z.string(), z.unknown())),
  }),
  event("ToolOutputDeltaEvent", "What a command writes, as it comes.", {
    type: z.literal("tool_output_delta"),
    ...step,
    ...tool,
    delta: z.string(),
  }),
  event("ToolResultEvent", "What came of a call.", {
    type: z.literal("tool_result"),
    ...step,
    ...tool,
    output: z.string(),
    is_error: z.boolean(),
    duration_ms: durationMs,
  }),
  event("ErrorEvent", "A run failed or was interrupted.", {
    type: z.literal("error"),
    ...step,
    message: z.string(),
  }),
  event("DiagnosticEvent", "Something worth knowing that changes nothing.", {
    type: z.literal("diagnostic"),
    level: z.enum(["warning", "error"]),
    message: z.string(),
  }),
  event("QueueEvent", "A message began to wait, or was taken from those that wait.", {
    type: z.literal("queue"),
    ...session,
    action: z.enum(["enqueue", "dequeue"]),
    depth: count,
    content: z.optional(z.string()),
    request_id: z.optional(z.string()),
    mode: z.enum(["steer", "follow_up"]),
  }),
  event("QueueClearEvent", "Nothing waits any more.", {
    type: z.literal("queue"),
    ...session,
    action: z.literal("clear"),
    depth: z.literal(0),
  }),
];

/** Everything that a line of this dialect can be. */
export const WIRE_SCHEMAS: WireSchemas = {
  title: "Weir's nimlet dialect",
  names,
  command,
  response,
  event: named("NimletEvent", "A line that tells what happens.", z.union(EVENTS)),
};
