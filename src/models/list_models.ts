/**
 * The models that an endpoint offers. A small request of its own: the client library is not loaded for it.
 */

import { fetchWithinOrigin } from "../agent/fetch_within_origin.ts";
import type { Price } from "../agent/message.ts";
import { ModelError } from "../errors.ts";

/** For each of the addresses that are asked. */
const LIMIT_MS = 2_500;
/** Ends in a version part such as `/v1` or `/v1beta`. */
const HAS_VERSION = /\/v\d+[a-z]*\d*$/i;

/**
 * The ids that the endpoint lists, each once, in its order. Asks `<base>/models`, then `<base>/v1/models` when the base does not end in
 * a version part. Throws `ModelError` with the reasons joined by `, `, and `signal.reason`.
 */
export async function listModels(options: ListModelsOptions): Promise<string[]> {
  return (await listEntries(options)).map(({ id }) => id);
}

/** What the list says that a model costs; `undefined` when it does not say. Throws like `listModels`. */
export async function findListedPrice(
  id: string,
  options: ListModelsOptions,
): Promise<Price | undefined> {
  return (await listEntries(options)).find((entry) => entry.id === id)?.price;
}

export interface ListModelsOptions {
  readonly baseUrl: string;
  /** `""` is a key that is missing; `undefined` an endpoint that needs none. */
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

interface ListedModel {
  readonly id: string;
  readonly price: Price | undefined;
}

async function listEntries(options: ListModelsOptions): Promise<ListedModel[]> {
  const { baseUrl, apiKey, signal } = options;
  signal.throwIfAborted();
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    throw new ModelError("set_up", "invalid API base URL");
  }
  if (apiKey === "") throw new ModelError("set_up", "missing API key");
  const reasons: string[] = [];
  for (const url of listUrls(baseUrl)) {
    try {
      return await askFor(url, options);
    } catch (error) {
      signal.throwIfAborted();
      reasons.push(error instanceof Reason ? error.message : "connection failed or invalid JSON");
    }
  }
  throw new ModelError("network", reasons.join(", "));
}

/** Why one address gave no list. */
class Reason extends Error {}

function listUrls(baseUrl: string): string[] {
  const base = new URL(baseUrl);
  const path = base.pathname.replace(/\/+$/, "");
  const paths = HAS_VERSION.test(path) ? [path] : [path, `${path}/v1`];
  return paths.map((one) => {
    const url = new URL(base);
    url.pathname = `${one}/models`;
    return url.href;
  });
}

async function askFor(
  url: string,
  options: ListModelsOptions,
): Promise<ListedModel[]> {
  // Called without an object: the `fetch` of a page refuses any other `this`.
  const { apiKey, headers, fetch: send } = options;
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), LIMIT_MS);
  try {
    const response = await fetchWithinOrigin(send, url, {
      headers: {
        accept: "application/json",
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        ...headers,
      },
      signal: AbortSignal.any([options.signal, limit.signal]),
    });
    if (!response.ok) {
      response.body?.cancel().catch(() => {});
      throw new Reason(`http ${response.status}`);
    }
    return entriesOf(await response.json());
  } finally {
    clearTimeout(timer);
  }
}

function entriesOf(value: unknown): ListedModel[] {
  const data = typeof value === "object" && value !== null
    ? (value as { data?: unknown }).data
    : undefined;
  if (!Array.isArray(data)) throw new Reason("invalid model list");
  const entries = new Map<string, ListedModel>();
  for (const model of data as ({ id?: unknown; pricing?: unknown } | null)[]) {
    if (typeof model?.id !== "string" || model.id === "" || entries.has(model.id)) continue;
    entries.set(model.id, { id: model.id, price: priceOf(model.pricing) });
  }
  if (entries.size === 0 && data.length > 0) throw new Reason("invalid model list");
  return [...entries.values()];
}

/** US$ per token as text or number, under the names that OpenRouter uses; a negative number there means that it depends. */
function priceOf(pricing: unknown): Price | undefined {
  if (typeof pricing !== "object" || pricing === null) return undefined;
  const rates = pricing as Record<string, unknown>;
  const input = rateOf(rates.prompt);
  const output = rateOf(rates.completion);
  if (input === undefined || output === undefined) return undefined;
  const cacheRead = rateOf(rates.input_cache_read);
  const cacheWrite = rateOf(rates.input_cache_write);
  return {
    input,
    output,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
  };
}

/** US$ per million tokens, without the noise of binary fractions. */
function rateOf(perToken: unknown): number | undefined {
  const rate = typeof perToken === "string" && perToken.trim() !== "" ? Number(perToken) : perToken;
  if (typeof rate !== "number" || !(rate >= 0)) return undefined;
  return Number((rate * 1e6).toPrecision(12));
}
