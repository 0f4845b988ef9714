/**
 * One process per session: the lock that keeps a second one out. Knows no entry.
 *
 * The lock belongs to the id, not to the file, because of an id that was chosen there may be no file yet.
 */

import { HostError, StartError } from "../errors.ts";
import type { Host } from "../host.ts";
import { isSessionId } from "./session_id.ts";
import { saveError } from "./save_error.ts";

/** What is locked. */
export interface LockTarget {
  readonly id: string;
  /** The session's file, which need not exist; the lock lies beside it. */
  readonly path: string;
}

/**
 * Takes the lock of a session; the caller disposes it. Makes the folder. Throws `StartError` with
 * `session <id> is open in process <pid>` and the `HostError` as its cause when another process, or this one, has it.
 */
export async function lockSession(host: Host, target: LockTarget): Promise<AsyncDisposable> {
  const { id, path } = target;
  const folder = host.paths.dirname(path);
  // An id that somebody else gave may be no file name.
  const name = isSessionId(id) ? id : host.paths.basename(path);
  try {
    await host.files.makeFolder(folder, { mode: 0o700 });
    return await host.files.lock(host.paths.join(folder, `${name}.lock`));
  } catch (error) {
    if (error instanceof HostError && error.code === "locked") {
      throw new StartError("session", `session ${id} is open in process ${error.pid}`, {
        exitCode: 1,
        cause: error,
        facts: { about: "session_in_use", id, pid: error.pid },
      });
    }
    throw saveError(error, path);
  }
}
