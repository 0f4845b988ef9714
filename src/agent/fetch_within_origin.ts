/**
 * Requests that carry keys, kept where they were meant to go. A plain `fetch` follows a redirect to any host and takes the body and all headers but
 * `Authorization` along. Knows no API.
 */

/** As many as a plain `fetch` follows. */
const MAX_REDIRECTS = 20;

/**
 * Like `send`, but follows redirects only on the same host (also from http to https), and only those that repeat the request as it is. Any other
 * redirect is returned as it came: an answer that is not `ok`. Throws what `send` throws, and `TypeError` when redirects never end.
 */
export async function fetchWithinOrigin(
  send: typeof fetch,
  input: string | URL | Request,
  init: RequestInit = {},
): Promise<Response> {
  let url = new URL(input instanceof Request ? input.url : input);
  let response = await send(input, { ...init, redirect: "manual" });
  const isRepeatable = !(input instanceof Request) && !(init.body instanceof ReadableStream);
  for (let count = 0; isRepeatable; count++) {
    const target = redirectTarget(response, url);
    if (target === undefined || !isSameHost(url, target) || !mayRepeat(response, init)) break;
    await response.body?.cancel();
    if (count === MAX_REDIRECTS) throw new TypeError("there are too many redirects");
    url = target;
    response = await send(url, { ...init, redirect: "manual" });
  }
  return response;
}

/** Where a redirect leads; `undefined` when it is none or does not say it. */
export function redirectTarget(response: Response, from: string | URL): URL | undefined {
  const location = response.headers.get("location");
  if (response.status < 300 || response.status > 399 || location === null) return undefined;
  return URL.parse(location, from) ?? undefined;
}

function isSameHost(from: URL, to: URL): boolean {
  return from.host === to.host && (from.protocol === to.protocol || to.protocol === "https:");
}

function mayRepeat({ status }: Response, { method = "GET" }: RequestInit): boolean {
  return status === 307 || status === 308 || method === "GET" && status !== 304;
}
