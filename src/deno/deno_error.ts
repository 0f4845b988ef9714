/**
 * Turns what Deno throws into `HostError`: the one place that knows Deno's error classes. Knows no operation.
 */

import { HostError, type HostErrorCode } from "../errors.ts";

const CODES: Readonly<Record<string, HostErrorCode>> = {
  ENOENT: "not_found",
  EEXIST: "exists",
  EACCES: "permission",
  EPERM: "permission",
  EISDIR: "is_folder",
  ENOTDIR: "not_folder",
  ENOSPC: "no_space",
  EDQUOT: "no_space",
  EROFS: "read_only",
};

const CLASSES: Readonly<Record<string, HostErrorCode>> = {
  NotFound: "not_found",
  AlreadyExists: "exists",
  PermissionDenied: "permission",
  NotCapable: "permission",
  IsADirectory: "is_folder",
  NotADirectory: "not_folder",
};

/** A `HostError` with the system's text and the path. What already is one, or is the reason of `signal`, stays as it is. */
export function toHostError(
  error: unknown,
  path: string,
  options?: { signal: AbortSignal },
): unknown {
  if (error instanceof HostError) return error;
  if (options?.signal.aborted) return options.signal.reason;
  if (!(error instanceof Error)) return new HostError("other", `${error}: ${path}`, { path });
  const systemCode = systemCodeOf(error);
  const code = CODES[systemCode ?? ""] ?? CLASSES[error.name] ?? "other";
  const text = error.message.replace(/ \(os error \d+\)[\s\S]*$/, "");
  return new HostError(code, text.includes(path) ? text : `${text}: ${path}`, {
    path,
    cause: error,
  });
}

/** Whether nothing is at the path: no such name, a parent that is no folder, or a symlink that leads round in a circle. */
export function isNothingThere(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = systemCodeOf(error);
  return error instanceof Deno.errors.NotFound || code === "ENOTDIR" || code === "ELOOP";
}

function systemCodeOf(error: Error): string | undefined {
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}
