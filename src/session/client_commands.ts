/**
 * Shell commands that the client itself runs beside the agent. Knows how they run and stop; what becomes of their results is said by whoever
 * asks.
 */

import { childEnvironment } from "../tools/child_environment.ts";
import { ShellRun } from "../tools/shell_run.ts";
import { RequestError } from "../errors.ts";
import type { CommandRun } from "./command.ts";
import type { Settings } from "./settings.ts";

/** A command that is stopped gets SIGTERM, and after this time SIGKILL. */
const GRACE_MS = 300;

export interface ClientCommandOptions {
  readonly settings: Settings;
  readonly command: string;
  /** Gets what it writes, as it comes. A returned promise keeps the command waiting. */
  onOutput(delta: string): Promise<void> | undefined;
  /** Takes note of how it ended; `idle` waits for that too. */
  onEnd(run: CommandRun): Promise<void>;
}

/** The commands of one connection. */
export class ClientCommands {
  readonly #running = new Set<RunningCommand>();
  readonly #onStart: () => void;
  /** None begins any more. */
  #isOver = false;

  constructor({ onStart }: { onStart(): void }) {
    this.#onStart = onStart;
  }

  /** How many run. */
  get count(): number {
    return this.#running.size;
  }

  /** Runs a command to its end, without a time limit. Throws `RequestError` when it cannot be started. */
  async run(options: ClientCommandOptions): Promise<CommandRun> {
    if (this.#isOver) return NEVER_RUN;
    const run = this.#start(options);
    let isStopped = false;
    const stop = () => {
      isStopped = true;
      return run.stop({ graceMs: GRACE_MS });
    };
    const done = finish(run, { isStopped: () => isStopped, onEnd: options.onEnd });
    const running = { stop, done: done.catch(() => {}) };
    this.#running.add(running);
    this.#onStart();
    try {
      return await done;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Stops all that run; those that come count as stopped before they began. */
  close(): void {
    this.#isOver = true;
    void this.stopAll();
  }

  /** Stops all that run; each still gives its result. Resolves when nothing of them runs. */
  async stopAll(): Promise<void> {
    await Promise.all([...this.#running].map((running) => running.stop()));
  }

  /** Resolves when none runs. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running].map(({ done }) => done));
  }

  #start({ settings, command, onOutput }: ClientCommandOptions): ShellRun {
    const { host, workspace, allowedVariables, secretVariables } = settings;
    try {
      return new ShellRun({
        host,
        command,
        folder: workspace,
        environment: childEnvironment(host.processes?.environment() ?? {}, {
          allowed: allowedVariables,
          secrets: secretVariables,
        }),
        outputFolder: settings.outputFolder,
        onOutput,
      });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new RequestError("failed", `Cannot run the command: ${reason}`, { cause: error });
    }
  }
}

const NEVER_RUN: CommandRun = {
  output: { text: "", truncated: false, logPath: undefined, totalBytes: 0 },
  exitCode: undefined,
};

interface RunningCommand {
  stop(): Promise<void>;
  readonly done: Promise<unknown>;
}

/** Waits for the end; what the command left running ends with it. */
async function finish(
  run: ShellRun,
  { isStopped, onEnd }: { isStopped: () => boolean; onEnd: ClientCommandOptions["onEnd"] },
): Promise<CommandRun> {
  await using owner = new AsyncDisposableStack();
  owner.use(run);
  const end = await run.wait({ signal: new AbortController().signal, timeoutMs: undefined });
  await run.stop({ graceMs: GRACE_MS });
  const exitCode = isStopped() || !("code" in end) ? undefined : end.code;
  const ended = { output: run.snapshot(), exitCode };
  await onEnd(ended);
  return ended;
}
