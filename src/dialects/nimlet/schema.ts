/**
 * The commands of this dialect as schemas, the one place with their field names. They check and, through `z.toJSONSchema`, describe. Unknown
 * fields are ignored. The messages are the error texts of the protocol.
 */

import * as z from "zod/mini";

/** What every command has, checked before anything else. */
export const COMMAND_FRAME = z.object({ id: z.string(), type: z.string() });

const nothing = z.object({});

const mode = z.enum(["all", "one-at-a-time"], { error: "mode must be all or one-at-a-time." });

/** A text that is more than white space. */
function message(command: string) {
  const error = `${command} requires message.`;
  return z.string({ error }).check(z.regex(/\S/, { error }));
}

export const COMMAND_SCHEMAS = {
  /** Anything but the two words counts as no `streamingBehavior`. */
  prompt: z.object({ message: message("prompt"), streamingBehavior: z.optional(z.unknown()) }),
  steer: z.object({ message: message("steer") }),
  follow_up: z.object({ message: message("follow_up") }),
  get_state: nothing,
  clear_queue: nothing,
  set_steering_mode: z.object({ mode }),
  set_follow_up_mode: z.object({ mode }),
  interrupt: nothing,
  shutdown: nothing,
} as const;

export type CommandName = keyof typeof COMMAND_SCHEMAS;
export type CommandFields = { [Name in CommandName]: z.infer<typeof COMMAND_SCHEMAS[Name]> };
