/**
 * The exact fields of each record that a circle RPC process writes, and their kinds of values. It
 * knows nothing of the order of records.
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
  return explainShape(record, { type: isText, ...SHAPES[type](record) });
}

const isText: Check = (value) => typeof value === "string";
const isBoolean: Check = (value) => typeof value === "boolean";
const isAnything: Check = () => true;
const isNumber: Check = (value) => typeof value === "number" && Number.isFinite(value);
const isCount: Check = (value) => Number.isInteger(value) && (value as number) >= 0;
const isLine: Check = (value) => typeof value === "string" && !/[\r\n]/.test(value);
const isObject: Check = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isEmptyObject: Check = (value) => isObject(value) && Object.keys(value as Json).length === 0;
const isAbsolute: Check = (value) => typeof value === "string" && /^([/\\]|[A-Za-z]:)/.test(value);

function is(...allowed: unknown[]): Check {
  return (value) => allowed.includes(value);
}

function has(...shapes: Shape[]): Check {
  return (value) =>
    isObject(value) && shapes.some((shape) => explainShape(value as Json, shape) === undefined);
}

function listOf(check: Check): Check {
  return (value) => Array.isArray(value) && value.every(check);
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

const isUsage = has({
  input_tokens: isCount,
  output_tokens: isCount,
  cache_read_tokens: isCount,
  "cache_write_tokens?": isCount,
});

const CALL: Shape = { id: isText, name: isText, args: isObject };
const isCall = has(CALL, {
  ...CALL,
  args: isEmptyObject,
  raw_args: isText,
  argument_error: isText,
});

const isJob = has({
  id: isText,
  kind: is("shell", "adopted", "agent"),
  title: isText,
  status: is("running", "done", "failed", "stopped"),
  reason: isText,
  exitCode: (value) => value === null || Number.isInteger(value),
  startedBy: is("model", "user"),
  elapsed: isNumber,
  output: isAbsolute,
  sessionId: isText,
});

const RESULT: Shape = { id: isText, name: isText, status: is("success", "error"), output: isText };

const COMPACTION_PHASES: Record<string, Shape> = {
  start: { tokens_before: isCount, summarized: isCount, kept: isCount },
  saving: {},
  saved: { file: isAbsolute },
  summarizing: {},
  chunks: { chunks: isCount },
  summarized: { chunks: isCount },
  done: {
    tokens_before: isCount,
    tokens_after: isCount,
    summarized: isCount,
    kept: isCount,
    file: isAbsolute,
    seconds: isNumber,
  },
  error: { message: isText },
};

const SUBAGENT_EVENTS: Record<string, Shape> = {
  run_start: { message: isText },
  llm_start: {},
  llm_token: { text: isText, thinking: isBoolean },
  llm_end: { message: isObject, usage: isUsage },
  tool_call: CALL,
  tool_start: CALL,
  tool_waiting: { ...CALL, reason: isText },
  tool_result: RESULT,
  tool_end: { id: isText, status: is("success", "error") },
  todo_list: { todos: isAnything },
  run_end: { answer: isText, usage: isUsage },
  run_error: { message: isText, interrupted: isBoolean },
};

const isTags = has({ subagent: isText, name: is("general", "explore"), "job_id?": isText });

const SHAPES: Record<string, (record: Json) => Shape> = {
  response: ({ success }) => {
    const shape = {
      command: isText,
      success: isBoolean,
      "id?": (value: unknown) => value !== null,
    };
    return success === false ? { ...shape, error: isLine } : { ...shape, "data?": isObject };
  },
  turn_start: () => ({ "message?": isText }),
  assistant: () => ({ id: isText, text: isText, tool_calls: listOf(isCall), usage: isUsage }),
  tool_result: () => RESULT,
  not_run: () => ({ name: isText, args: isObject, reason: isText }),
  steer: () => ({ message: isText }),
  job: () => ({ event: is("started", "updated", "ended"), job: isJob }),
  compaction: ({ phase }) => {
    const head = { sessionId: isText, trigger: is("auto", "overflow") };
    const isPhase = is(...Object.keys(COMPACTION_PHASES));
    return { ...head, phase: isPhase, ...own(COMPACTION_PHASES, phase) };
  },
  subagent_event: ({ event }) => {
    const isEvent = is(...Object.keys(SUBAGENT_EVENTS));
    return { event: isEvent, ...own(SUBAGENT_EVENTS, event), tags: isTags };
  },
  turn_end: ({ aborted }): Shape =>
    aborted === undefined ? { answer: isText, usage: isUsage } : { aborted: is(true) },
  error: () => ({ message: isLine }),
  agent_settled: () => ({}),
  jobs_stopped: () => ({ count: isCount }),
  message_delta: () => ({ id: isText, delta: isText }),
  thinking_delta: () => ({ id: isText, delta: isText }),
  tool_start: () => CALL,
  tool_output: () => ({ id: isText, delta: isText }),
};

function own(shapes: Record<string, Shape>, key: unknown): Shape {
  return typeof key === "string" && Object.hasOwn(shapes, key) ? shapes[key] : {};
}
