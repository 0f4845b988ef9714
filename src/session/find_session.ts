/**
 * Where sessions lie and how one is found. Reads no more of a file than it must; files that are no sessions are passed over. Knows no
 * command line.
 */

import { HostError, StartError } from "../errors.ts";
import type { Host } from "../host.ts";
import type { SessionHeader } from "./entry.ts";
import { readHeader } from "./read_header.ts";
import { readSessionFile } from "./read_session_file.ts";

/** Where the sessions of a workspace lie. */
export interface SessionStore {
  /** `$WEIR_HOME`. */
  readonly home: string;
  readonly workspace: string;
  /** With it, the sessions of all workspaces lie directly in this folder, and no other is looked at. */
  readonly sessionDir?: string;
}

/** A file that has the header of a session. */
export interface SessionFile {
  readonly path: string;
  readonly header: SessionHeader;
  /** When it was last written. */
  readonly modifiedMs: number;
  /** Bytes. */
  readonly size: number;
}

/** The folder for sessions of the workspace; it need not exist. */
export function sessionFolder(host: Host, store: SessionStore): string {
  const { home, workspace, sessionDir } = store;
  if (sessionDir !== undefined) return host.paths.resolve(workspace, sessionDir);
  const name = workspace.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-");
  return host.paths.join(home, "sessions", `--${shorten(name)}--`);
}

/**
 * The sessions of the workspace, or with `everywhere` of all workspaces, those written last first. A store that does not exist has
 * none. Throws `signal.reason` when aborted.
 */
export async function findSessionFiles(
  host: Host,
  store: SessionStore,
  options: { signal: AbortSignal; everywhere?: boolean },
): Promise<SessionFile[]> {
  const { signal, everywhere = false } = options;
  const paths: string[] = [];
  const folders = everywhere && store.sessionDir === undefined
    ? await subfolders(host, host.paths.join(store.home, "sessions"))
    : [sessionFolder(host, store)];
  for (const folder of folders) paths.push(...await sessionPaths(host, folder));
  const found: SessionFile[] = [];
  for (let start = 0; start < paths.length; start += BATCH) {
    signal.throwIfAborted();
    const batch = paths.slice(start, start + BATCH);
    for (const file of await Promise.all(batch.map((path) => look(host, path, { signal })))) {
      if (file !== undefined) found.push(file);
    }
  }
  const mine = everywhere ? found : await ofWorkspace(host, store, found);
  return mine.sort(byNewest);
}

/**
 * The session whose id is `id`, in any workspace; one of this workspace first. With `tellBlank`, `host.warn` hears of a file that was
 * to hold it and has nothing in it. Throws `StartError` when that file has something in it, but no header.
 */
export async function findSessionById(
  host: Host,
  store: SessionStore,
  options: { id: string; signal: AbortSignal; tellBlank?: boolean },
): Promise<SessionFile | undefined> {
  const files = await findSessionFiles(host, store, { signal: options.signal, everywhere: true });
  const same = files.filter((file) => file.header.id === options.id);
  const found = (await ofWorkspace(host, store, same))[0] ?? same[0];
  if (found === undefined) await refuseDamaged(host, store, options);
  return found;
}

/** A file that has the id in its name but no header is a damaged session: another one beside it would hide what is in it. */
async function refuseDamaged(
  host: Host,
  store: SessionStore,
  { id, signal, tellBlank = false }: { id: string; signal: AbortSignal; tellBlank?: boolean },
): Promise<void> {
  const path = (await sessionPaths(host, sessionFolder(host, store)))
    .find((candidate) => host.paths.basename(candidate).endsWith(`_${id}.jsonl`));
  if (path === undefined) return;
  if ((await readSessionFile(host, path, { signal })).isBlank) {
    // Say of a process that was killed while it wrote the first line: it holds nothing that could be hidden.
    if (tellBlank) {
      host.warn(`Session file "${path}" is empty, a new session "${id}" starts beside it`);
    }
    return;
  }
  throw new StartError(
    "session",
    `Cannot open session "${id}": the first line of ${path} is damaged, repair it or move the file away`,
    { exitCode: 1 },
  );
}

/**
 * The one session of any workspace whose id is or, with `match`, ends or begins with `text`. Throws `StartError`
 * `unknown session: <text>` or `session id is ambiguous: <text>`; `purpose` goes behind `unknown session`.
 */
