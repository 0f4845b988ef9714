/** What goes wrong between a client and the program. */

import type { ProgramExit } from "./client_process.ts";

/**
 * The program refused a command. `message` is the program's own text.
 *
 * @example
 * ```ts
 * import { CommandRefusedError } from "@weir/weir";
 *
 * const error = new CommandRefusedError("set_model", "model ID is required");
 * if (error.command !== "set_model") throw error;
 * ```
 */
export class CommandRefusedError extends Error {
  /** Tells this class apart. */
  override readonly name = "CommandRefusedError";
  /** The `type` of the command. */
  readonly command: string;

  /** `message` is what the response says. */
  constructor(command: string, message: string) {
    super(message);
    this.command = command;
  }
}

/**
 * The connection ended before a command was answered. `message` says how, with the last lines that the program wrote to its stderr.
 *
 * @example
 * ```ts
 * import { ConnectionEndedError } from "@weir/weir";
 *
 * const exit = { code: 2, signal: undefined };
 * const error = new ConnectionEndedError("Cannot prompt: Weir ended with exit code 2", { exit });
 * if (error.exit?.code !== 2) throw error;
 * ```
 */
export class ConnectionEndedError extends Error {
  /** Tells this class apart. */
  override readonly name = "ConnectionEndedError";
  /** How the program ended; `undefined` when it is not known. */
  readonly exit: ProgramExit | undefined;

  /** `message` is for people. */
  constructor(message: string, options: ErrorOptions & { exit?: ProgramExit | undefined } = {}) {
    super(message, options);
    this.exit = options.exit;
  }
}
