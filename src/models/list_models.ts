/**
 * The models that an endpoint offers. A small request of its own: the client library is not loaded for it.
 */

import { ModelError } from "../errors.ts";

/** For each of the addresses that are asked. */
const LIMIT_MS = 2_500;
/** Ends in a version part such as `/v1` or `/v1beta`. */
const HAS_VERSION = /\/v\d+[a-z]*\d*$/i;

/**
 * The ids that the endpoint lists, each once, in its order. Asks `<base>/models`, then `<base>/v1/models` when the base does not end in
 * a version part. Throws `ModelError` with the reasons joined by `, `, and `signal.reason`.
 */
export async function listModels(options: {
  readonly baseUrl: string;
  /** `""` is a key that is missing; `undefined` an endpoint that needs none. */
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}): Promise<string[]> {
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
  options: Parameters<typeof listModels>[0],
): Promise<string[]> {
  // Called without an object: the `fetch` of a page refuses any other `this`.
  const { apiKey, headers, fetch: send } = options;
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), LIMIT_MS);
  try {
    const response = await send(url, {
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
    return idsOf(await response.json());
  } finally {
    clearTimeout(timer);
  }
}

function idsOf(value: unknown): string[] {
  const data = typeof value === "object" && value !== null
    ? (value as { data?: unknown }).data
    : undefined;
  if (!Array.isArray(data)) throw new Reason("invalid model list");
  const ids = new Set<string>();
  for (const model of data as ({ id?: unknown } | null)[]) {
    if (typeof model?.id === "string" && model.id !== "") ids.add(model.id);
  }
  if (ids.size === 0 && data.length > 0) throw new Reason("invalid model list");
  return [...ids];
}