export async function findSessionBySuffix(
  host: Host,
  store: SessionStore,
  options: { text: string; signal: AbortSignal; match?: "end" | "start"; purpose?: string },
): Promise<SessionFile> {
  const { text, signal, match = "end", purpose = "" } = options;
  const files = text === ""
    ? []
    : await findSessionFiles(host, store, { signal, everywhere: true });
  const same = files.filter(({ header }) => header.id === text);
  // The same id in two workspaces: what is here is meant.
  const exact = same.length > 1 ? await ofWorkspace(host, store, same) : same;
  if (exact.length === 1) return exact[0]!;
  const fitting = same.length > 0 ? same : files.filter(({ header: { id } }) => {
    return match === "end" ? id.endsWith(text) : id.startsWith(text);
  });
  if (fitting.length === 1) return fitting[0]!;
  if (fitting.length > 1) {
    throw new StartError("session", `session id is ambiguous: ${text}`, { exitCode: 1 });
  }
  throw new StartError("session", `unknown session${purpose}: ${text}`, {
    exitCode: 1,
    facts: { about: "unknown_session", id: text },
  });
}

/** The session of the workspace that was written last. `host.warn` hears of later ones whose first line is damaged. */
export async function findNewestSession(
  host: Host,
  store: SessionStore,
  options: { signal: AbortSignal },
): Promise<SessionFile | undefined> {
  const newest = (await findSessionFiles(host, store, options))[0];
  for (const path of await sessionPaths(host, sessionFolder(host, store))) {
    if (!OWN_NAME.test(host.paths.basename(path))) continue;
    const info = await host.files.stat(path).catch(() => undefined);
    if (info?.kind !== "file" || info.modifiedMs < (newest?.modifiedMs ?? 0)) continue;
    if (await look(host, path, options) !== undefined) continue;
    const content = await readSessionFile(host, path, options).catch(() => undefined);
    options.signal.throwIfAborted();
    // Nothing of it could be gone on with.
    if (content === undefined || content.isBlank) continue;
    host.warn(
      `Session file "${path}" is passed over: its first line is damaged, repair it or move the file away`,
    );
  }
  return newest;
}

/** What this program calls a session's file: its time and its id. */
const OWN_NAME = /^\d{4}-\d\d-\d\dT[^_]*_.+\.jsonl$/;

/** Whether a session belongs to the workspace, symlinks resolved. */
export async function isOfWorkspace(
  host: Host,
  store: SessionStore,
  options: { header: SessionHeader },
): Promise<boolean> {
  const { cwd } = options.header;
  if (cwd === store.workspace) return true;
  const there = await realFolder(host, cwd);
  return there !== undefined && there === await realFolder(host, store.workspace);
}

/** Files looked at at a time. */
const BATCH = 16;
/** Longest part of a folder's name; file systems end at 255. */
const MAX_NAME = 200;

/** A name that no file system refuses, and still another one for another workspace. */
function shorten(name: string): string {
  if (new TextEncoder().encode(name).length <= MAX_NAME) return name;
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 0x01000193);
  const end = [...name].slice(-40).join("");
  return `${(hash >>> 0).toString(16).padStart(8, "0")}-${end}`;
}

async function ofWorkspace(
  host: Host,
  store: SessionStore,
  files: readonly SessionFile[],
): Promise<SessionFile[]> {
  const answers = new Map<string, boolean>();
  for (const { header } of files) {
    if (answers.has(header.cwd)) continue;
    answers.set(header.cwd, await isOfWorkspace(host, store, { header }));
  }
  return files.filter(({ header }) => answers.get(header.cwd));
}

async function realFolder(host: Host, path: string): Promise<string | undefined> {
  try {
    return await host.files.realPath(path);
  } catch {
    return undefined;
  }
}

async function subfolders(host: Host, folder: string): Promise<string[]> {
  const names = await readNames(host, folder, (kind) => kind === "folder" || kind === "symlink");
  return names.map((name) => host.paths.join(folder, name));
}

async function sessionPaths(host: Host, folder: string): Promise<string[]> {
  const names = await readNames(host, folder, (kind) => kind === "file" || kind === "symlink");
  return names.filter((name) => name.endsWith(".jsonl") && !name.startsWith("."))
    .map((name) => host.paths.join(folder, name));
}

async function readNames(
  host: Host,
  folder: string,
  isWanted: (kind: string) => boolean,
): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name, kind } of host.files.readFolder(folder)) {
      if (isWanted(kind)) names.push(name);
    }
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
  }
  return names;
}

async function look(
  host: Host,
  path: string,
  options: { signal: AbortSignal },
): Promise<SessionFile | undefined> {
  try {
    const info = await host.files.stat(path);
    if (info?.kind !== "file" || info.size === 0) return undefined;
    const header = await readHeader(host, path, options);
    return header && { path, header, modifiedMs: info.modifiedMs, size: info.size };
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}

function byNewest(a: SessionFile, b: SessionFile): number {
  return b.modifiedMs - a.modifiedMs || compare(b.header.timestamp, a.header.timestamp) ||
    compare(b.header.id, a.header.id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
