/** The commands that a prompt can be: `/compact`, `/jobs` and `/stop`. They run as turns, and only the first one asks the model. */

import { RequestError } from "../../errors.ts";
import type { JobRecord } from "../../session/job_record.ts";
import type { Seat } from "../../session/seat.ts";
import type { Prompt } from "./read_prompt.ts";
import type { AvailableCommand } from "@agentclientprotocol/sdk";

export const COMMANDS: readonly AvailableCommand[] = [
  {
    name: "compact",
    description: "Replace the older part of the conversation by a summary",
    input: { hint: "what to keep" },
  },
  { name: "jobs", description: "List the background jobs" },
  { name: "stop", description: "Stop a background job", input: { hint: "job id" } },
];

export interface CommandPrompt {
  readonly name: string;
  readonly argument: string;
}

/** The command that a prompt is; `undefined` for one that is meant for the model. */
export function readCommand({ firstText }: Prompt): CommandPrompt | undefined {
  const [, name, argument = ""] = /^\/([a-z]+)(?:\s+([^]*))?$/.exec(firstText ?? "") ?? [];
  if (name === undefined || !COMMANDS.some((command) => command.name === name)) return undefined;
  return { name, argument: argument.trim() };
}

/** Carries a command out and gives what is shown of it. Throws `signal.reason`. */
export async function runCommand(
  { name, argument }: CommandPrompt,
  { seat, signal }: { seat: Seat; signal: AbortSignal },
): Promise<string> {
  switch (name) {
    case "compact":
      return COMPACTED[await seat.session.compact({ instructions: argument, signal })];
    case "jobs": {
      const jobs = seat.jobs.list();
      return jobs.length === 0
        ? "There are no background jobs."
        : jobs.map((job) => `- ${describeJob(job)}`).join("\n");
    }
    default:
      if (argument === "") return "Name the job: /stop j1";
      try {
        return describeJob(await seat.jobs.stop(argument, "user"));
      } catch (error) {
        if (error instanceof RequestError) return error.message;
        throw error;
      }
  }
}

const COMPACTED = {
  done: "The conversation was compacted.",
  failed: "The conversation could not be compacted; it stays as it is.",
  nothing_to_do: "There is nothing to compact yet.",
} as const;

function describeJob({ id, title, status, exitCode, elapsed, output }: JobRecord): string {
  const exit = exitCode === null || status === "running" ? "" : `, exit ${exitCode}`;
  return `${id}: ${title} (${status}${exit}, ${elapsed} s, output in ${output})`;
}
