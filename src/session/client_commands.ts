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
}

/** The commands of one connection. */
export class ClientCommands {
  readonly #running = new Set<{ stop(): Promise<void>; done: Promise<unknown> }>();

  /** How many run. */
  get count(): number {
    return this.#running.size;
  }

  /** Runs a command to its end, without a time limit. Throws `RequestError` when it cannot be started. */
  async run(options: ClientCommandOptions): Promise<CommandRun> {
    const running = this.#run(options);
    return await running;
  }

  /** Stops all that run; each still gives its result. Resolves when nothing of them runs. */
  async stopAll(): Promise<void> {
    await Promise.all([...this.#running].map((running) => running.stop()));
  }

  /** Resolves when none runs. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running].map(({ done }) => done));
  }

  async #run({ settings, command, onOutput }: ClientCommandOptions): Promise<CommandRun> {
    const { host, workspace, allowedVariables, secretVariables } = settings;
    let run: ShellRun;
    try {
      run = new ShellRun({
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
    await using owner = new AsyncDisposableStack();
    owner.use(run);
    let isStopped = false;
    const end = run.wait({ signal: new AbortController().signal, timeoutMs: undefined });
    const running = {
      stop: () => {
        isStopped = true;
        return run.stop({ graceMs: GRACE_MS });
      },
      done: end,
    };
    this.#running.add(running);
    try {
      const { code } = await end as { code?: number };
      // What the command left running ends with it.
      await run.stop({ graceMs: GRACE_MS });
      return { output: run.snapshot(), exitCode: isStopped ? undefined : code };
    } finally {
      this.#running.delete(running);
    }
  }
}
