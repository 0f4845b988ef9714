/**
 * The commands of this dialect as schemas, the one place with their field names. They check and, through `z.toJSONSchema`, describe. Unknown
 * fields are ignored. The messages are the error texts of the protocol.
 */

import * as z from "zod/mini";

/** At least one character that is not white space. */
const message = z.string({ error: "message is required" })
  .check(z.regex(/\S/, { error: "message is required" }));

/** Fields of a message that may come while a turn runs; anything but the two words counts as none. */
const prompt = z.object({ message, streamingBehavior: z.optional(z.unknown()) });
const nothing = z.object({});

export const COMMAND_SCHEMAS = {
  prompt,
  steer: z.object({ message }),
  follow_up: z.object({ message }),
  abort: nothing,
  clear_queue: nothing,
  new_session: nothing,
  get_state: nothing,
  get_messages: nothing,
  get_native_messages: nothing,
  get_last_assistant_text: nothing,
  get_session_stats: nothing,
  set_session_name: z.object({
    name: z.string({ error: "name is required" }).check(
      z.regex(/\S/, { error: "name is required" }),
    ),
  }),
  get_available_models: nothing,
  set_model: z.object({
    modelId: z.optional(z.string({ error: "model ID is required" })),
    model: z.optional(z.string({ error: "model ID is required" })),
  }),
  set_thinking_level: z.object({ level: z.string({ error: "unknown thinking depth" }) }),
  export_html: z.object({
    outputPath: z.optional(z.nullable(z.string({ error: "outputPath must be a string" }))),
  }),
  list_jobs: nothing,
  get_jobs: nothing,
  stop_job: z.object({
    jobId: z.optional(z.string({ error: "jobId is required" })),
    job_id: z.optional(z.string({ error: "jobId is required" })),
  }),
  background: nothing,
  set_event_detail: z.object({
    detail: z.enum(["standard", "full"], { error: "detail must be standard or full" }),
  }),
} as const;

export type CommandName = keyof typeof COMMAND_SCHEMAS;
export type CommandFields = { [Name in CommandName]: z.infer<typeof COMMAND_SCHEMAS[Name]> };
