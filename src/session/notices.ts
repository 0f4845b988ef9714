/**
 * Notices: what the model is told of jobs that have ended. Each is delivered once. Knows no turn; the session asks when to start one.
 */

import type { UserMessage } from "../agent/message.ts";
import type { EndedJob } from "./jobs.ts";
import { jobLine } from "./jobs.ts";

const MAX_LINES = 20;
const MAX_BYTES = 32 * 1024;

export class Notices {
  #waiting: EndedJob[] = [];

  add(job: EndedJob): void {
    this.#waiting.push(job);
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Whether a notice waits that is worth a turn of its own: of a job that nobody stopped and no subagent owns. */
  get wantsTurn(): boolean {
    return this.#waiting.some(({ record, owner }) =>
      record.status !== "stopped" && owner.subagent === undefined
    );
  }

  /** Removes and returns what waits, all of it or what the filter takes. */
  take(filter: (job: EndedJob) => boolean = () => true): readonly EndedJob[] {
    const taken = this.#waiting.filter(filter);
    this.#waiting = this.#waiting.filter((job) => !taken.includes(job));
    return taken;
  }
}

/** One internal message about these jobs. `redact` takes secrets out of the output. */
export function createNoticeMessage(
  jobs: readonly EndedJob[],
  options: { source: string; redact: (text: string) => string },
): UserMessage {
  const { redact } = options;
  const parts = jobs.map(({ record, output }) =>
    // Before the output is cut, lest a half of a secret is left.
    `${redact(jobLine(record))}\n${noticeOutput({ record, output: redact(output) })}`
  );
  const text = `<system-reminder data-source="${options.source}">\n${
    parts.join("\n")
  }\n</system-reminder>`;
  return {
    role: "user",
    content: [{ type: "text", text }],
    timestamp: Date.now(),
    internal: "job_notice",
    display: redact(jobs.map(noticeDisplay).join("\n")),
  };
}

/** The end of a job's output as people are shown it: its last lines, secrets redacted. */
export function redactLines(output: string, redact: (text: string) => string): string {
  return redact(output.trimEnd().split("\n").slice(-MAX_LINES).join("\n"));
}

function noticeDisplay({ record }: EndedJob): string {
  return `◆ ${record.id} ${record.status} · ${record.title} · ${record.elapsed}s`;
}

/** The last lines of a command's output; all of an agent's answer. */
function noticeOutput({ record, output }: Pick<EndedJob, "record" | "output">): string {
  const text = output.trimEnd();
  if (text === "") return "(empty)";
  if (record.kind === "agent") return text;
  const lines = text.split("\n").slice(-MAX_LINES);
  const bytes = new TextEncoder().encode(lines.join("\n"));
  if (bytes.length <= MAX_BYTES) return lines.join("\n");
  // A cut may fall into a character; what is left of it is dropped.
  return new TextDecoder().decode(bytes.subarray(bytes.length - MAX_BYTES)).replace(/^\uFFFD+/, "");
}
