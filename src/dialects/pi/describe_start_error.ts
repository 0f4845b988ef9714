/** What a failed start says on stderr in this dialect. Knows no option. */

import type { StartError } from "../../errors.ts";
import type { StartFailure } from "../dialect.ts";

/** One line with the reason, and exit 2 whatever it is. */
export function describeStartError({ message, facts }: StartError): StartFailure {
  const text = facts?.about === "session_in_use"
    ? `Session ${facts.id} is in use by process ${facts.pid ?? "unknown"}.`
    : message;
  return { text: `weir: ${text.replace(/\s*[\r\n]+\s*/g, " ").trim()}`, exitCode: 2 };
}
