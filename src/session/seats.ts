/**
 * Seats: what a connection with several conversations asks of whoever opens them. Interfaces and errors only, so that a dialect can answer
 * its first request before anything of a session is loaded. Knows no wire.
 */

import type { ClientHelp } from "./client_help.ts";
import type { SessionEvent } from "./event.ts";
import type { EndedJob } from "./jobs.ts";
import type { Seat } from "./seat.ts";

/** Why a seat cannot be taken. */
export type SeatErrorCode =
  | "folder"
  | "other_folder"
  | "unknown_session"
  | "locked"
  /** No usable model, or no key for it; `message` says what to set. */
  | "model"
  | "failed";

/** A conversation cannot be opened as asked. Crosses the wire in the dialect's form. */
export class SeatError extends Error {
  override readonly name = "SeatError";
  readonly code: SeatErrorCode;
  /** With `locked`: the process that has the conversation. */
  readonly pid: number | undefined;

  constructor(code: SeatErrorCode, message: string, options?: ErrorOptions & { pid?: number }) {
    super(message, options);
    this.code = code;
    this.pid = options?.pid;
  }
}

/** An MCP server that a client wants for one conversation. */
export type SeatServer =
  | {
    readonly command: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** Which conversation is wanted, where, and who listens. */
export interface SeatWish {
  /** `undefined`: a new one. */
  readonly sessionId: string | undefined;
  /** Absolute path. */
  readonly folder: string;
  /** By name; they come before those of the configuration. */
  readonly servers: Readonly<Record<string, SeatServer>>;
  readonly client: ClientHelp;
  readonly signal: AbortSignal;
  /** Takes the events in order; a returned promise asks producers to wait. */
  onEvent(event: SessionEvent): Promise<void> | undefined;
  onJobEnd(job: EndedJob): void;
  /** Takes a line that a person should see; it is on stderr already. */
  onWarning(text: string): void;
}

/** A stored conversation, as lists show it. */
export interface SeatListing {
  readonly sessionId: string;
  readonly folder: string;
  readonly modifiedMs: number;
  /** `""` when there is none. */
  readonly title: string;
}

export interface SeatKeeper {
  /** Whether conversations are stored. */
  readonly isStored: boolean;
  /** Opens a conversation; the caller closes the seat. Throws `SeatError` or `signal.reason`; nothing is open then. */
  open(wish: SeatWish): Promise<Seat>;
  /** Stored conversations, those written last first; of a folder or of all. */
  list(
    options: { folder: string | undefined; skip: number; limit: number; signal: AbortSignal },
  ): Promise<readonly SeatListing[]>;
  /** Resolves when there is a usable model; throws `SeatError` (`model`) when there is none. Reads the configuration anew. */
  checkModel(signal: AbortSignal): Promise<void>;
  /** Whether two paths are the same folder, symlinks resolved. */
  isSameFolder(one: string, other: string): Promise<boolean>;
}
