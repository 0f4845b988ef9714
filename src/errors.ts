/**
 * The error families of the project. Imports nothing, so every folder may import it.
 *
 * `RequestError` and `StartError` are the caller's fault and carry a text that is meant for them. Everything else is ours: the full
 * text goes to stderr, a short one on the wire.
 */

/** Why a command was refused; a dialect turns the code into its own text, or uses the message as it is. */
export type RequestErrorCode =
  | "busy"
  | "idle"
  | "behavior_required"
  | "behavior_unknown"
  | "shutting_down"
  | "compacting"
  | "nothing_to_export"
  | "no_model"
  | "invalid"
  | "unavailable"
  | "failed";

/**
 * A command that cannot be carried out. Crosses the wire as a failure response.
 *
 * @example
 * ```ts
 * import { createDemoModel, createSession, RequestError } from "@weir/weir";
 *
 * await using session = await createSession({ model: createDemoModel() });
 * const error = await session.steer("Only notes.md").catch((reason) => reason);
 * if (!(error instanceof RequestError) || error.code !== "idle") throw error;
 * ```
 */
export class RequestError extends Error {
  /** Tells this class apart. */
  override readonly name = "RequestError";
  /** Why it was refused. */
  readonly code: RequestErrorCode;

  /** `message` is for the client. */
  constructor(code: RequestErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * The program cannot start. `main` prints the message as one line on stderr and exits with `exitCode`.
 *
 * @example
 * ```ts
 * import { createDemoModel, createMemoryHost, createSession, StartError } from "@weir/weir";
 *
 * const options = { model: createDemoModel(), host: createMemoryHost(), workspace: "/nowhere" };
 * const error = await createSession(options).catch((reason) => reason);
 * if (!(error instanceof StartError) || error.kind !== "folder") throw error;
 * ```
 */
export class StartError extends Error {
  /** Tells this class apart. */
  override readonly name = "StartError";
  /** 1: the work failed; 2: usage, set-up or trust. */
  readonly exitCode: 1 | 2;
  /** What kind of problem it is, for dialects that treat some of them differently. */
  readonly kind: StartErrorKind;
  /** The facts behind the message, for dialects with a text of their own. */
  readonly facts: StartErrorFacts | undefined;

  /** `message` is for the user; the exit code is 2 unless `options` say otherwise. */
  constructor(
    kind: StartErrorKind,
    message: string,
    options?: ErrorOptions & { exitCode?: 1 | 2; facts?: StartErrorFacts },
  ) {
    super(message, options);
    this.kind = kind;
    this.exitCode = options?.exitCode ?? 2;
    this.facts = options?.facts;
  }
}

/** The facts behind a `StartError`. */
export type StartErrorFacts =
  | { readonly about: "unknown_session"; readonly id: string }
  | { readonly about: "session_in_use"; readonly id: string; readonly pid: number | undefined }
  | { readonly about: "session_id" }
  | { readonly about: "key"; readonly provider: string; readonly variable: string };

/** What kept a session or the program from starting. */
export type StartErrorKind =
  | "usage"
  | "configuration"
  | "not_set_up"
  | "folder"
  | "trust"
  | "key"
  | "session";

/** What went wrong with a file, in terms that do not depend on the operating system. */
export type HostErrorCode =
  | "not_found"
  | "exists"
  | "permission"
  | "is_folder"
  | "not_folder"
  | "no_space"
  | "read_only"
  | "locked"
  | "other";

/**
 * A file or process operation of the host failed. `message` is the system's own text with the path.
 *
 * @example
 * ```ts
 * import { createMemoryHost, HostError } from "@weir/weir";
 *
 * const error = await createMemoryHost().files.realPath("/nowhere").catch((reason) => reason);
 * if (!(error instanceof HostError) || error.code !== "not_found") throw error;
 * ```
 */
export class HostError extends Error {
  /** Tells this class apart. */
  override readonly name = "HostError";
  /** What went wrong. */
  readonly code: HostErrorCode;
  /** Where it went wrong. */
  readonly path: string;
  /** With `locked`: the process that holds the lock. */
  readonly pid: number | undefined;

  /** `message` is the system's own text. */
  constructor(
    code: HostErrorCode,
    message: string,
    options: ErrorOptions & { path: string; pid?: number },
  ) {
    super(message, options);
    this.code = code;
    this.path = options.path;
    this.pid = options.pid;
  }
}

/** What kind of failure a model request had; decides whether it is worth another try. */
export type ModelErrorKind =
  | "rate_limit"
  | "server"
  | "network"
  | "stalled"
  | "stream_cut"
  | "stream_error"
  | "overflow"
  | "auth"
  | "request"
  | "set_up";

/**
 * A model request failed. `message` is one line without secrets: the HTTP status if there was one, and the endpoint's own text.
 *
 * @example
 * ```ts
 * import { ModelError } from "@weir/weir";
 *
 * const error = new ModelError("rate_limit", "429 too many requests", { status: 429 });
 * if (error.kind !== "rate_limit") throw error;
 * ```
 */
export class ModelError extends Error {
  /** Tells this class apart. */
  override readonly name = "ModelError";
  /** What kind of failure it was. */
  readonly kind: ModelErrorKind;
  /** HTTP status; `undefined` when there was no answer. */
  readonly status: number | undefined;
  /** What the endpoint asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The endpoint's own error object, as JSON on one line without secrets. */
  readonly detail: string | undefined;

  /** `message` is one line without secrets. */
  constructor(
    kind: ModelErrorKind,
    message: string,
    options?: ErrorOptions & {
      status?: number | undefined;
      retryAfterMs?: number | undefined;
      detail?: string | undefined;
    },
  ) {
    super(message, options);
    this.kind = kind;
    this.status = options?.status;
    this.retryAfterMs = options?.retryAfterMs;
    this.detail = options?.detail;
  }
}

/** A turn has made as many model requests as it may; the calls of the last reply have their results. */
export class TurnLimitError extends Error {
  override readonly name = "TurnLimitError";
}

/** The text of anything that was thrown. */
export function errorText(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  return String(error);
}
