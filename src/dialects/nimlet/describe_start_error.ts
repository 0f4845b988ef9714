/** What a failed start says on stderr in this dialect. Knows no option. */

import type { StartError } from "../../errors.ts";
import type { StartFailure } from "../dialect.ts";

/** A usage error is one line and exit 2; everything else is `STARTUP_FAILED`, a line with the reason, and exit 1. */
export function describeStartError(error: StartError): StartFailure {
  if (error.kind === "usage" && error.facts === undefined) {
    return { text: error.message, exitCode: 2 };
  }
  return { text: `STARTUP_FAILED\n${oneLine(reasonOf(error))}`, exitCode: 1 };
}

function reasonOf({ message, facts }: StartError): string {
  switch (facts?.about) {
    case "unknown_session":
      return `Session not found: ${facts.id}`;
    case "session_in_use":
      return `Session ${facts.id} is in use by process ${facts.pid ?? "unknown"}.`;
    case "session_id":
      return "Invalid session ID.";
    default:
      return message;
  }
}

function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, " ").trim();
}
