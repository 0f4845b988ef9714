/**
 * Jobs: what runs in the background of a process, for all its conversations. Owns each job until it has ended; the record of an end comes after
 * nothing of the job runs. Knows no turn; sessions take the notices (`notices.ts`).
 */

import type { CommandEnd, RunningCommand, ToolJobs } from "../agent/tool.ts";
import { errorText, RequestError } from "../errors.ts";
import type { JobRecord, JobStatus } from "./job_record.ts";

export const MAX_SHELL_JOBS = 16;
export const MAX_AGENT_JOBS = 4;
const MAX_TITLE = 160;
const STOP_GRACE_MS = 1000;
/** What ended by a signal has this code, whatever the signal. */
const SIGNAL_CODE = 130;

/** Whose job it is. A subagent's jobs belong to the conversation of its parent, but end with the subagent. */
export interface JobOwner {
  readonly sessionId: string;
  readonly subagent: string | undefined;
}

/** A job that has ended, with what a notice needs. */
export interface EndedJob {
  readonly record: JobRecord;
  readonly owner: JobOwner;
  /** The end of its output, or the whole answer of an agent. */
  readonly output: string;
}

/** A subagent that works in the background. */
export interface BackgroundAgent {
  readonly title: string;
  /** Absolute path of its log. */
  readonly logPath: string;
  /** Resolves to its answer. Rejects when it failed or was stopped. */
  readonly answer: Promise<string>;
  /** Resolves when it has stopped. */
  stop(): Promise<void>;
}

/** Why a job was stopped. */
export type StopCause = "user" | "model" | "exit" | "parent ended" | "cancelled";

export interface JobsOptions {
  onChange(change: "started" | "updated" | "ended", record: JobRecord): void;
  onEnd(job: EndedJob): void;
}

interface Job {
  readonly id: string;
  readonly kind: JobRecord["kind"];
  readonly title: string;
  readonly owner: JobOwner;
  readonly logPath: string;
  readonly startedMs: number;
  endedMs: number | undefined;
  status: JobStatus;
  reason: string;
  exitCode: number | null;
  stopCause: StopCause | "timeout" | undefined;
  /** Ends what runs; resolves when nothing of it does. Dropped at the end, with all that it holds. */
  halt: (() => Promise<void>) | undefined;
  readonly ended: Promise<void>;
}

/** A command that a call waits for. */
interface ForegroundCommand {
  readonly moveToBackground: () => void;
  /** Told once whether it became a job. */
  moved: (isJob: boolean) => void;
  /** What its call waits for, once it is a job. */
  released: Promise<void> | undefined;
}

/** How a job came to its end, before a stop is taken into account. */
interface JobEnd {
  readonly status: "done" | "failed";
  readonly reason: string;
  readonly exitCode: number | null;
  readonly output: string;
}

export class Jobs {
  readonly #options: JobsOptions;
  readonly #jobs: Job[] = [];
  readonly #foreground = new Map<RunningCommand, ForegroundCommand>();
  readonly #endListeners = new Set<(job: EndedJob) => void>();
  /** Jobs that count already, although they are not told yet. */
  readonly #coming = { shell: 0, agent: 0 };
  /** Resolves when everything that a coming job needs is there. */
  #prepared: Promise<unknown> = Promise.resolve();

  constructor(options: JobsOptions) {
    this.#options = options;
  }

  /** Every job of the process: running ones first, then by start. */
  list(): JobRecord[] {
    const isEnded = (job: Job) => job.status === "running" ? 0 : 1;
    return this.#jobs.toSorted((a, b) => isEnded(a) - isEnded(b)).map(describeJob);
  }

  /** The running jobs of a conversation that were not started by one of its subagents. */
  runningOf(sessionId: string): readonly JobRecord[] {
    return this.#running()
      .filter(({ owner }) => owner.sessionId === sessionId && owner.subagent === undefined)
      .map(describeJob);
  }

  /** The running jobs that a subagent started. */
  runningOfSubagent(subagent: string): readonly JobRecord[] {
    return this.#running().filter(({ owner }) => owner.subagent === subagent).map(describeJob);
  }

  /** Ends a job and everything it started. Throws `RequestError` when none of this id runs. */
  async stop(id: string, cause: StopCause): Promise<JobRecord> {
    const job = this.#running().find((candidate) => candidate.id === id);
    if (job === undefined) throw new RequestError("invalid", `No running job ${id}`);
    await this.#stop(job, cause);
    return describeJob(job);
  }

