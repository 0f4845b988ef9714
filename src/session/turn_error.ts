/** How a failure outside of the model is told. Knows no turn. */

import { errorText, HostError } from "../errors.ts";

/** One line for the client about a turn that ended by a fault of the machine, which says what to do, or by one of ours. */
export function turnErrorText(error: unknown): string {
  return errorText(error).split("\n")[0]!;
}

/** What a person needs: a fault of the machine says all in its message, one of ours is found by its stack. */
export function errorReport(error: unknown): string {
  if (error instanceof HostError) return error.message;
  return error instanceof Error ? error.stack ?? error.message : String(error);
}
