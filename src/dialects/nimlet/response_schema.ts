/** The commands of this dialect and the answers to them as schemas. For `weir schema` and tests. */

import * as z from "zod/mini";
import { createNames } from "../wire_schema.ts";
import { COMMAND_SCHEMAS, type CommandName } from "./schema.ts";

/** The names of everything that has one, and what gives them. */
export const { names, named } = createNames();

const count = z.int().check(z.minimum(0));
const mode = z.enum(["all", "one-at-a-time"]);
const COMMAND_NAMES = Object.keys(COMMAND_SCHEMAS) as CommandName[];

/** `get_state` → `GetState`. */
function titleOf(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Lines that a client may write: the schemas that decode, with what stands around their fields. */
export const command: z.ZodMiniType = named(
  "NimletCommand",
  "A line that a client writes.",
  z.union(COMMAND_NAMES.map((name) =>
    named(
      `${titleOf(name)}Command`,
      `The command \`${name}\`. Fields that are not named here are ignored.`,
      z.object({ id: z.string(), type: z.literal(name), ...COMMAND_SCHEMAS[name].shape }),
    )
  )),
);

const frame = { version: z.literal(1), type: z.literal("response"), id: z.string() };

function accepted<Shape extends z.core.$ZodShape>(id: string, description: string, shape: Shape) {
  return named(id, description, z.strictObject({ ...frame, ok: z.literal(true), ...shape }));
}

/** A response does not say which command it answers; its `id` does. */
export const response: z.ZodMiniType = named(
  "NimletResponse",
  "The one line that answers a command.",
  z.union([
    accepted("MessageResponse", "A message was taken.", { state: z.enum(["started", "queued"]) }),
    accepted("InterruptResponse", "What there was to interrupt.", {
      state: z.enum(["interrupting", "idle"]),
    }),
    accepted("ShutdownResponse", "What there was to stop.", {
      state: z.enum(["stopping", "stopped"]),
    }),
    accepted("StateResponse", "What the session is doing.", {
      session_id: z.string(),
      busy: z.boolean(),
      queued: z.boolean(),
      steering: count,
      follow_up: count,
      steering_mode: mode,
      follow_up_mode: mode,
      mode: z.literal("act"),
    }),
    accepted("ClearQueueResponse", "What was waiting.", {
      steering: z.array(z.string()),
      follow_up: z.array(z.string()),
    }),
    accepted("DoneResponse", "A command that reports nothing.", {}),
    named(
      "RefusalResponse",
      "A line that was not carried out; the id is empty when it had none.",
      z.strictObject({ ...frame, ok: z.literal(false), error: z.string() }),
    ),
  ]),
);
