/**
 * The commands of this dialect as schemas, the one place with their field names. They check and, through `z.toJSONSchema`, describe. Unknown
 * fields are ignored, and an optional field that is `null` is absent. The messages are the error texts of the protocol.
 */

import { isBase64 } from "../../wire/is_base64.ts";
import * as z from "zod/mini";

const nothing = z.object({});

const image = z.object({
  type: z.literal("image"),
  data: z.string().check(z.refine(isBase64)),
  mimeType: z.string().check(z.regex(/^image\/./)),
});

/** An optional field; `null` counts as absent. */
function maybe<Schema extends z.ZodMiniType>(schema: Schema) {
  return z.optional(z.nullable(schema));
}

function text(command: string, field: string) {
  return z.string({ error: `${command}: ${field} must be a string` });
}

function filled(command: string, field: string) {
  const error = `${command}: ${field} must be a non-empty string`;
  return z.string({ error }).check(z.minLength(1, { error }));
}

function flag(command: string, field: string) {
  return z.boolean({ error: `${command}: ${field} must be true or false` });
}

function messageFields(command: string) {
  return {
    message: text(command, "message"),
    images: maybe(
      z.array(
        z.any().check(
          z.refine((value) => image.safeParse(value).success, {
            error: `${command}: images must be an array of {type:"image", data, mimeType}`,
          }),
        ),
        { error: `${command}: images must be an array of {type:"image", data, mimeType}` },
      ),
    ),
  };
}

function mode(command: string) {
  return z.object({
    mode: z.enum(["all", "one-at-a-time"], {
      error: `${command}: mode must be "all" or "one-at-a-time"`,
    }),
  });
}

function enabled(command: string) {
  return z.object({ enabled: flag(command, "enabled") });
}

export const COMMAND_SCHEMAS = {
  /** What `streamingBehavior` is matters only while a run is under way. */
  prompt: z.object({ ...messageFields("prompt"), streamingBehavior: z.optional(z.unknown()) }),
  steer: z.object(messageFields("steer")),
  follow_up: z.object(messageFields("follow_up")),
  abort: nothing,
  clear_queue: nothing,
  abort_retry: nothing,
  get_state: nothing,
  get_messages: nothing,
  get_available_models: nothing,
  set_model: z.object({
    provider: text("set_model", "provider"),
    modelId: text("set_model", "modelId"),
  }),
  cycle_model: nothing,
  set_thinking_level: z.object({
    level: z.enum(["off", "minimal", "low", "medium", "high", "xhigh", "max"], {
      error: "set_thinking_level: level must be one of off, minimal, low, medium, high, xhigh, max",
    }),
  }),
  cycle_thinking_level: nothing,
  get_available_thinking_levels: nothing,
  set_steering_mode: mode("set_steering_mode"),
  set_follow_up_mode: mode("set_follow_up_mode"),
  set_auto_compaction: enabled("set_auto_compaction"),
  set_auto_retry: enabled("set_auto_retry"),
  bash: z.object({
    command: filled("bash", "command"),
    excludeFromContext: maybe(flag("bash", "excludeFromContext")),
  }),
  abort_bash: nothing,
  compact: z.object({ customInstructions: maybe(text("compact", "customInstructions")) }),
  new_session: z.object({ parentSession: maybe(text("new_session", "parentSession")) }),
  switch_session: z.object({ sessionPath: filled("switch_session", "sessionPath") }),
  fork: z.object({ entryId: filled("fork", "entryId") }),
  clone: nothing,
  get_fork_messages: nothing,
  get_entries: z.object({ since: maybe(text("get_entries", "since")) }),
  get_tree: nothing,
  get_last_assistant_text: nothing,
  set_session_name: z.object({ name: text("set_session_name", "name") }),
  get_session_stats: nothing,
  export_html: z.object({ outputPath: maybe(filled("export_html", "outputPath")) }),
  get_commands: nothing,
} as const;

export type CommandName = keyof typeof COMMAND_SCHEMAS;
export type CommandFields = { [Name in CommandName]: z.infer<typeof COMMAND_SCHEMAS[Name]> };
