/**
 * Token counts in the words of the two APIs and of endpoints that are close to them. Knows nothing of prices.
 */

import type { Usage } from "../agent/message.ts";

type Fields = Record<string, unknown>;

/** The usage of a Chat Completions answer; `undefined` when it counts nothing. */
export function chatUsage(value: unknown): Usage | undefined {
  const usage = fields(value);
  const details = fields(usage.prompt_tokens_details);
  return mapUsage({
    input: count(usage.prompt_tokens) ?? count(usage.input_tokens),
    output: count(usage.completion_tokens) ?? count(usage.output_tokens),
    cacheRead: count(details.cached_tokens) ?? count(usage.prompt_cache_hit_tokens) ??
      count(usage.cache_read_input_tokens) ?? count(usage.cached_tokens),
    cacheWrite: count(details.cache_write_tokens) ?? count(details.cache_creation_tokens) ??
      count(usage.cache_creation_input_tokens),
    reasoning: count(fields(usage.completion_tokens_details).reasoning_tokens) ??
      count(usage.reasoning_tokens),
  });
}

/** The usage of a Responses answer; `undefined` when it counts nothing. */
export function responsesUsage(value: unknown): Usage | undefined {
  const usage = fields(value);
  const details = fields(usage.input_tokens_details);
  return mapUsage({
    input: count(usage.input_tokens),
    output: count(usage.output_tokens),
    cacheRead: count(details.cached_tokens) ?? count(usage.cache_read_input_tokens),
    cacheWrite: count(details.cache_write_tokens) ?? count(usage.cache_creation_input_tokens),
    reasoning: count(fields(usage.output_tokens_details).reasoning_tokens),
  });
}

function mapUsage(counts: {
  input: number | undefined;
  output: number | undefined;
  cacheRead: number | undefined;
  cacheWrite: number | undefined;
  reasoning: number | undefined;
}): Usage | undefined {
  const { input, output, cacheRead, cacheWrite, reasoning } = counts;
  if (input === undefined && output === undefined) return undefined;
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0);
  return {
    // Some endpoints count what the cache had apart from the input.
    inputTokens: (input ?? 0) + (cached > (input ?? 0) ? cached : 0),
    outputTokens: output ?? 0,
    ...(cacheRead !== undefined && { cacheReadTokens: cacheRead }),
    ...(cacheWrite !== undefined && { cacheWriteTokens: cacheWrite }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  };
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0
    ? Math.round(value)
    : undefined;
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? value as Fields : {};
}
