/**
 * Model on any endpoint that speaks the OpenAI API. The only file that imports `openai`, and not before the first request: the client
 * builds and sends requests, the answer's bytes are read here (`read_events.ts`), because endpoints depart from the format in more ways
 * than the client bears.
 */

import type { OpenAI } from "openai";
import type { Model, ModelInfo, ModelReplyEnd, ModelRequest, ModelSink } from "../agent/model.ts";
import { errorText, ModelError } from "../errors.ts";
import { chatRequest } from "./chat_request.ts";
import { ChatStream } from "./chat_stream.ts";
import { Connection } from "./connection.ts";
import { listModels } from "./list_models.ts";
import { readEvents } from "./read_events.ts";
import { secretsOf, shownText } from "../agent/redact.ts";
import { isOpenaiHost } from "./request_options.ts";
import { responsesRequest } from "./responses_request.ts";
import { ResponsesStream } from "./responses_stream.ts";

/** The client's own limit is not used; this is the longest that timers take. */
const NO_LIMIT_MS = 2 ** 31 - 1;

/** Where a model is and how it is asked. */
export interface OpenaiModelOptions {
  /** A name for the endpoint, as it appears in messages and receipts. */
  readonly provider: string;
  /** The model, as the endpoint knows it. */
  readonly id: string;
  /** Chat Completions or Responses. */
  readonly api: "chat" | "responses";
  /** Up to and including the version part, as `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  /** `undefined` for an endpoint without keys: no `Authorization` is sent. `""` is a key that is missing. */
  readonly apiKey: string | undefined;
  /** Sent besides, and in place of headers of the same names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Until an answer begins. */
  readonly timeoutMs: number;
  /** Without a byte of an answer that has begun. */
  readonly stallTimeoutMs: number;
  /** What is known of the model. */
  readonly info: ModelInfo;
  /** Sends the requests, by default the global one. */
  readonly fetch?: typeof fetch;
  /** Of the program, for the endpoint's records. */
  readonly version?: string;
}

/**
 * A model of an OpenAI-compatible endpoint. Nothing is loaded or sent until it is asked.
 *
 * @example
 * ```ts
 * import { createOpenaiModel } from "@weir/weir";
 *
 * const model = createOpenaiModel({
 *   provider: "local",
 *   id: "qwen3",
 *   api: "chat",
 *   baseUrl: "http://127.0.0.1:11434/v1",
 *   apiKey: undefined,
 *   headers: {},
 *   timeoutMs: 600_000,
 *   stallTimeoutMs: 60_000,
 *   info: {
 *     contextWindow: 32_768,
 *     maxOutputTokens: undefined,
 *     reasoning: undefined,
 *     input: ["text"],
 *     price: undefined,
 *   },
 *   // Left out outside of examples: this one sends nothing.
 *   fetch: () => Promise.resolve(Response.json({ data: [{ id: "qwen3" }] })),
 * });
 * const models = await model.listModels({ signal: AbortSignal.timeout(1000) });
 * if (models.join() !== "qwen3") throw new Error(models.join());
 * ```
 */
export function createOpenaiModel(options: OpenaiModelOptions): Model {
  const { provider, id, api, info, baseUrl, apiKey, headers } = options;
  return {
    provider,
    id,
    api,
    info,
    reply: (request, { signal, sink }) => reply(request, { options, signal, sink }),
    listModels: ({ signal }) =>
      listModels({ baseUrl, apiKey, headers, fetch: options.fetch ?? fetch, signal }),
  };
}

async function reply(
  request: ModelRequest,
  how: { options: OpenaiModelOptions; signal: AbortSignal; sink: ModelSink },
): Promise<ModelReplyEnd> {
  const { options, signal, sink } = how;
  signal.throwIfAborted();
  checkSetUp(options);
  const context = {
    baseUrl: options.baseUrl,
    secrets: secretsOf(options.apiKey, options.headers),
  };
  using connection = new Connection({
    signal,
    fetch: options.fetch ?? fetch,
    timeoutMs: options.timeoutMs,
    stallTimeoutMs: options.stallTimeoutMs,
    context,
  });
  try {
    const client = await connection.wait(createClient(options, connection));
    try {
      await send(client, { request, options });
    } catch (error) {
      throw failureOf(error, context.secrets);
    }
    const decoder = options.api === "chat"
      ? new ChatStream({ sink, context })
      : new ResponsesStream({ sink, context });
    await readEvents(connection, { decoder, context });
    const end = decoder.end();
    const wait = decoder.takeWait();
    if (wait !== undefined) await connection.wait(wait);
    return end;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

function checkSetUp({ baseUrl, apiKey }: OpenaiModelOptions): void {
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    throw new ModelError("set_up", "invalid API base URL");
  }
  if (apiKey === "") throw new ModelError("set_up", "missing API key; re-run weir setup");
}

/** A client for one request: its `fetch` belongs to the request's connection. */
async function createClient(options: OpenaiModelOptions, connection: Connection): Promise<OpenAI> {
  const { OpenAI } = await import("openai");
  const { apiKey, version } = options;
  // What the environment says is meant for OpenAI; other endpoints must not learn it.
  const elsewhere = isOpenaiHost(options.baseUrl) ? {} : { organization: null, project: null };
  return new OpenAI({
    ...elsewhere,
    apiKey: apiKey ?? "none",
    adminAPIKey: null,
    webhookSecret: null,
    baseURL: options.baseUrl,
    defaultHeaders: {
      Authorization: apiKey === undefined ? null : `Bearer ${apiKey}`,
      ...(version !== undefined && { "User-Agent": `weir/${version}` }),
      ...options.headers,
    },
    maxRetries: 0,
    timeout: NO_LIMIT_MS,
    logLevel: "off",
    dangerouslyAllowBrowser: true,
    fetch: connection.fetch,
  });
}

/** Ends when the headers of the answer have come. */
async function send(
  client: OpenAI,
  { request, options }: { request: ModelRequest; options: OpenaiModelOptions },
): Promise<void> {
  if (options.api === "chat") {
    const body = chatRequest(request, options) as unknown;
    await client.chat.completions
      .create(body as OpenAI.ChatCompletionCreateParamsStreaming).asResponse();
  } else {
    const body = responsesRequest(request, options) as unknown;
    await client.responses
      .create(body as OpenAI.Responses.ResponseCreateParamsStreaming).asResponse();
  }
}

/** The client wraps what its `fetch` throws. */
function failureOf(error: unknown, secrets: readonly string[]): unknown {
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    if (inner instanceof ModelError) return inner;
  }
  return new ModelError(
    "request",
    `Cannot build the request: ${
      shownText(errorText(error), secrets)
    }, check the provider's baseUrl and headers`,
    { cause: error },
  );
}
