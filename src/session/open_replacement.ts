/**
 * Another session in the place of the one that runs: everything that can go wrong is looked at before anything is stopped. Knows no wire and no
 * running turn.
 */

import { errorText, HostError, RequestError, StartError } from "../errors.ts";
import { createJournal } from "./copy_session.ts";
import type { SessionReplacement } from "./command.ts";
import type { SessionHeader, StoredEntry } from "./entry.ts";
import { forkText, pathTo } from "./entry_tree.ts";
import { Journal } from "./journal.ts";
import { newHeader, openSessionFile } from "./open_session_file.ts";
import { readHeader } from "./read_header.ts";
import type { Session } from "./session.ts";
import type { OpenedSession, Settings } from "./settings.ts";

/** A session that can be opened. */
export interface Replacement {
  /** Opens it; called when nothing runs any more. Throws `RequestError`. */
  open(): Promise<{
    readonly opened: OpenedSession;
    /** Of the message that a fork ends before. */
    readonly text: string | undefined;
    readonly workspace: string;
  }>;
}

interface Context {
  readonly session: Session;
  readonly settings: Settings;
}

/** Headers of sessions whose files do not exist yet, by path: a client may come back to one that it was told of. */
const announced = new WeakMap<Settings, Map<string, SessionHeader>>();

/** Checks what is wanted and prepares it. Throws `RequestError`; then nothing has changed. */
export async function openReplacement(
  by: SessionReplacement,
  context: Context,
): Promise<Replacement> {
  remember(context);
  switch (by.kind) {
    case "new":
      return openNew(context, { entries: [], parentSession: by.parentSession, text: undefined });
    case "file":
      return await openFile(by.path, context);
    case "fork": {
      const { entries } = context.session.transcript;
      const entry = entries.find(({ id }) => id === by.entryId);
      const text = entry && forkText(entry);
      if (entry === undefined || text === undefined) {
        throw new RequestError("invalid", "Invalid entry ID for forking");
      }
      return openNew(context, {
        entries: pathTo(entries, entry.parentId),
        parentSession: context.session.transcript.path,
        text,
      });
    }
    case "clone": {
      const { transcript } = context.session;
      if (transcript.messages.length === 0) {
        throw new RequestError(
          "unavailable",
          "This session has not been saved yet. Send a message before cloning or forking it.",
        );
      }
      return {
        open: () =>
          // What ran until now belongs to it.
          openNew(context, {
            entries: pathTo(transcript.entries, transcript.leafId),
            parentSession: transcript.path,
            text: undefined,
          }).open(),
      };
    }
  }
}

function remember({ session: { transcript }, settings }: Context): void {
  const known = announced.get(settings) ?? new Map<string, SessionHeader>();
  announced.set(settings, known);
  if (transcript.path !== undefined) known.set(transcript.path, transcript.header);
}

function openNew(
  { settings }: Context,
  { entries, parentSession, text }: {
    entries: readonly StoredEntry[];
    parentSession: string | undefined;
    text: string | undefined;
  },
): Replacement {
  return {
    open: async () => {
      const { host, workspace, isTemporary } = settings;
      const header = newHeader(workspace, parentSession === undefined ? {} : { parentSession });
      const store = { ...settings.store, workspace };
      const journal = isTemporary
        ? new Journal({ header, entries })
        : createJournal(host, store, { header, entries });
      // A copy has something to lose, so it is in its file from the start.
      if (entries.some(({ type }) => !BEGINNING.has(type))) await prepareCopy(journal);
      return { opened: { journal, entries, allEntries: entries }, text, workspace };
    },
  };
}

/** What every session begins with. */
const BEGINNING: ReadonlySet<string> = new Set(["model_change", "thinking_level_change"]);

async function prepareCopy(journal: Journal): Promise<void> {
  try {
    await journal.prepare();
  } catch (error) {
    await journal[Symbol.asyncDispose]();
    throw new RequestError("failed", errorText(error), { cause: error });
  }
}

async function openFile(given: string, context: Context): Promise<Replacement> {
  const { settings, session } = context;
  const path = settings.host.paths.resolve(settings.workspace, given);
  const isOpen = await isSameFile(path, context);
  const { isStored, workspace } = await look(path, { given, settings });
  if (isStored && !isOpen) {
    // Opened now, so that what is wrong with it shows while the old one still runs.
    const opened = await openStored(path, { given, settings, workspace });
    return { open: () => Promise.resolve({ opened, text: undefined, workspace }) };
  }
  return {
    open: async () => {
      if (isOpen) await session[Symbol.asyncDispose]();
      // What has run until now may have stored something there.
      const { header, isStored, workspace } = await look(path, { given, settings });
      if (!isStored) return openUnsaved(header, path, settings);
      const opened = await openStored(path, { given, settings, workspace });
      return { opened, text: undefined, workspace };
    },
  };
}

/** What is at a path: a session, or the place of one that a client was told of. Throws `RequestError` when there is neither. */
async function look(
  path: string,
  { given, settings }: { given: string; settings: Settings },
): Promise<{ header: SessionHeader; isStored: boolean; workspace: string }> {
  const { host } = settings;
  if (await host.files.stat(path).catch(() => undefined) === undefined) {
    const header = announced.get(settings)?.get(path);
    if (header === undefined) throw new RequestError("invalid", `Session not found: ${given}`);
    return { header, isStored: false, workspace: settings.workspace };
  }
  const header = await readHeader(host, path, { signal: neverAborted() }).catch(() => undefined);
  if (header === undefined) throw notASession(given);
  return { header, isStored: true, workspace: await findWorkspace(header, settings) };
}

function openUnsaved(header: SessionHeader, path: string, { host, workspace }: Settings) {
  const journal = new Journal({ header, file: { host, path } });
  return { opened: { journal, entries: [], allEntries: [] }, text: undefined, workspace };
}

async function isSameFile(path: string, { session, settings }: Context): Promise<boolean> {
  const own = session.transcript.path;
  if (own === undefined) return false;
  const { files } = settings.host;
  const real = (file: string) => files.realPath(file).catch(() => file);
  return await real(path) === await real(own);
}

async function findWorkspace(header: SessionHeader, settings: Settings): Promise<string> {
  const { host } = settings;
  const { cwd } = header;
  if (cwd === "") return settings.workspace;
  const info = await host.files.stat(cwd).catch(() => undefined);
  if (info?.kind !== "folder") {
    throw new RequestError("invalid", `Working directory of the session does not exist: ${cwd}`);
  }
  return await host.files.realPath(cwd);
}

async function openStored(
  path: string,
  { given, settings, workspace }: { given: string; settings: Settings; workspace: string },
): Promise<OpenedSession> {
  try {
    return await openSessionFile(settings.host, path, { signal: neverAborted(), workspace });
  } catch (error) {
    if (error instanceof StartError) {
      const { facts } = error;
      if (facts?.about !== "session_in_use") throw notASession(given, error);
      const text = `Session ${facts.id} is in use by process ${facts.pid ?? "unknown"}.`;
      throw new RequestError("unavailable", text, { cause: error });
    }
    if (error instanceof HostError) {
      throw new RequestError("failed", errorText(error), { cause: error });
    }
    throw error;
  }
}

function notASession(path: string, cause?: unknown): RequestError {
  return new RequestError("invalid", `Session file is not a valid pi session: ${path}`, { cause });
}

function neverAborted(): AbortSignal {
  return new AbortController().signal;
}
