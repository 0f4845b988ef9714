/** Says on stderr what a run will have to do without, because its process may not do everything. Decides nothing. */

import type { Config } from "../config/config.ts";
import { DEFAULT_BASE_URL, type ModelChoice } from "../config/resolve_model.ts";
import type { Host, LimitedUse } from "../host.ts";

/** A line on stderr for each thing that is missing; none on a host without limits. */
export function warnOfLimits(host: Host, use: LimitedUse): void {
  for (const line of host.describeLimits?.(use) ?? []) host.warn(`weir: ${line}`);
}

/** URLs of which the run needs one: the endpoint of its model or, for the built-in stand-in, those that it could change to. */
export function endpointsOf(
  choice: ModelChoice,
  { config, host }: { config: Config; host: Host },
): string[] {
  if (choice.api !== "demo") return [choice.baseUrl];
  const known = Object.values(config.providers).map(({ baseUrl }) => baseUrl ?? DEFAULT_BASE_URL);
  return known.length > 0 ? known : [host.getEnv("OPENAI_BASE_URL") || DEFAULT_BASE_URL];
}
