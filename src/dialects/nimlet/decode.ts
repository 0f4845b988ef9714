/** From a line to a command. Every line gives a request or nothing; what is wrong with it is in the request. */

import { errorText, RequestError } from "../../errors.ts";
import type { Command, Request } from "../../session/command.ts";
import { type Line, LINE_TOO_LONG } from "../../wire/line_stream.ts";
import { COMMAND_FRAME, COMMAND_SCHEMAS, type CommandFields, type CommandName } from "./schema.ts";

/** The request on a line; `undefined` for a line of white space. Never throws. */
export function decodeNimlet(line: Line): Request | undefined {
  if (line === LINE_TOO_LONG) return refuse("Invalid JSON: line longer than 64 MiB");
  if (line.trim() === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return refuse(`Invalid JSON: ${errorText(error)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return refuse("Command must be a JSON object.");
  }
  const frame = COMMAND_FRAME.safeParse(value);
  if (!frame.success) return refuse("Command requires string id and type fields.");
  const { id, type: name } = frame.data;
  if (!isCommandName(name)) return refuse(`Unknown RPC command: ${name}`, { id, name });
  const parsed = COMMAND_SCHEMAS[name].safeParse(value);
  if (!parsed.success) return refuse(parsed.error.issues[0]!.message, { id, name });
  // The schema of this very name has given the fields, so their types belong together.
  const build = BUILDERS[name] as (fields: unknown) => Command;
  return { id, name, command: build(parsed.data) };
}

/** Without a usable id the answer carries an empty one. */
function refuse(text: string, { id, name } = { id: "", name: "parse" }): Request {
  return { id, name, command: new RequestError("invalid", text) };
}

function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(COMMAND_SCHEMAS, name);
}

const BUILDERS: { [Name in CommandName]: (fields: CommandFields[Name]) => Command } = {
  prompt: ({ message, streamingBehavior }) => ({
    type: "prompt",
    message,
    whileBusy: streamingBehavior === "steer"
      ? "steer"
      : streamingBehavior === "followUp"
      ? "follow_up"
      : "refuse",
  }),
  steer: ({ message }) => ({ type: "steer", message }),
  follow_up: ({ message }) => ({ type: "follow_up", message }),
  get_state: () => ({ type: "get_state" }),
  clear_queue: () => ({ type: "clear_queue" }),
  set_steering_mode: ({ mode }) => ({ type: "set_delivery_mode", queue: "steer", mode }),
  set_follow_up_mode: ({ mode }) => ({ type: "set_delivery_mode", queue: "follow_up", mode }),
  interrupt: () => ({ type: "interrupt" }),
  shutdown: () => ({ type: "shutdown" }),
};
