/**
 * From a line to a command. Every line gives a request or nothing; what is wrong with it is in the request.
 *
 * The schemas are loaded with the first command that has fields: that costs as much as the rest of the start, and many clients begin with a
 * command that has none.
 */

import { RequestError } from "../../errors.ts";
import type { Command, Request } from "../../session/command.ts";
import { keepNumbers } from "../../wire/exact_number.ts";
import { type Line, LINE_TOO_LONG } from "../../wire/line_stream.ts";
import type { CommandFields, CommandName } from "./schema.ts";

type Schemas = typeof import("./schema.ts").COMMAND_SCHEMAS;
let schemas: Schemas | undefined;

/** The request on a line; `undefined` for a line of white space. Never throws or rejects; a promise only while schemas are loaded. */
export function decodeCircle(line: Line): Request | undefined | Promise<Request> {
  if (line === LINE_TOO_LONG) return NOT_A_COMMAND;
  if (line.trim() === "") return undefined;
  const record = parseObject(line);
  if (record === undefined) return NOT_A_COMMAND;
  const id = keepNumbers(line, "id", record.id ?? undefined);
  const name = nameOf(record.type);
  if (name === "") {
    return { id, name, command: new RequestError("invalid", "Unknown command: (none)") };
  }
  if (typeof record.type === "string") {
    if (Object.hasOwn(PLAIN_COMMANDS, name)) return { id, name, command: PLAIN_COMMANDS[name]! };
    if (isBuilderName(name)) return decodeFields(name, record, id);
  }
  return { id, name, command: new RequestError("invalid", `Unknown command: ${name}`) };
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

/** Commands without fields. */
const PLAIN_COMMANDS: Readonly<Record<string, Command>> = {
  abort: { type: "abort" },
  clear_queue: { type: "clear_queue" },
  new_session: { type: "new_session" },
  get_state: { type: "get_state" },
  get_messages: { type: "get_messages" },
  get_native_messages: { type: "get_messages" },
  get_last_assistant_text: { type: "get_last_answer" },
  get_session_stats: { type: "get_stats" },
  get_available_models: { type: "list_models" },
  list_jobs: { type: "list_jobs" },
  get_jobs: { type: "list_jobs" },
  background: { type: "move_to_background" },
} satisfies Partial<Record<CommandName, Command>>;

function decodeFields(
  name: BuilderName,
  record: Record<string, unknown>,
  id: unknown,
): Request | Promise<Request> {
  if (schemas !== undefined) return { id, name, command: buildCommand(name, record, schemas) };
  return import("./schema.ts").then(({ COMMAND_SCHEMAS }) => {
    schemas = COMMAND_SCHEMAS;
    return { id, name, command: buildCommand(name, record, schemas) };
  });
}

function buildCommand(
  name: BuilderName,
  record: Record<string, unknown>,
  schemas: Schemas,
): Command | RequestError {
  const parsed = schemas[name].safeParse(record);
  if (!parsed.success) return new RequestError("invalid", parsed.error.issues[0]!.message);
  try {
    // The schema of this very name has given the fields, so their types belong together.
    return (BUILDERS[name] as (fields: unknown) => Command)(parsed.data);
  } catch (error) {
    if (error instanceof RequestError) return error;
    throw error;
  }
}

function isBuilderName(name: string): name is BuilderName {
  return Object.hasOwn(BUILDERS, name);
}

const BUILDERS = {
  prompt: ({ message, streamingBehavior }: CommandFields["prompt"]): Command => ({
    type: "prompt",
    message,
    whileBusy: streamingBehavior === "steer"
      ? "steer"
      : streamingBehavior === "followUp"
      ? "follow_up"
      : "refuse",
  }),
  steer: ({ message }: CommandFields["steer"]): Command => ({ type: "steer", message }),
  follow_up: ({ message }: CommandFields["follow_up"]): Command => ({ type: "follow_up", message }),
  set_session_name: ({ name }: CommandFields["set_session_name"]): Command => ({
    type: "set_name",
    name: requireText(name.replace(/\s+/g, " "), "name is required"),
  }),
  set_model: ({ modelId, model }: CommandFields["set_model"]): Command => ({
    type: "set_model",
    model: requireText(modelId ?? model, "model ID is required"),
  }),
  set_thinking_level: ({ level }: CommandFields["set_thinking_level"]): Command => ({
    type: "set_thinking",
    level: level.trim().toLowerCase(),
  }),
  export_html: ({ outputPath }: CommandFields["export_html"]): Command => ({
    type: "export_html",
    outputPath: outputPath || undefined,
  }),
  stop_job: ({ jobId, job_id }: CommandFields["stop_job"]): Command => ({
    type: "stop_job",
    jobId: requireText(jobId ?? job_id, "jobId is required"),
  }),
  set_event_detail: ({ detail }: CommandFields["set_event_detail"]): Command => ({
    type: "set_detail",
    detail,
  }),
};

type BuilderName = keyof typeof BUILDERS & CommandName;

/** The text without white space at its ends. */
function requireText(text: string | undefined, error: string): string {
  const trimmed = text?.trim() ?? "";
  if (trimmed === "") throw new RequestError("invalid", error);
  return trimmed;
}
