/**
 * A session that begins as a copy of another, or empty. Knows no command line.
 */

import type { Host } from "../host.ts";
import type { SessionHeader, StoredEntry } from "./entry.ts";
import { sessionFolder, type SessionStore } from "./find_session.ts";
import { Journal } from "./journal.ts";
import { currentHeader, describeDamage, newHeader, type OpenSession } from "./open_session_file.ts";
import { readSessionFile } from "./read_session_file.ts";

/**
 * A journal for a session that has no file yet, in the folder of its workspace. `entries` are written with the header when the
 * journal is prepared. Touches no file; the caller disposes the result.
 */
export function createJournal(
  host: Host,
  store: SessionStore,
  options: {
    header: SessionHeader;
    entries?: readonly StoredEntry[];
    lock?: AsyncDisposable;
  },
): Journal {
  const { header, entries, lock } = options;
  const path = newSessionPath(host, store, { header });
  return new Journal({ header, entries, file: { host, path, lock } });
}

/**
 * Copies a session into a new file of the workspace: all entries with their ids, `parentSession` the path of the original. The
 * original is only read, so another process may have it open. Throws `StartError` when it is no session, `HostError` when a file
 * cannot be read or written.
 */
export async function copySession(
  host: Host,
  store: SessionStore,
  options: { from: string; id?: string; signal: AbortSignal },
): Promise<OpenSession> {
  const { from, id, signal } = options;
  const content = await readSessionFile(host, from, { signal });
  currentHeader(from, content);
  const { entries, allEntries } = content;
  const header = newHeader(store.workspace, {
    ...(id !== undefined && { id }),
    parentSession: from,
  });
  await using held = new AsyncDisposableStack();
  const journal = held.use(createJournal(host, store, { header, entries: allEntries }));
  await journal.prepare();
  const warnings = describeDamage(from, content);
  for (const warning of warnings) host.warn(warning);
  held.move();
  return { header, entries, allEntries, warnings, journal };
}

/** Where a session of the workspace is stored; the file's name is when it began, then its id. */
export function newSessionPath(
  host: Host,
  store: SessionStore,
  options: { header: SessionHeader },
): string {
  const { timestamp, id } = options.header;
  const name = `${timestamp.replace(/[:.]/g, "-")}_${id}.jsonl`;
  return host.paths.join(sessionFolder(host, store), name);
}