  /** Ends all running jobs that the filter takes. Returns how many. */
  async stopAll(
    cause: StopCause,
    filter: (record: JobRecord, owner: JobOwner) => boolean = () => true,
  ): Promise<number> {
    const jobs = this.#running().filter((job) => filter(describeJob(job), job.owner));
    await Promise.all(jobs.map((job) => this.#stop(job, cause)));
    return jobs.length;
  }

  /**
   * Makes the foreground commands jobs, as many as there is room for. Resolves when all are told as started, with their number; their calls wait
   * for `release`.
   */
  async moveToBackground(): Promise<{ moved: number; release(): void }> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const room = Math.max(0, MAX_SHELL_JOBS - this.#countShell());
    const moving = [...this.#foreground.values()].slice(0, room).map((command) =>
      new Promise<boolean>((resolve) => {
        command.moved = resolve;
        command.released = promise;
        command.moveToBackground();
      })
    );
    const moved = (await Promise.all(moving)).filter((isMoved) => isMoved).length;
    return { moved, release: resolve };
  }

  /** Resolves when a job that the filter takes ends; throws `signal.reason`. */
  nextEnd(filter: (job: EndedJob) => boolean, signal: AbortSignal): Promise<EndedJob> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const stopListening = () => {
        this.#endListeners.delete(onEnd);
        signal.removeEventListener("abort", onAbort);
      };
      const onEnd = (job: EndedJob) => {
        if (!filter(job)) return;
        stopListening();
        resolve(job);
      };
      const onAbort = () => {
        stopListening();
        reject(signal.reason);
      };
      this.#endListeners.add(onEnd);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** The jobs as the tools of one conversation, or of one subagent, see them. */
  forOwner(owner: JobOwner): ToolJobs {
    return {
      refusal: () =>
        this.#countShell() >= MAX_SHELL_JOBS
          ? `${MAX_SHELL_JOBS} background jobs are already running`
          : undefined,
      add: (command, options) => this.#addCommand(command, { ...options, owner }),
      foreground: (command, { moveToBackground }) => {
        this.#foreground.set(command, { moveToBackground, moved: () => {}, released: undefined });
        return { [Symbol.dispose]: () => this.#leaveForeground(command)?.moved(false) };
      },
      nextEnd: async ({ signal }) => {
        await this.nextEnd((job) => job.owner.sessionId === owner.sessionId, signal);
      },
    };
  }

  /** Keeps room for one more agent until disposed; a text that says why there is none. */
  reserveAgent(): Disposable | string {
    const running = this.#running().filter((job) => job.kind === "agent").length;
    if (running + this.#coming.agent >= MAX_AGENT_JOBS) {
      return `${MAX_AGENT_JOBS} background subagents are already running`;
    }
    this.#coming.agent++;
    return { [Symbol.dispose]: () => void this.#coming.agent-- };
  }

  /** Prepares jobs one after another, so that those of one reply are numbered in the order of its calls. Throws like `prepare`. */
  async prepareInOrder<Thing>(prepare: () => Promise<Thing>): Promise<Thing> {
    const prepared = this.#prepared.then(prepare);
    this.#prepared = prepared.catch(() => {});
    return await prepared;
  }

  /** Takes over a subagent. Returns the line that tells of it, and how to say that it went on a step. */
  addAgent(agent: BackgroundAgent, owner: JobOwner): { id: string; line: string; updated(): void } {
    const job = this.#add({ kind: "agent", title: agent.title, owner, logPath: agent.logPath }, {
      halt: () => agent.stop(),
      end: agent.answer.then(
        (answer): JobEnd => ({ status: "done", reason: "exit", exitCode: null, output: answer }),
        (error): JobEnd => ({
          status: "failed",
          reason: "agent error",
          exitCode: null,
          output: errorText(error),
        }),
      ),
    });
    return {
      id: job.id,
      line: jobLine(describeJob(job)),
      updated: () => {
        if (job.status === "running") this.#options.onChange("updated", describeJob(job));
      },
    };
  }

  #running(): Job[] {
    return this.#jobs.filter((job) => job.status === "running");
  }

  /** Adopted commands count, although none of them is refused. */
  #countShell(): number {
    return this.#running().filter((job) => job.kind !== "agent").length + this.#coming.shell;
  }

