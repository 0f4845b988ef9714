/**
 * The exact fields of each record that a nimlet process writes, and their kinds of values. It knows
 * nothing of the order of records.
 */

type Json = Record<string, unknown>;
type Check = (value: unknown) => boolean;
/** `key?` is optional; any key that is not named is refused. */
type Shape = Record<string, Check>;

/** Why the record's fields are wrong; `undefined` when they are exactly right. */
export function explainFields(record: Json): string | undefined {
  const { type } = record;
  if (typeof type !== "string" || !Object.hasOwn(SHAPES, type)) {
    return `unknown type ${JSON.stringify(type)}`;
  }
  return explainShape(record, { version: is(1), type: isText, ...SHAPES[type](record) });
}

const isText: Check = (value) => typeof value === "string";
const isFullText: Check = (value) => typeof value === "string" && value !== "";
const isBoolean: Check = (value) => typeof value === "boolean";
const isCount: Check = (value) => Number.isInteger(value) && (value as number) >= 0;
const isDuration: Check = (value) => Number.isInteger(value) && (value as number) >= 1;
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const isObject: Check = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isMode = is("all", "one-at-a-time");

function is(...allowed: unknown[]): Check {
  return (value) => allowed.includes(value);
}

function explainShape(record: Json, shape: Shape): string | undefined {
  for (const key of Object.keys(record)) {
    if (!Object.hasOwn(shape, key) && !Object.hasOwn(shape, `${key}?`)) {
      return `field ${JSON.stringify(key)} does not belong there`;
    }
  }
  for (const [name, check] of Object.entries(shape)) {
    const key = name.replace(/\?$/, "");
    if (!Object.hasOwn(record, key)) {
      if (name === key) return `field "${key}" is missing`;
    } else if (!check(record[key])) {
      return `field "${key}" cannot be ${JSON.stringify(record[key])}`;
    }
  }
  return undefined;
}

const SESSION: Shape = { session_id: isFullText };
const TURN: Shape = { ...SESSION, turn_id: isFullText };
const RUN: Shape = { ...TURN, run_id: isFullText };
const STEP: Shape = { ...RUN, step: isCount };
const TOOL: Shape = { ...STEP, tool_id: isFullText, tool_name: isText };
const MODEL: Shape = { "model?": isFullText };
const DELTA: Shape = { ...STEP, ...MODEL, delta: isFullText };

const USAGE: Shape = {
  input_tokens: isCount,
  output_tokens: isCount,
  cache_read_tokens: isCount,
  cache_write_tokens: isCount,
  cache_reported: isBoolean,
};
const isUsage: Check = (value) =>
  isObject(value) && explainShape(value as Json, USAGE) === undefined;

/** What `get_state` answers besides the frame. */
const STATE: Shape = {
  session_id: isFullText,
  busy: isBoolean,
  queued: isBoolean,
  steering: isCount,
  follow_up: isCount,
  steering_mode: isMode,
  follow_up_mode: isMode,
  mode: is("act"),
};

const SHAPES: Record<string, (record: Json) => Shape> = {
  response: responseShape,
  session_start: () => SESSION,
  session_end: () => ({ ...SESSION, success: isBoolean }),
  message: ({ role }) => ({
    ...TURN,
    role: is("user", "assistant"),
    content: isText,
    ...(role === "assistant" ? { ...MODEL, final: isBoolean } : {}),
  }),
  run_start: () => ({ ...RUN, "prompt?": isText }),
  run_end: () => ({ ...RUN, ...MODEL, duration_ms: isDuration }),
  step_start: () => ({ ...STEP, ...MODEL }),
  step_end: () => ({ ...STEP, ...MODEL, "usage?": isUsage, duration_ms: isDuration }),
  message_delta: () => DELTA,
  thinking_delta: () => DELTA,
  tool_call: () => ({ ...TOOL, "input?": isObject }),
  tool_output_delta: () => ({ ...TOOL, delta: isFullText }),
  tool_result: () => ({ ...TOOL, output: isText, is_error: isBoolean, duration_ms: isDuration }),
  error: () => ({
    ...RUN,
    step: (value) => value === -1 || isCount(value),
    message: isFullText,
  }),
  diagnostic: () => ({ level: is("warning", "error"), message: isFullText }),
  queue: queueShape,
};

function responseShape(record: Json): Shape {
  const frame: Shape = { id: isText, ok: isBoolean };
  if (record.ok !== true) return { ...frame, error: isFullText };
  if ("busy" in record) return { ...frame, ...STATE };
  if ("steering" in record) return { ...frame, steering: isTexts, follow_up: isTexts };
  return {
    ...frame,
    "state?": is("started", "queued", "interrupting", "idle", "stopping", "stopped"),
  };
}

function queueShape({ action }: Json): Shape {
  const common: Shape = {
    ...SESSION,
    action: is("enqueue", "dequeue", "clear"),
    depth: action === "clear" ? is(0) : isCount,
  };
  if (action === "clear") return common;
  return {
    ...common,
    ...(action === "enqueue" ? { content: isFullText } : {}),
    "request_id?": isFullText,
    mode: is("steer", "follow_up"),
  };
}
