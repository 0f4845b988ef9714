/**
 * The values that several records of this dialect are made of, as schemas. For `weir schema` and tests: what is written is not checked while
 * the program runs.
 */

import * as z from "zod/mini";
import { createNames } from "../wire_schema.ts";

/** The names of everything that has one, and what gives them. */
export const { names, named } = createNames();

const count = z.int().check(z.minimum(0));
const status = z.enum(["success", "error"]);
const anyObject = z.record(z.string(), z.unknown());

export const tokenCounts = named(
  "TokenCounts",
  "Tokens as the endpoint counted them; what came from the cache is part of the input.",
  z.strictObject({
    input_tokens: count,
    output_tokens: count,
    cache_read_tokens: count,
    cache_write_tokens: z.optional(count),
  }),
);

export const callRecord = named(
  "CallRecord",
  "A call that the model wants made. The last two keys are there when its arguments were not a JSON object.",
  z.strictObject({
    id: z.string(),
    name: z.string(),
    args: anyObject,
    raw_args: z.optional(z.string()),
    argument_error: z.optional(z.string()),
  }),
);

export const job = named(
  "Job",
  "A background job; `elapsed` is in seconds, `output` the path of its log.",
  z.strictObject({
    id: z.string().check(z.regex(/^j[0-9]+$/)),
    kind: z.enum(["shell", "adopted", "agent"]),
    title: z.string(),
    status: z.enum(["running", "done", "failed", "stopped"]),
    reason: z.enum([
      "",
      "exit",
      "timeout",
      "output limit",
      "output unavailable",
      "spawn error",
      "agent error",
      "user",
      "model",
      "parent ended",
      "cancelled",
    ]),
    exitCode: z.nullable(z.int()),
    startedBy: z.enum(["model", "user"]),
    elapsed: z.number().check(z.minimum(0)),
    output: z.string(),
    sessionId: z.string(),
  }),
);

const costRecord = named(
  "CostRecord",
  "What one model call cost, in US dollars; `rates` are per million tokens.",
  z.strictObject({
    model: z.string(),
    currency: z.enum(["USD", ""]),
    amount: z.nullable(z.number()),
    tokens: z.strictObject({
      input_miss: count,
      input_hit: count,
      input_write: count,
      input_write_1h: count,
      output: count,
    }),
    rates: z.record(z.string(), z.number()),
    provider: z.string(),
  }),
);

const attachment = named(
  "Attachment",
  "An image of a message; `data` is base64, `sha256` hexadecimal.",
  z.strictObject({
    kind: z.literal("image"),
    mime_type: z.string(),
    filename: z.string(),
    data: z.string(),
    sha256: z.string(),
  }),
);

export const nativeMessage = named(
  "NativeMessage",
  "A message as Weir keeps it; a key that has nothing to say is absent.",
  z.strictObject({
    id: z.string(),
    role: z.enum(["user", "assistant", "tool", "system"]),
    content: z.string(),
    display: z.optional(z.string()),
    attachments: z.optional(z.array(attachment)),
    internal: z.optional(z.literal("job_notice")),
    thinking: z.optional(z.string()),
    tool_calls: z.optional(z.array(callRecord)),
    model: z.optional(z.string()),
    request_model: z.optional(z.string()),
    usage: z.optional(tokenCounts),
    cost: z.optional(costRecord),
    truncated: z.optional(z.literal(true)),
    tool_call_id: z.optional(z.string()),
    name: z.optional(z.string()),
    status: z.optional(status),
    recoverable: z.optional(z.literal(true)),
  }),
);

const content = named(
  "LangchainContent",
  "The text of a message, or its parts when it has images.",
  z.union([
    z.string(),
    z.array(z.union([
      z.strictObject({ type: z.literal("text"), text: z.string() }),
      z.strictObject({
        type: z.literal("image"),
        base64: z.string(),
        mime_type: z.string(),
        filename: z.string(),
      }),
    ])),
  ]),
);

const dataKeys = {
  content,
  additional_kwargs: z.strictObject({
    reasoning_content: z.optional(z.string()),
    circle_internal: z.optional(z.literal("job_notice")),
    circle_shown: z.optional(z.string()),
  }),
  response_metadata: z.strictObject({}),
  name: z.nullable(z.string()),
  id: z.string(),
};

function langchain<Type extends string, Data extends z.core.$ZodShape>(type: Type, data: Data) {
  return z.strictObject({
    type: z.literal(type),
    data: z.strictObject({ ...dataKeys, type: z.literal(type), ...data }),
  });
}

export const langchainMessage = named(
  "LangchainMessage",
  "A message in the shape of LangChain's message dicts.",
  z.union([
    langchain("human", {}),
    langchain("system", {}),
    langchain("ai", {
      tool_calls: z.array(z.strictObject({
        name: z.string(),
        args: anyObject,
        id: z.string(),
        type: z.literal("tool_call"),
      })),
      invalid_tool_calls: z.array(z.unknown()),
      usage_metadata: z.nullable(z.strictObject({
        input_tokens: count,
        output_tokens: count,
        total_tokens: count,
        input_token_details: z.strictObject({
          cache_read: count,
          cache_creation: z.optional(count),
        }),
      })),
    }),
    langchain("tool", { tool_call_id: z.string(), artifact: z.null(), status }),
  ]),
);
