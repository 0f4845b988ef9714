/** What is known of a background job; the shape that clients and models are told. */

export type JobStatus = "running" | "done" | "failed" | "stopped";

export interface JobRecord {
  /** `j1`, `j2`, … per process. */
  readonly id: string;
  readonly kind: "shell" | "adopted" | "agent";
  /** White space collapsed, at most 160 characters. */
  readonly title: string;
  readonly status: JobStatus;
  /** `""` while running. */
  readonly reason: string;
  readonly exitCode: number | null;
  readonly startedBy: "model" | "user";
  /** Seconds, one decimal. */
  readonly elapsed: number;
  /** Absolute path of the log. */
  readonly output: string;
  /** The session it belongs to. */
  readonly sessionId: string;
}
