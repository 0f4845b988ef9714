/**
 * What an endpoint's failures mean: HTTP answers, errors inside a stream and broken connections become `ModelError`s. Decides the kind
 * and the text, never whether to try again.
 */

import { errorText, HostError, ModelError, type ModelErrorKind } from "../errors.ts";
import { shownText } from "../agent/redact.ts";

/** What texts about an endpoint may name and what they must hide. */
export interface EndpointContext {
  readonly baseUrl: string;
  readonly secrets: readonly string[];
}

// No part takes any number of word characters behind a word: a text that repeats it would be searched anew from each place.
const OVERFLOW = new RegExp(
  [
    "context_length_exceeded",
    "exceed_context_size",
    "(?:maximum|max|model'?s) context (?:length|window|size)",
    "context (?:length|window|size|limit) (?:is |was |has been )?(?:exceeded|too)",
    "exceed(?:s|ed|ing)?(?: the)?(?: available| model'?s| maximum| allowed)* (?:context|input|token|prompt)",
    "too many (?:input |prompt )?tokens",
    "(?:prompt|input|request|messages?)(?: \\w+)? (?:is|are|was) too (?:long|large)",
    "input(?: token)?s? (?:length|count)? ?(?:exceeds?|is too)",
    "exceeds? the (?:maximum )?(?:number of )?(?:allowed )?(?:input )?tokens",
    "reduce the length",
    "maximum (?:prompt|input) length",
    "larger than the (?:model'?s )?(?:maximum )?context",
  ].join("|"),
  "i",
);

/** An answer with an error status. `body` is its text, complete or the beginning of it. */
export function httpError(
  response: { readonly status: number; readonly statusText: string; readonly headers: Headers },
  body: string,
  context: EndpointContext,
): ModelError {
  const { status, headers } = response;
  const value = parseJson(body);
  const own = (value === undefined ? plainText(body) : endpointText(value)) ||
    response.statusText || "no error text";
  const text = shownText(own, context.secrets);
  // An endpoint's text that begins with the status would say it twice.
  const message = text.startsWith(`${status} `) ? text : `${status} ${text}`;
  return new ModelError(httpKind(status, `${own} ${errorCode(value)}`), message, {
    status,
    retryAfterMs: retryAfter(headers),
    detail: errorObject(value, context),
  });
}

function errorObject(value: unknown, { secrets }: EndpointContext): string | undefined {
  const { error } = (typeof value === "object" && value !== null ? value : {}) as {
    error?: unknown;
  };
  if (typeof error !== "object" || error === null) return undefined;
  return shownText(JSON.stringify(error), secrets);
}

/** An error object inside a stream. `begun`: whether a part of the reply has come already. */
export function streamError(
  value: unknown,
  options: { context: EndpointContext; begun: boolean },
): ModelError {
  const own = endpointText(value) || "the endpoint reported an error without a text";
  const overflow = !options.begun && OVERFLOW.test(`${own} ${errorCode(value)}`);
  return new ModelError(
    overflow ? "overflow" : "stream_error",
    shownText(own, options.context.secrets),
  );
}

/** A request that got no answer at all. */
export function networkError(cause: unknown, context: EndpointContext): ModelError {
  const text = shownText(causeText(cause), context.secrets);
  // Nothing that another try would change.
  if (cause instanceof HostError && cause.code === "permission") {
    return new ModelError("set_up", `Cannot reach ${shownUrl(context)}: ${text}`, { cause });
  }
  return new ModelError(
    "network",
    `Cannot reach ${
      shownUrl(context)
    }: ${text}, check that the endpoint is running and that baseUrl is right`,
    { cause },
  );
}

/** A reply that broke off: the connection ended, or it ended without having said anything. */
export function cutError(detail: string, options?: ErrorOptions): ModelError {
  return new ModelError("stream_cut", `the reply broke off: ${detail}`, options);
}

/** What is at the bottom of a failed fetch, without the URL that runtimes put into it. */
export function causeText(error: unknown): string {
  let innermost = error;
  for (let depth = 0; depth < 8 && innermost instanceof Error && innermost.cause; depth++) {
    innermost = innermost.cause;
  }
  const text = errorText(innermost)
    .replace(/^error sending request (?:for url )?\([^)]*\)(?:: )?/, "")
    .replace(/^client error \(\w+\): /, "")
    .replace(/^error reading a body from connection: /, "");
  return text || errorText(error);
}

function shownUrl({ baseUrl, secrets }: EndpointContext): string {
  if (!URL.canParse(baseUrl)) return "the endpoint";
  const url = new URL(baseUrl);
  return shownText(`${url.origin}${url.pathname.replace(/\/+$/, "")}`, secrets);
}

function httpKind(status: number, text: string): ModelErrorKind {
  if (status === 401 || status === 403) return "auth";
  if (status === 400 && OVERFLOW.test(text)) return "overflow";
  // Whatever it says: a request that is too large gets smaller by taking out older messages.
  if (status === 413) return "overflow";
  // A used-up balance does not come back by waiting.
  if (status === 429) return /insufficient_quota/i.test(text) ? "request" : "rate_limit";
  if (status === 408 || status === 409 || status >= 500) return "server";
  return "request";
}

/** `retry-after-ms`, or `Retry-After` in seconds or as an HTTP date. */
function retryAfter(headers: Headers): number | undefined {
  const milliseconds = duration(headers.get("retry-after-ms"));
  if (milliseconds !== undefined) return milliseconds;
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  const seconds = duration(value);
  if (seconds !== undefined) return seconds * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) || !/[a-z]/i.test(value) ? undefined : Math.max(0, date - Date.now());
}

function duration(value: string | null): number | undefined {
  return value !== null && /^\s*\d+(?:\.\d*)?\s*$/.test(value) ? Number(value) : undefined;
}

/** The text that an error body means to say, whatever the endpoint's style. */
function endpointText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(endpointText).filter(Boolean).join("; ");
  if (!isRecord(value)) return "";
  for (const key of ["error", "message", "detail", "msg", "error_description", "title", "code"]) {
    const found = endpointText(value[key]);
    if (found) return found;
  }
  const keys = Object.keys(value);
  return keys.length > 0 ? JSON.stringify(value) : "";
}

function errorCode(value: unknown): string {
  const found = Array.isArray(value) ? value[0] : value;
  if (!isRecord(found)) return "";
  const error = isRecord(found.error) ? found.error : found;
  return [error.code, error.type].filter((part) => typeof part === "string").join(" ");
}

/** What an HTML page or another text says. */
function plainText(body: string): string {
  if (!/^\s*</.test(body)) return body;
  const title = /<title[^<>]*>([^<]*)/i.exec(body)?.[1]?.trim();
  return title || body.replace(/<[^<>]*>/g, " ");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
