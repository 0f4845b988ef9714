/**
 * The order in which commands are taken up where some answer late: those are not waited for, and what stands behind one that leads to
 * another session waits for it. Knows no command's meaning.
 */

import type { Request } from "./command.ts";
import type { SessionPolicy } from "./policy.ts";
import { RequestError } from "../errors.ts";

export interface LateCommandOptions {
  readonly rules: NonNullable<SessionPolicy["lateCommands"]>;
  /** Carries out a command and answers it. Never rejects. */
  handle(request: Request): Promise<void> | undefined;
}

/** Commands that may wait behind another one before no more are read. */
const MAX_WAITING = 10_000;

export class LateCommands {
  readonly #options: LateCommandOptions;
  /** Those that are under way. */
  readonly #running = new Set<Promise<void>>();
  /** The command that leads to another session, while it is under way. */
  #replacing: Promise<void> | undefined;
  #waiting: Request[] = [];
  #draining: Promise<void> | undefined;

  constructor(options: LateCommandOptions) {
    this.#options = options;
  }

  /** Takes up a command. A returned promise asks not to take the next one before it resolves. */
  take(request: Request): Promise<void> | undefined {
    const { passing } = this.#options.rules;
    if (this.#draining === undefined) return this.#start(request);
    const { command } = request;
    if (!(command instanceof RequestError) && passing.has(command.type)) {
      return this.#start(request);
    }
    this.#waiting.push(request);
    return this.#waiting.length > MAX_WAITING ? this.#draining : undefined;
  }

  /** Resolves when every command that was taken up is answered. */
  async idle(): Promise<void> {
    while (this.#running.size > 0 || this.#draining !== undefined) {
      await this.#draining;
      await Promise.all(this.#running);
    }
  }

  #start(request: Request): Promise<void> | undefined {
    const { rules, handle } = this.#options;
    const { command } = request;
    const wait = handle(request);
    if (command instanceof RequestError || wait === undefined || !rules.late.has(command.type)) {
      return wait;
    }
    const running = wait.finally(() => this.#running.delete(running));
    this.#running.add(running);
    if (!rules.replacing.has(command.type)) return undefined;
    this.#replacing = running;
    this.#draining ??= this.#drain();
    return undefined;
  }

  /** Takes up what waits, once the session is there that it is meant for. */
  async #drain(): Promise<void> {
    while (this.#replacing !== undefined) {
      const replacing = this.#replacing;
      await replacing;
      if (this.#replacing === replacing) this.#replacing = undefined;
      while (this.#replacing === undefined && this.#waiting.length > 0) {
        await this.#start(this.#waiting.shift()!);
      }
    }
    this.#draining = undefined;
  }
}
