/**
 * From a line to a command. Every line gives a request or nothing; what is wrong with it is in the request.
 *
 * The schemas are loaded with the first command that has fields, because many clients begin with one that has none.
 */

import type { ImageBlock } from "../../agent/message.ts";
import { errorText, RequestError } from "../../errors.ts";
import type { Command, MessageExtras, Request } from "../../session/command.ts";
import { keepNumbers } from "../../wire/exact_number.ts";
import { type Line, LINE_TOO_LONG } from "../../wire/line_stream.ts";
import { ALLOW, ALLOW_FOR_SESSION, ANSWER } from "./dialogs.ts";
import type { CommandFields, CommandName } from "./schema.ts";

type Schemas = typeof import("./schema.ts").COMMAND_SCHEMAS;
let schemas: Schemas | undefined;

/** The request on a line; `undefined` for a line of white space. Never throws or rejects; a promise only while schemas are loaded. */
export function decodePi(line: Line): Request | undefined | Promise<Request> {
  if (line === LINE_TOO_LONG) return refuse("line longer than 64 MiB");
  if (line.trim() === "") return undefined;
  let record: unknown;
  try {
    record = JSON.parse(line);
  } catch (error) {
    return refuse(errorText(error));
  }
  if (typeof record !== "object" || record === null || Array.isArray(record)) {
    return refuse("not an object");
  }
  const { id: parsedId, type: name } = record as { id?: unknown; type?: unknown };
  const id = keepNumbers(line, "id", parsedId);
  if (typeof name !== "string") return refuse("type must be a string", id);
  if (Object.hasOwn(PLAIN_COMMANDS, name)) return { id, name, command: PLAIN_COMMANDS[name]! };
  if (name === "extension_ui_response") return decodeAnswer(record as Record<string, unknown>);
  if (!isBuilderName(name)) {
    return { id, name, command: new RequestError("invalid", `Unknown command: ${name}`) };
  }
  if (schemas !== undefined) return { id, name, command: buildCommand(name, record, schemas) };
  return import("./schema.ts").then(({ COMMAND_SCHEMAS }) => {
    schemas = COMMAND_SCHEMAS;
    return { id, name, command: buildCommand(name, record, schemas) };
  });
}

/** The one record that gets no response: what cannot be understood is a no, and one without an id is passed over. */
function decodeAnswer({ id, value, cancelled }: Record<string, unknown>): Request | undefined {
  if (typeof id !== "string") return undefined;
  const said = cancelled === true ? undefined : value;
  const answer = said === ALLOW ? "once" : said === ALLOW_FOR_SESSION ? "session" : "no";
  return { id, name: ANSWER, command: { type: "answer_request", id, answer } };
}

function refuse(reason: string, id?: unknown): Request {
  const text = `Failed to parse command: ${reason}`;
  return { id, name: "parse", command: new RequestError("invalid", text) };
}

/** Commands without fields. */
const PLAIN_COMMANDS: Readonly<Record<string, Command>> = {
  abort: { type: "abort" },
  clear_queue: { type: "clear_queue" },
  abort_retry: { type: "cancel_retry" },
  get_state: { type: "get_state" },
  get_messages: { type: "get_context" },
  get_available_models: { type: "list_configured_models" },
  cycle_model: { type: "cycle_model" },
  cycle_thinking_level: { type: "cycle_thinking" },
  get_available_thinking_levels: { type: "list_thinking_levels" },
  abort_bash: { type: "stop_commands" },
  clone: { type: "replace_session", by: { kind: "clone" } },
  get_fork_messages: { type: "list_fork_points" },
  get_tree: { type: "get_tree" },
  get_last_assistant_text: { type: "get_last_text" },
  get_session_stats: { type: "get_file_stats" },
  get_commands: { type: "list_extension_commands" },
} satisfies Partial<Record<CommandName, Command>>;

function buildCommand(name: BuilderName, record: object, schemas: Schemas): Command | RequestError {
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
  prompt: ({ message, images, streamingBehavior }: CommandFields["prompt"]): Command => ({
    type: "prompt",
    message,
    whileBusy: readBehavior(streamingBehavior),
    extras: extrasOf(message, images),
  }),
  steer: ({ message, images }: CommandFields["steer"]): Command => ({
    type: "steer",
    message,
    extras: extrasOf(message, images),
  }),
  follow_up: ({ message, images }: CommandFields["follow_up"]): Command => ({
    type: "follow_up",
    message,
    extras: extrasOf(message, images),
  }),
  set_model: ({ provider, modelId }: CommandFields["set_model"]): Command => ({
    type: "select_model",
    provider,
    id: modelId,
  }),
  set_thinking_level: ({ level }: CommandFields["set_thinking_level"]): Command => ({
    type: "select_thinking",
    level,
  }),
  set_steering_mode: ({ mode }: CommandFields["set_steering_mode"]): Command => ({
    type: "set_delivery_mode",
    queue: "steer",
    mode,
  }),
  set_follow_up_mode: ({ mode }: CommandFields["set_follow_up_mode"]): Command => ({
    type: "set_delivery_mode",
    queue: "follow_up",
    mode,
  }),
  set_auto_compaction: ({ enabled }: CommandFields["set_auto_compaction"]): Command => ({
    type: "set_switch",
    name: "auto_compaction",
    enabled,
  }),
  set_auto_retry: ({ enabled }: CommandFields["set_auto_retry"]): Command => ({
    type: "set_switch",
    name: "auto_retry",
    enabled,
  }),
  bash: ({ command, excludeFromContext }: CommandFields["bash"]): Command => ({
    type: "run_command",
    command,
    isPrivate: excludeFromContext ?? false,
  }),
  compact: ({ customInstructions }: CommandFields["compact"]): Command => ({
    type: "compact",
    instructions: customInstructions ?? undefined,
  }),
  new_session: ({ parentSession }: CommandFields["new_session"]): Command => ({
    type: "replace_session",
    by: { kind: "new", parentSession: parentSession ?? undefined },
  }),
  switch_session: ({ sessionPath }: CommandFields["switch_session"]): Command => ({
    type: "replace_session",
    by: { kind: "file", path: sessionPath },
  }),
  fork: ({ entryId }: CommandFields["fork"]): Command => ({
    type: "replace_session",
    by: { kind: "fork", entryId },
  }),
  get_entries: ({ since }: CommandFields["get_entries"]): Command => ({
    type: "list_entries",
    since: since ?? undefined,
  }),
  set_session_name: ({ name }: CommandFields["set_session_name"]): Command => {
    const trimmed = name.trim();
    if (trimmed === "") throw new RequestError("invalid", "Session name cannot be empty");
    return { type: "set_name", name: trimmed };
  },
  export_html: ({ outputPath }: CommandFields["export_html"]): Command => ({
    type: "export_html",
    outputPath: outputPath ?? undefined,
  }),
};

type BuilderName = keyof typeof BUILDERS & CommandName;

function readBehavior(value: unknown): "steer" | "follow_up" | "refuse" | "unknown" {
  if (value === undefined || value === null) return "refuse";
  if (value === "steer") return "steer";
  return value === "followUp" ? "follow_up" : "unknown";
}

/** No word of a message stands for a file here. */
function extrasOf(
  message: string,
  images: readonly ImageBlock[] | null | undefined,
): MessageExtras {
  return {
    mentionsFrom: message.length,
    images: (images ?? []).map(({ data, mimeType }) => ({ type: "image", data, mimeType })),
  };
}
