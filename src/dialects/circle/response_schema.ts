/** The answers to the commands of this dialect as schemas. For `weir schema` and tests. */

import * as z from "zod/mini";
import { job, langchainMessage, named, nativeMessage } from "./record_schema.ts";
import { COMMAND_SCHEMAS, type CommandName } from "./schema.ts";

const count = z.int().check(z.minimum(0));

const delivery = named(
  "Delivery",
  "What became of a message: a turn started with it, or it waits for the running one.",
  z.strictObject({ disposition: z.enum(["started", "queued"]) }),
);

const sessionState = named(
  "SessionState",
  "What a session is doing.",
  z.strictObject({
    model: z.string(),
    thinkingLevel: z.string(),
    isStreaming: z.boolean(),
    sessionId: z.string(),
    sessionName: z.string(),
    messageCount: count,
    pendingMessageCount: count,
  }),
);

const sessionStatistics = named(
  "SessionStatistics",
  "Counts and sums over a whole conversation.",
  z.strictObject({
    sessionId: z.string(),
    userMessages: count,
    assistantMessages: count,
    toolCalls: count,
    toolResults: count,
    totalMessages: count,
    tokens: z.strictObject({ input: count, output: count, total: count }),
    costs: z.strictObject({
      amounts: z.strictObject({ USD: z.optional(z.number()) }),
      calls: count,
      unpriced_calls: count,
    }),
  }),
);

const jobs = z.strictObject({ jobs: z.array(job) });

/** What `data` holds; `undefined` for commands that report nothing. */
const DATA = {
  prompt: delivery,
  steer: delivery,
  follow_up: delivery,
  abort: undefined,
  clear_queue: z.strictObject({ steering: z.array(z.string()), followUp: z.array(z.string()) }),
  new_session: z.strictObject({ cancelled: z.literal(false), sessionId: z.string() }),
  get_state: sessionState,
  get_messages: z.strictObject({ messages: z.array(langchainMessage) }),
  get_native_messages: z.strictObject({ messages: z.array(nativeMessage) }),
  get_last_assistant_text: z.strictObject({ text: z.string() }),
  get_session_stats: sessionStatistics,
  set_session_name: undefined,
  get_available_models: z.strictObject({ models: z.array(z.string()) }),
  set_model: z.strictObject({ model: z.string() }),
  set_thinking_level: z.strictObject({ thinkingLevel: z.string() }),
  export_html: z.strictObject({ path: z.string() }),
  list_jobs: jobs,
  get_jobs: jobs,
  stop_job: z.strictObject({ job }),
  background: z.strictObject({ moved: count }),
  set_event_detail: z.strictObject({ detail: z.enum(["standard", "full"]) }),
} as const satisfies Record<CommandName, z.ZodMiniType | undefined>;

const COMMAND_NAMES = Object.keys(COMMAND_SCHEMAS) as CommandName[];

/** `set_model` → `SetModel`. */
function titleOf(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Lines that a client may write: the schemas that decode, with what stands around their fields. */
export const command: z.ZodMiniType = named(
  "CircleCommand",
  "A line that a client writes.",
  z.union(COMMAND_NAMES.map((name) =>
    named(
      `${titleOf(name)}Command`,
      `The command \`${name}\`. Fields that are not named here are ignored.`,
      z.object({
        type: z.literal(name),
        id: z.optional(z.unknown()),
        ...COMMAND_SCHEMAS[name].shape,
      }),
    )
  )),
);

const success = COMMAND_NAMES.map((name) => {
  const data = DATA[name];
  return named(
    `${titleOf(name)}Response`,
    `\`${name}\` has been carried out.`,
    z.strictObject({
      type: z.literal("response"),
      command: z.literal(name),
      success: z.literal(true),
      id: z.optional(z.unknown()),
      ...(data !== undefined && { data }),
    }),
  );
});

const refusal = named(
  "RefusalResponse",
  "A command that was not carried out; `command` is `parse` for a line that is none.",
  z.strictObject({
    type: z.literal("response"),
    command: z.string(),
    success: z.literal(false),
    id: z.optional(z.unknown()),
    error: z.string(),
  }),
);

/** Lines that answer one. */
export const response: z.ZodMiniType = named(
  "CircleResponse",
  "The one line that answers a command.",
  z.union([...success, refusal]),
);
