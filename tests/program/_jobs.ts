/**
 * Short forms for tests of background jobs: commands that run until a file appears, and what records and messages say of jobs. It starts
 * nothing itself.
 */

import { type Circle, type WireRecord } from "./_with_circle.ts";

type Json = Record<string, unknown>;

/** The fields of a job that do not differ from run to run. */
export type JobFacts = Omit<Json, "elapsed" | "output" | "sessionId">;

/** A command that runs until the file is in the workspace, then does `after`. */
export function untilFile(name: string, after = "true"): string {
  return `until [ -e ${name} ]; do sleep 0.02; done; ${after}`;
}

/** Lets every command go on that waits for this file. */
export async function makeFile(circle: Circle, name: string): Promise<void> {
  await Deno.writeTextFile(`${circle.workspace}/${name}`, "");
}

/** Waits until the log of a job has this text. */
export async function untilLog(job: Json, text: string): Promise<void> {
  const path = String(job.output);
  const deadline = Date.now() + 15_000;
  while (!(await Deno.readTextFile(path)).includes(text)) {
    if (Date.now() > deadline) throw new Error(`${path} never had ${JSON.stringify(text)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A call of `bash` in the background. */
export function backgroundCall(id: string, command: string, more: Json = {}) {
  return { id, name: "bash", args: { command, background: true, ...more } };
}

/** The job of a record, or of a response to `stop_job`. */
export function jobOf(record: WireRecord): Json {
  return (record.type === "response" ? (record.data as Json).job : record.job) as Json;
}

/** The job without what differs from run to run. */
export function factsOf(job: Json): JobFacts {
  const { elapsed: _elapsed, output: _output, sessionId: _sessionId, ...facts } = job;
  return facts;
}

/** The next record that tells this of a job. */
export async function jobEvent(circle: Circle, event: string, id: string): Promise<WireRecord> {
  return await circle.weir.next((record) =>
    record.type === "job" && record.event === event && jobOf(record).id === id
  );
}

/** Each record in a word or two: `job started j1`, `tool_result c1`, `subagent run_end`, `response abort`. */
export function outline(records: readonly WireRecord[]): string[] {
  return records.map((record) => {
    switch (record.type) {
      case "job":
        return `job ${record.event} ${jobOf(record).id}`;
      case "tool_result":
        return `tool_result ${record.id}`;
      case "subagent_event":
        return `subagent ${record.event}`;
      case "compaction":
        return `compaction ${record.phase}`;
      case "response":
        return `response ${record.command}`;
      case "turn_end":
        return record.aborted === true ? "turn_end aborted" : "turn_end";
      case "turn_start":
        return record.message === undefined ? "turn_start of jobs" : "turn_start";
      default:
        return String(record.type);
    }
  });
}

/** The texts of the notices among stored messages in the shape of `get_messages`. */
export function noticesIn(messages: readonly Json[]): string[] {
  return messages
    .map(({ data }) => data as { content: string; additional_kwargs: Json })
    .filter((data) => data.additional_kwargs.circle_internal === "job_notice")
    .map((data) => data.content);
}
