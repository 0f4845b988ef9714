/** When a failed request is made again where failures are told: by the configured numbers. */

import { mayPass } from "../agent/retry.ts";
import type { ModelError } from "../errors.ts";
import type { Settings } from "./settings.ts";

/** The pause before try number `attempt` (from 1) and the most tries; `undefined` when there is no other one. */
export function planRetry(
  settings: Settings,
  error: ModelError,
  attempt: number,
): { readonly delayMs: number; readonly limit: number } | undefined {
  const { maxRetries, baseDelayMs, maxDelayMs } = settings.retry;
  if (!settings.autoRetry || attempt > maxRetries || !mayPass(error)) return undefined;
  const asked = error.retryAfterMs;
  if (asked !== undefined && asked > maxDelayMs) return undefined;
  const delayMs = asked ?? Math.min(baseDelayMs * 2 ** (attempt - 1), maxDelayMs);
  return { delayMs, limit: maxRetries };
}
