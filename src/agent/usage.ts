/** Adding up token counts. */

import type { Usage } from "./message.ts";

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

/** The sum of two counts; a key that neither has stays absent. */
export function addUsage(sum: Usage, more: Usage | undefined): Usage {
  if (more === undefined) return sum;
  return {
    inputTokens: sum.inputTokens + more.inputTokens,
    outputTokens: sum.outputTokens + more.outputTokens,
    ...added("cacheReadTokens", sum, more),
    ...added("cacheWriteTokens", sum, more),
    ...added("reasoningTokens", sum, more),
  };
}

type OptionalCount = "cacheReadTokens" | "cacheWriteTokens" | "reasoningTokens";

function added(key: OptionalCount, a: Usage, b: Usage): Partial<Record<OptionalCount, number>> {
  if (a[key] === undefined && b[key] === undefined) return {};
  return { [key]: (a[key] ?? 0) + (b[key] ?? 0) };
}
