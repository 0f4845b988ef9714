/**
 * Which folders the user trusts: `trust.json` of the home. Knows nothing of what trust means for a run.
 */

import { boolean, object, recordOf, withDefault } from "./check_value.ts";
import { HostError, StartError } from "../errors.ts";
import type { Host } from "../host.ts";
import { readSettings, withoutMark } from "./read_settings.ts";
import { locateSettingsError } from "./settings_error.ts";

/** One folder of the trust store, as it is written there. */
export interface TrustEntry {
  readonly folder: string;
  readonly trusted: boolean;
}

/**
 * Whether `folder` is trusted: its nearest ancestor in the store decides, symlinks resolved on both sides; with two entries for one folder
 * `false` wins. A folder that does not exist is not trusted. Throws `StartError` (`configuration`) for a store that cannot be read.
 */
export async function isTrusted(
  host: Host,
  { home, folder, signal }: { home: string; folder: string; signal: AbortSignal },
): Promise<boolean> {
  return (await findTrust(host, { home, folder, signal }))?.trusted ?? false;
}

/** The entry of the store that decides about `folder`. Throws like `isTrusted`. */
export async function findTrust(
  host: Host,
  { home, folder, signal }: { home: string; folder: string; signal: AbortSignal },
): Promise<TrustEntry | undefined> {
  const entries = await listTrust(host, { home, signal });
  const real = entries.length > 0 ? await realPathOf(host, folder) : undefined;
  if (real === undefined) return undefined;
  const byRealPath = new Map<string, TrustEntry>();
  const places = await Promise.all(entries.map((entry) => realPathOf(host, entry.folder)));
  for (const [index, entry] of entries.entries()) {
    const place = places[index];
    if (place === undefined || byRealPath.get(place)?.trusted === false) continue;
    byRealPath.set(place, entry);
  }
  for (let place = real;; place = host.paths.dirname(place)) {
    const entry = byRealPath.get(place);
    if (entry || place === host.paths.dirname(place)) return entry;
  }
}

/** The entries of the store, in its order. Throws like `isTrusted`. */
export async function listTrust(
  host: Host,
  { home, signal }: { home: string; signal: AbortSignal },
): Promise<TrustEntry[]> {
  const { projects } = await readStore(host, { file: trustFile(host, home), signal });
  return Object.entries(projects).map(([folder, trusted]) => ({ folder, trusted }));
}

/**
 * Sets or, with `undefined`, removes the entry of `folder`, atomically; a new store gets mode 0600. Returns the folder as it is stored, without
 * symlinks. Throws `StartError`: `folder` when there is no such folder, `configuration` when the store cannot be read or written.
 */
export async function setTrust(
  host: Host,
  { home, folder, trusted, signal }: {
    home: string;
    folder: string;
    trusted: boolean | undefined;
    signal: AbortSignal;
  },
): Promise<string> {
  const file = trustFile(host, home);
  const real = await realPathOf(host, folder);
  const isFolder = real !== undefined && (await host.files.stat(real))?.kind === "folder";
  if (trusted !== undefined && !isFolder) {
    throw new StartError("folder", `No such folder: ${folder}`);
  }
  const key = real ?? folder;
  const { all, projects } = await readStore(host, { file, signal });
  const kept = Object.entries(projects).filter(([name]) => name !== key);
  // Another spelling of the same folder would decide as well.
  const places = await Promise.all(kept.map(([name]) => realPathOf(host, name)));
  const others = kept.filter((_entry, index) => places[index] !== key);
  const entries = trusted === undefined ? others : [...others, [key, trusted] as const];
  const text = JSON.stringify({ ...all, projects: Object.fromEntries(entries) }, null, 2) + "\n";
  try {
    await host.files.makeFolder(home, { mode: 0o700 });
    await host.files.replace(file, new TextEncoder().encode(text), {
      signal,
      mode: 0o600,
      followSymlink: true,
    });
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new StartError("configuration", `Cannot write ${file}: ${error.message}`, {
      cause: error,
    });
  }
  return key;
}

function trustFile(host: Host, home: string): string {
  return host.paths.join(home, "trust.json");
}

async function realPathOf(host: Host, path: string): Promise<string | undefined> {
  if (!host.paths.isAbsolute(path)) return undefined;
  try {
    return await host.files.realPath(path);
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}

interface Store {
  readonly all: Readonly<Record<string, unknown>>;
  readonly projects: Readonly<Record<string, boolean>>;
}

async function readStore(
  host: Host,
  { file, signal }: { file: string; signal: AbortSignal },
): Promise<Store> {
  const settings = await readSettings(host, { file, signal });
  if (!settings) return { all: {}, projects: {} };
  const text = withoutMark(settings.text);
  try {
    return checkStore(JSON.parse(text));
  } catch (error) {
    throw await locateSettingsError(error, { file, text, strict: true });
  }
}

const checkProjects = object({ projects: withDefault(recordOf(boolean), {}) });

function checkStore(value: unknown): Store {
  const { projects } = checkProjects(value, []);
  return { all: value as Record<string, unknown>, projects };
}
