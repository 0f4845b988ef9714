/**
 * What a person is told when a session cannot be stored. Knows no entry.
 */

import { HostError, type HostErrorCode } from "../errors.ts";

const ADVICE: { [code in HostErrorCode]?: string } = {
  no_space: "the disk is full, free some space and try again",
  read_only: "the file system is read-only, make it writable or choose another folder",
  permission: "permission is denied, change the permissions or choose another folder",
  not_found: "the file or its folder is gone, start a new session",
};

/** The error with a text that says what to do; its code stays. What is no `HostError` is returned as it is. */
export function saveError(error: unknown, path: string): unknown {
  if (!(error instanceof HostError)) return error;
  const state = ADVICE[error.code] ?? `${error.message}, solve that and try again`;
  return new HostError(error.code, `Cannot save the session "${path}": ${state}`, {
    path,
    cause: error,
  });
}
