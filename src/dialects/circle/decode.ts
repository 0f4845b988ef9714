/** From a line to a command. Every line gives a request or nothing; what is wrong with it is in the request. */

import { RequestError } from "../../errors.ts";
import type { Command, Request } from "../../session/command.ts";
import { type Line, LINE_TOO_LONG } from "../../wire/line_stream.ts";
import { COMMAND_SCHEMAS, type CommandFields, type CommandName } from "./schema.ts";

/** The request on a line; `undefined` for a line of white space. Never throws. */
export function decodeCircle(line: Line): Request | undefined {
  if (line === LINE_TOO_LONG) return NOT_A_COMMAND;
  if (line.trim() === "") return undefined;
  const record = parseObject(line);
  if (record === undefined) return NOT_A_COMMAND;
  const id = record.id ?? undefined;
  const name = nameOf(record.type);
  if (name === "") {
    return { id, name, command: new RequestError("invalid", "Unknown command: (none)") };
  }
  if (!isCommandName(name) || typeof record.type !== "string") {
    return { id, name, command: new RequestError("invalid", `Unknown command: ${name}`) };
  }
  return { id, name, command: decodeCommand(name, record) };
}

const NOT_A_COMMAND: Request = {
  id: undefined,
  name: "parse",
  command: new RequestError("invalid", "invalid JSON command"),
};

function parseObject(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? value as Record<string, unknown>
      : undefined;
  } catch {
    return undefined;
  }
}

function nameOf(type: unknown): string {
  if (typeof type === "string") return type;
  return typeof type === "number" || typeof type === "boolean" ? String(type) : "";
}

function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(COMMAND_SCHEMAS, name);
}

function decodeCommand(name: CommandName, record: Record<string, unknown>): Command | RequestError {
  const parsed = COMMAND_SCHEMAS[name].safeParse(record);
  if (!parsed.success) return new RequestError("invalid", parsed.error.issues[0]!.message);
  try {
    // The schema of this very name has given the fields, so their types belong together.
    return (BUILDERS[name] as (fields: unknown) => Command)(parsed.data);
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
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
  abort: () => ({ type: "abort" }),
  clear_queue: () => ({ type: "clear_queue" }),
  new_session: () => ({ type: "new_session" }),
  get_state: () => ({ type: "get_state" }),
  get_messages: () => ({ type: "get_messages" }),
  get_native_messages: () => ({ type: "get_messages" }),
  get_last_assistant_text: () => ({ type: "get_last_answer" }),
  get_session_stats: () => ({ type: "get_stats" }),
  set_session_name: ({ name }) => ({
    type: "set_name",
    name: requireText(name.replace(/\s+/g, " "), "name is required"),
  }),
  get_available_models: () => ({ type: "list_models" }),
  set_model: ({ modelId, model }) => ({
    type: "set_model",
    model: requireText(modelId ?? model, "model ID is required"),
  }),
  set_thinking_level: ({ level }) => ({ type: "set_thinking", level: level.trim().toLowerCase() }),
  export_html: ({ outputPath }) => ({ type: "export_html", outputPath: outputPath || undefined }),
  list_jobs: () => ({ type: "list_jobs" }),
  get_jobs: () => ({ type: "list_jobs" }),
  stop_job: ({ jobId, job_id }) => ({
    type: "stop_job",
    jobId: requireText(jobId ?? job_id, "jobId is required"),
  }),
  background: () => ({ type: "move_to_background" }),
  set_event_detail: ({ detail }) => ({ type: "set_detail", detail }),
};

/** The text without white space at its ends. */
function requireText(text: string | undefined, error: string): string {
  const trimmed = text?.trim() ?? "";
  if (trimmed === "") throw new RequestError("invalid", error);
  return trimmed;
}
