/** The tools by which a model sees and stops background jobs. */

import type { JsonObject } from "../agent/message.ts";
import { errorOutcome, textOutcome, type Tool } from "../agent/tool.ts";
import { errorText } from "../errors.ts";
import { parseArguments } from "../tools/arguments.ts";
import { type EndedJob, jobLine, type Jobs } from "./jobs.ts";

const NO_PARAMETERS: JsonObject = { type: "object", properties: {}, additionalProperties: false };

const STOP_PARAMETERS: JsonObject = {
  type: "object",
  properties: { job_id: { type: "string", description: "Id of the job, such as j1" } },
  required: ["job_id"],
  additionalProperties: false,
};

const WAIT_PARAMETERS: JsonObject = {
  type: "object",
  properties: {
    job_ids: {
      type: "array",
      items: { type: "string" },
      description: "Ids of the jobs; without it, all that run",
    },
    timeout_s: {
      type: "integer",
      minimum: 1,
      maximum: 600,
      description: "Seconds, 300 by default",
    },
  },
  additionalProperties: false,
};

export function createListJobsTool(jobs: Jobs): Tool<JsonObject> {
  return {
    name: "list_jobs",
    description:
      "Lists the background jobs, running ones first, with the files that have their output.",
    parameters: NO_PARAMETERS,
    group: "read",
    parse: (args) => parseArguments(NO_PARAMETERS, args),
    run: () => {
      const lines = jobs.list().map(jobLine);
      return Promise.resolve(
        textOutcome(lines.length === 0 ? "There are no background jobs." : lines.join("\n")),
      );
    },
  };
}

export function createStopJobTool(jobs: Jobs): Tool<JsonObject> {
  return {
    name: "stop_job",
    description: "Stops a background job and everything it started.",
    parameters: STOP_PARAMETERS,
    parse: (args) => parseArguments(STOP_PARAMETERS, args),
    run: async (args, { signal }) => {
      // A subagent may stop itself, and its end waits for the end of this call.
      const aborted = Promise.withResolvers<never>();
      const onAbort = () => aborted.reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        const stopped = jobs.stop(String(args.job_id).trim(), "model");
        return textOutcome(jobLine(await Promise.race([stopped, aborted.promise])));
      } catch (error) {
        signal.throwIfAborted();
        return errorOutcome(errorText(error));
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    },
  };
}

/** For subagents, which get no turns of their own for notices. `take` removes the notices of their jobs that are reported. */
export function createWaitJobsTool(
  jobs: Jobs,
  options: {
    subagent: string;
    take: (isWanted: (id: string) => boolean) => readonly EndedJob[];
    describe: (jobs: readonly EndedJob[]) => string;
  },
): Tool<JsonObject> {
  return {
    name: "wait_jobs",
    description: "Waits until background jobs of yours have ended and tells how.",
    parameters: WAIT_PARAMETERS,
    parse: (args) => parseArguments(WAIT_PARAMETERS, args),
    run: async (args, { signal }) => {
      const named = Array.isArray(args.job_ids) ? args.job_ids.map(String) : undefined;
      const own = jobs.runningOfSubagent(options.subagent).map((job) => job.id);
      const wanted = new Set(named ?? own);
      const timeoutMs = (typeof args.timeout_s === "number" ? args.timeout_s : 300) * 1000;
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const isRunning = () =>
        jobs.list().some((job) => wanted.has(job.id) && job.status === "running");
      try {
        while (isRunning()) await jobs.nextEnd((job) => wanted.has(job.record.id), limit);
      } catch {
        signal.throwIfAborted();
      }
      // One that ended before it could be waited for is worth a word too.
      const ended = options.take((id) => named === undefined || wanted.has(id));
      const running = jobs.list().filter((job) => wanted.has(job.id) && job.status === "running")
        .map(jobLine);
      const told = ended.length === 0 ? [] : [options.describe(ended)];
      const text = [...told, ...running].join("\n");
      return textOutcome(text === "" ? "None of these jobs runs." : text);
    },
  };
}
