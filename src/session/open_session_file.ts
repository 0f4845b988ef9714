/**
 * Opens a stored session to go on with it: lock, read, repair. Knows no folder of sessions and no command line.
 */

import { errorText, HostError, StartError } from "../errors.ts";
import type { Host } from "../host.ts";
import { SESSION_VERSION, type SessionHeader, type StoredEntry } from "./entry.ts";
import { Journal, type JournalFile } from "./journal.ts";
import { lockSession } from "./lock_session.ts";
import { readHeader } from "./read_header.ts";
import { readSessionFile, type SessionFileContent } from "./read_session_file.ts";
import { createSessionId } from "./session_id.ts";

/** A session that is open for appending. */
export interface OpenSession {
  readonly header: SessionHeader;
  /** From the root to the last entry: what the conversation is now. */
  readonly entries: readonly StoredEntry[];
  /** In file order, with the branches that were left. */
  readonly allEntries: readonly StoredEntry[];
  /** What a person should know; `host.warn` has had each already. */
  readonly warnings: readonly string[];
  /** The caller disposes it. */
  readonly journal: Journal;
}

export interface OpenFileOptions {
  readonly signal: AbortSignal;
  /** Workspace of the session that starts in a file without content. */
  readonly workspace: string;
}

/**
 * Opens the session in a file. Takes the lock first; writes nothing but the cut of a torn last line. Lines that cannot be read are
 * left out with one warning. A file without content becomes a new session. Throws `StartError` when another process has the
 * session or the file is no session, `HostError` when it cannot be read, `signal.reason` when aborted.
 */
export async function openSessionFile(
  host: Host,
  path: string,
  options: OpenFileOptions,
): Promise<OpenSession> {
  await using held = new AsyncDisposableStack();
  if (await host.files.stat(path) === undefined) {
    throw openError(path, "it does not exist, check the path");
  }
  const known = await readHeader(host, path, { signal: options.signal });
  const id = known?.id ?? host.paths.basename(path);
  // The same file must have the same lock, whatever way leads to it.
  const realPath = await host.files.realPath(path);
  const lock = held.use(await lockSession(host, { id, path: realPath }));
  const content = await readSessionFile(host, path, { signal: options.signal });
  const header = content.isBlank ? newHeader(options.workspace) : currentHeader(path, content);
  const { existing, entries, allEntries } = content;
  const file = { host, path, lock, ...planFile(content) };
  const journal = held.use(new Journal({ header, entries: allEntries, file }));
  const warnings = describeDamage(path, content);
  if (!content.isBlank && existing.keep < existing.size) {
    warnings.push(await cutTornLine(journal, content));
  }
  for (const warning of warnings) host.warn(warning);
  held.move();
  return { header, entries, allEntries, warnings, journal };
}

/** The header as version 3 has it. Throws `StartError` when there is none, or one of a later version. */
export function currentHeader(path: string, content: SessionFileContent): SessionHeader {
  const { header } = content;
  if (header === undefined) throw noHeaderError(path);
  if (header.version > SESSION_VERSION) {
    const state = `its format version ${header.version} is newer than ${SESSION_VERSION}`;
    throw openError(path, `${state}, update Weir to open it`);
  }
  return { ...header, version: SESSION_VERSION };
}

/**
 * A file of version 3 is written on as it is. One of an older version is written anew as version 3 before the first append, unless
 * it has lines that could not be read and would be lost.
 */
function planFile(content: SessionFileContent): Partial<JournalFile> {
  const { existing, header, isBlank, badLines } = content;
  const isOld = header !== undefined && header.version < SESSION_VERSION;
  if (isBlank || (isOld && badLines.length === 0)) return { replacesSize: existing.size };
  return { existing };
}

/** A header for a session that begins now. */
export function newHeader(
  workspace: string,
  options: { id?: string; parentSession?: string } = {},
): SessionHeader {
  const { id = createSessionId(), parentSession } = options;
  const timestamp = new Date().toISOString();
  return {
    type: "session",
    version: SESSION_VERSION,
    id,
    timestamp,
    cwd: workspace,
    ...(parentSession !== undefined && { parentSession }),
  };
}

/** What is said about lines that were left out; `[]` when the file is whole. */
export function describeDamage(path: string, content: SessionFileContent): string[] {
  const { badLines, isBlank } = content;
  if (isBlank) return [`Session file "${path}" is empty, a new session starts in it`];
  if (badLines.length === 0) return [];
  const shown = badLines.slice(0, 10).join(", ");
  const more = badLines.length > 10 ? ` and ${badLines.length - 10} more` : "";
  const which = badLines.length === 1 ? `line ${shown}` : `lines ${shown}${more}`;
  return [`Session file "${path}": ${which} cannot be read, everything else was kept`];
}

async function cutTornLine(journal: Journal, content: SessionFileContent): Promise<string> {
  const { size, keep } = content.existing;
  const what = `Session file "${journal.path}": the last line was incomplete`;
  try {
    await journal.prepare();
    return `${what}, its ${size - keep} bytes were cut off`;
  } catch (error) {
    // The session can still be read; appending tries again and says why it fails.
    if (error instanceof HostError) return `${what} and could not be cut off: ${errorText(error)}`;
    throw error;
  }
}

function noHeaderError(path: string): StartError {
  const advice = "choose another file, or put the header back as its first line";
  return openError(path, `its first line is not the header of a session, ${advice}`);
}

function openError(path: string, state: string): StartError {
  const text = `Cannot open the session file "${path}": ${state}`;
  return new StartError("session", text, { exitCode: 1 });
}