  #leaveForeground(command: RunningCommand): ForegroundCommand | undefined {
    const entry = this.#foreground.get(command);
    this.#foreground.delete(command);
    return entry;
  }

  async #addCommand(
    command: RunningCommand,
    options: { kind: "shell" | "adopted"; timeoutMs: number | undefined; owner: JobOwner },
  ): Promise<string> {
    const logPath = await this.#openLog(command);
    const job = this.#add({
      kind: options.kind,
      title: command.command,
      owner: options.owner,
      logPath,
    }, {
      halt: () => command.stop({ graceMs: STOP_GRACE_MS }),
      end: endOfCommand(command).catch((error): JobEnd => ({
        status: "failed",
        reason: "output unavailable",
        exitCode: SIGNAL_CODE,
        output: errorText(error),
      })),
    });
    if (options.timeoutMs !== undefined) {
      const timer = setTimeout(() => void this.#stop(job, "timeout"), options.timeoutMs);
      void job.ended.then(() => clearTimeout(timer));
    }
    const line = jobLine(describeJob(job));
    const moving = this.#leaveForeground(command);
    moving?.moved(true);
    await moving?.released;
    return line;
  }

  async #openLog(command: RunningCommand): Promise<string> {
    this.#coming.shell++;
    try {
      return await command.openLog();
    } finally {
      this.#coming.shell--;
    }
  }

  #add(
    what: Pick<Job, "kind" | "title" | "owner" | "logPath">,
    run: { halt: () => Promise<void>; end: Promise<JobEnd> },
  ): Job {
    const job: Job = {
      ...what,
      id: `j${this.#jobs.length + 1}`,
      title: shortTitle(what.title),
      startedMs: Date.now(),
      endedMs: undefined,
      status: "running",
      reason: "",
      exitCode: null,
      stopCause: undefined,
      halt: run.halt,
      ended: run.end.then((end) => this.#finish(job, end)),
    };
    this.#jobs.push(job);
    this.#options.onChange("started", describeJob(job));
    return job;
  }

  async #stop(job: Job, cause: StopCause | "timeout"): Promise<void> {
    // Who stops first gives the reason.
    job.stopCause ??= cause;
    await job.halt?.();
    await job.ended;
  }

  #finish(job: Job, end: JobEnd): void {
    const { stopCause } = job;
    job.halt = undefined;
    job.endedMs = Date.now();
    job.exitCode = end.exitCode;
    if (stopCause === undefined) {
      job.status = end.status;
      job.reason = end.reason;
    } else {
      job.status = stopCause === "timeout" ? "failed" : "stopped";
      job.reason = stopCause;
      // An adopted job keeps the code that its shell ended with; agents have none.
      if (job.kind === "shell") job.exitCode = SIGNAL_CODE;
    }
    const record = describeJob(job);
    this.#options.onChange("ended", record);
    const ended: EndedJob = { record, owner: job.owner, output: end.output };
    this.#options.onEnd(ended);
    for (const listener of [...this.#endListeners]) listener(ended);
  }
}

/** A command has ended when nothing that it started runs any more. */
async function endOfCommand(command: RunningCommand): Promise<JobEnd> {
  const end: CommandEnd = await command.ended;
  await command.waitForTree({ signal: new AbortController().signal });
  const { text } = command.snapshot();
  await command[Symbol.asyncDispose]();
  if (end.kind !== "exited") {
    return { status: "failed", reason: end.kind, exitCode: SIGNAL_CODE, output: text };
  }
  return {
    status: end.code === 0 ? "done" : "failed",
    reason: "exit",
    exitCode: end.signal === undefined ? end.code : SIGNAL_CODE,
    output: text,
  };
}

function shortTitle(text: string): string {
  return [...text.replace(/\s+/g, " ").trim()].slice(0, MAX_TITLE).join("");
}

function describeJob(job: Job): JobRecord {
  return {
    id: job.id,
    kind: job.kind,
    title: job.title,
    status: job.status,
    reason: job.reason,
    exitCode: job.exitCode,
    startedBy: "model",
    elapsed: Math.round(((job.endedMs ?? Date.now()) - job.startedMs) / 100) / 10,
    output: job.logPath,
    sessionId: job.owner.sessionId,
  };
}

/** `j1 · shell · failed, exit 2 · 48.3s · make all · output /path`. */
export function jobLine(job: JobRecord): string {
  return [
    job.id,
    job.kind,
    jobStatusText(job),
    `${job.elapsed}s`,
    job.title,
    `output ${job.output}`,
  ].join(" · ");
}

function jobStatusText({ status, exitCode, reason }: JobRecord): string {
  const exit = exitCode === null || status === "running" ? "" : `, exit ${exitCode}`;
  return `${status}${exit}${reason === "" || reason === "exit" ? "" : ` (${reason})`}`;
}
