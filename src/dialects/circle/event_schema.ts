/** The events of this dialect as schemas, and all its schemas together. For `weir schema` and tests. */

import * as z from "zod/mini";
import type { WireSchemas } from "../wire_schema.ts";
import { callRecord, job, named, names, nativeMessage, tokenCounts } from "./record_schema.ts";
import { command, response } from "./response_schema.ts";

const count = z.int().check(z.minimum(0));
const status = z.enum(["success", "error"]);
const args = z.record(z.string(), z.unknown());

function event<Type extends string, Shape extends z.core.$ZodShape>(type: Type, shape: Shape) {
  return z.strictObject({ type: z.literal(type), ...shape });
}

const sizes = { tokens_before: count, summarized: count, kept: count };

const compaction = named(
  "CompactionEvent",
  "How far it is with a summary that takes the place of the older part of the conversation.",
  z.union(
    ([
      ["start", sizes],
      ["saving", {}],
      ["saved", { file: z.string() }],
      ["summarizing", {}],
      ["chunks", { chunks: count }],
      ["summarized", { chunks: count }],
      ["done", { ...sizes, tokens_after: count, file: z.string(), seconds: z.number() }],
      ["error", { message: z.string() }],
    ] as const).map(([phase, shape]) =>
      event("compaction", {
        sessionId: z.string(),
        trigger: z.enum(["auto", "overflow"]),
        phase: z.literal(phase),
        ...shape,
      })
    ),
  ),
);

const tags = named(
  "SubagentLabels",
  "Which subagent an event is of.",
  z.strictObject({
    subagent: z.string(),
    name: z.enum(["general", "explore"]),
    job_id: z.optional(z.string()),
  }),
);

const call = { id: z.string(), name: z.string(), args };

const subagentEvent = named(
  "SubagentRecord",
  "What a subagent does.",
  z.union(
    ([
      ["run_start", { message: z.string() }],
      ["llm_start", {}],
      ["llm_token", { text: z.string(), thinking: z.boolean() }],
      ["llm_end", { message: nativeMessage, usage: tokenCounts }],
      ["tool_call", call],
      ["tool_start", call],
      ["tool_waiting", { ...call, reason: z.string() }],
      ["tool_result", { id: z.string(), name: z.string(), status, output: z.string() }],
      ["tool_end", { id: z.string(), status }],
      ["todo_list", { todos: z.array(z.unknown()) }],
      ["run_end", { answer: z.string(), usage: tokenCounts }],
      ["run_error", { message: z.string(), interrupted: z.boolean() }],
    ] as const).map(([name, shape]) =>
      event("subagent_event", { event: z.literal(name), ...shape, tags })
    ),
  ),
);

const EVENTS = [
  named(
    "OneShotEvent",
    "First line of the one-shot JSON mode.",
    event("session", { id: z.string(), workspace: z.string(), model: z.string() }),
  ),
  named(
    "TurnStartEvent",
    "A turn begins; without a message jobs that ended have started it.",
    event("turn_start", { message: z.optional(z.string()) }),
  ),
  named(
    "AssistantEvent",
    "A complete reply of the model.",
    event("assistant", {
      id: z.string(),
      text: z.string(),
      tool_calls: z.array(callRecord),
      usage: tokenCounts,
    }),
  ),
  named(
    "ToolResultEvent",
    "What came of a call.",
    event("tool_result", { id: z.string(), name: z.string(), status, output: z.string() }),
  ),
  named(
    "NotRunEvent",
    "A call that would have had to ask and is not run.",
    event("not_run", { name: z.string(), args, reason: z.string() }),
  ),
  named(
    "SteerEvent",
    "The model is about to read a steering message.",
    event("steer", { message: z.string() }),
  ),
  named(
    "JobEvent",
    "A background job appeared, changed or ended.",
    event("job", { event: z.enum(["started", "updated", "ended"]), job }),
  ),
  compaction,
  subagentEvent,
  named(
    "TurnEndEvent",
    "The turn ended with an answer.",
    event("turn_end", { answer: z.string(), usage: tokenCounts }),
  ),
  named(
    "TurnAbortedEvent",
    "The turn was stopped.",
    event("turn_end", { aborted: z.literal(true) }),
  ),
  named("ErrorEvent", "The turn failed.", event("error", { message: z.string() })),
  named("AgentSettledEvent", "Nothing more runs on its own.", event("agent_settled", {})),
  named(
    "JobsStoppedEvent",
    "The last line of the process: how many jobs had to be stopped.",
    event("jobs_stopped", { count }),
  ),
  named(
    "MessageDeltaEvent",
    "Text of a reply, as it comes. In full detail only.",
    event("message_delta", { id: z.string(), delta: z.string() }),
  ),
  named(
    "ThinkingDeltaEvent",
    "Thinking, as it comes. In full detail only.",
    event("thinking_delta", { id: z.string(), delta: z.string() }),
  ),
  named(
    "ToolStartEvent",
    "A call really begins to run. In full detail only.",
    event("tool_start", { id: z.string(), name: z.string(), args }),
  ),
  named(
    "ToolOutputEvent",
    "What a command writes, as it comes. In full detail only.",
    event("tool_output", { id: z.string(), delta: z.string() }),
  ),
];

/** Everything that a line of this dialect can be. */
export const WIRE_SCHEMAS: WireSchemas = {
  title: "Weir's circle dialect",
  names,
  command,
  response,
  event: named("CircleEvent", "A line that tells what happens.", z.union(EVENTS)),
};
