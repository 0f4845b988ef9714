/** What is known of a background job; the shape that clients and models are told. */

/** How a job is. */
export type JobStatus = "running" | "done" | "failed" | "stopped";

/** A background job. */
export interface JobRecord {
  /** `j1`, `j2`, … per process. */
  readonly id: string;
  /** `adopted`: what a command left running. */
  readonly kind: "shell" | "adopted" | "agent";
  /** White space collapsed, at most 160 characters. */
  readonly title: string;
  /** Whether it runs, and else how it ended. */
  readonly status: JobStatus;
  /** `""` while running. */
  readonly reason: string;
  /** `null` while it runs, and for agents. */
  readonly exitCode: number | null;
  /** Who wanted it. */
  readonly startedBy: "model" | "user";
  /** Seconds, one decimal. */
  readonly elapsed: number;
  /** Absolute path of the log. */
  readonly output: string;
  /** The session it belongs to. */
  readonly sessionId: string;
}
