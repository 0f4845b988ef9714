/** When and how long to wait before a failed model request is made again. Pure but for the pause itself. */

import type { ModelError, ModelErrorKind } from "../errors.ts";

/** Tries after the first one, by kind of failure; kinds that are not here are final. */
const LIMITS: Partial<Record<ModelErrorKind, number>> = {
  rate_limit: 5,
  server: 6,
  network: 6,
  stalled: 6,
  stream_cut: 6,
  stream_error: 6,
};

const FIRST_DELAY_MS: Partial<Record<ModelErrorKind, number>> = { rate_limit: 1000 };
const LONGEST_DELAY_MS = 30_000;
/** An endpoint that asks for more than this is not waited for: a person would rather see the error. */
const LONGEST_ASKED_DELAY_MS = 600_000;

/** Whether a failure of this kind may pass by itself. */
export function mayPass(error: ModelError): boolean {
  return LIMITS[error.kind] !== undefined;
}

/** How often a request that failed like this is made again. */
export function retryLimit(error: ModelError): number {
  if (error.retryAfterMs !== undefined && error.retryAfterMs > LONGEST_ASKED_DELAY_MS) return 0;
  return LIMITS[error.kind] ?? 0;
}

/**
 * Milliseconds before try number `attempt` (from 1): what the endpoint asked for, else exponential with 20 % jitter. `random` is a number
 * from 0 to 1.
 */
export function retryDelayMs(
  error: ModelError,
  options: { attempt: number; random: number },
): number {
  if (error.retryAfterMs !== undefined) return error.retryAfterMs;
  const first = FIRST_DELAY_MS[error.kind] ?? 100;
  const delay = Math.min(first * 2.5 ** (options.attempt - 1), LONGEST_DELAY_MS);
  return Math.round(delay * (0.8 + 0.4 * options.random));
}

/** Resolves after `ms`; rejects at once with `signal.reason` when aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
