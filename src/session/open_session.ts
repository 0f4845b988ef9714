/**
 * From what the command line asks for to an open conversation. Knows no flag by name, and no wire.
 */

import { StartError } from "../errors.ts";
import type { Host } from "../host.ts";
import { copySession, createJournal, newSessionPath } from "./copy_session.ts";
import type { SessionHeader } from "./entry.ts";
import {
  findNewestSession,
  findSessionById,
  findSessionBySuffix,
  isOfWorkspace,
  type SessionStore,
} from "./find_session.ts";
import { Journal } from "./journal.ts";
import { lockSession } from "./lock_session.ts";
import { newHeader, type OpenSession, openSessionFile } from "./open_session_file.ts";
import { isSessionId } from "./session_id.ts";

/** Which conversation is wanted. `match`: whether a part of an id is its end or its start. */
export type SessionChoice =
  | { readonly kind: "new" }
  /** Exactly this one of the workspace, made when there is none. */
  | { readonly kind: "id"; readonly id: string }
  /** One of any workspace; of another, a copy. */
  | { readonly kind: "find"; readonly text: string; readonly match?: "end" | "start" }
  | {
    readonly kind: "fork";
    readonly text: string;
    /** `text` is the path of a file. */
    readonly isPath?: boolean;
    readonly id?: string;
    readonly match?: "end" | "start";
  }
  /** The one of the workspace that was written last; with `orNew` a new one when there is none. */
  | { readonly kind: "continue"; readonly orNew?: boolean }
  /** The one in this file; a new one that will be stored there when there is no such file. */
  | { readonly kind: "path"; readonly path: string }
  /** Written nowhere. */
  | { readonly kind: "memory"; readonly id?: string };

export interface OpenConversationOptions extends SessionStore {
  readonly choice: SessionChoice;
  readonly signal: AbortSignal;
}

/**
 * Opens a conversation. A new one has no file before its journal is prepared; the lock of an id that was chosen is held from here on.
 * Throws `StartError` with the texts of the command line's contract, `HostError` when a file cannot be read or written, and
 * `signal.reason` when aborted. The caller disposes the result's journal.
 */
export async function openConversation(
  host: Host,
  options: OpenConversationOptions,
): Promise<OpenSession> {
  const { choice, signal, workspace } = options;
  switch (choice.kind) {
    case "new":
      return fresh(createJournal(host, options, { header: newHeader(workspace) }));
    case "memory": {
      if (choice.id !== undefined) checkId(choice.id);
      return fresh(new Journal({ header: newHeader(workspace, choice) }));
    }
    case "path":
      return await openPath(host, choice.path, options);
    case "id":
      return await openChosen(host, choice.id, options);
    case "find": {
      const { path, header } = await findSessionBySuffix(host, options, { ...choice, signal });
      if (await isOfWorkspace(host, options, { header })) {
        return await openSessionFile(host, path, options);
      }
      return await copySession(host, options, { from: path, signal });
    }
    case "fork":
      return await openFork(host, choice, options);
    case "continue": {
      const newest = await findNewestSession(host, options, { signal });
      if (newest !== undefined) return await openSessionFile(host, newest.path, options);
      if (choice.orNew) {
        return fresh(createJournal(host, options, { header: newHeader(workspace) }));
      }
      throw new StartError("session", "no saved session in this folder", { exitCode: 1 });
    }
  }
}

async function openChosen(
  host: Host,
  id: string,
  options: OpenConversationOptions,
): Promise<OpenSession> {
  checkId(id);
  const { signal, workspace } = options;
  const header = newHeader(workspace, { id });
  let found = await findSessionById(host, options, { id, signal });
  if (found === undefined) {
    await using held = new AsyncDisposableStack();
    const path = newSessionPath(host, options, { header });
    const lock = held.use(await lockSession(host, { id, path }));
    // Another process may have made and closed it between the look and the lock.
    found = await findSessionById(host, options, { id, signal, tellBlank: true });
    if (found === undefined) {
      held.move();
      return fresh(createJournal(host, options, { header, lock }));
    }
  }
  await requireWorkspace(host, options, found.header);
  return await openSessionFile(host, found.path, options);
}

async function openFork(
  host: Host,
  choice: SessionChoice & { kind: "fork" },
  options: OpenConversationOptions,
): Promise<OpenSession> {
  const { text, match, id } = choice;
  const { signal } = options;
  if (id !== undefined) {
    checkId(id);
    if (await findSessionById(host, options, { id, signal }) !== undefined) {
      throw new StartError("session", `session ${id} exists already`);
    }
  }
  if (choice.isPath) {
    const from = host.paths.resolve(options.workspace, text);
    if (await host.files.stat(from).catch(() => undefined) === undefined) {
      throw new StartError("session", `unknown session to fork: ${text}`, { exitCode: 1 });
    }
    return await copySession(host, options, { from, id, signal });
  }
  const purpose = " to fork";
  const { path } = await findSessionBySuffix(host, options, { text, match, purpose, signal });
  return await copySession(host, options, { from: path, id, signal });
}

async function openPath(
  host: Host,
  path: string,
  options: OpenConversationOptions,
): Promise<OpenSession> {
  const full = host.paths.resolve(options.workspace, path);
  if (await host.files.stat(full) !== undefined) return await openSessionFile(host, full, options);
  host.warn(`weir: no session file ${path} yet, a new session starts there`);
  const header = newHeader(options.workspace);
  return fresh(new Journal({ header, file: { host, path: full } }));
}

async function requireWorkspace(
  host: Host,
  store: SessionStore,
  header: SessionHeader,
): Promise<void> {
  if (await isOfWorkspace(host, store, { header })) return;
  const text = `session belongs to a different workspace: ${header.cwd}`;
  throw new StartError("session", text, { exitCode: 1 });
}

function checkId(id: string): void {
  if (isSessionId(id)) return;
  const rule = "letters, digits, ., _ and -, beginning and ending with a letter or digit";
  throw new StartError("usage", `--session-id takes ${rule}`, { facts: { about: "session_id" } });
}

function fresh(journal: Journal): OpenSession {
  return { header: journal.header, entries: [], allEntries: [], warnings: [], journal };
}
