/**
 * What a list of sessions shows of each. Knows no list's form.
 */

import { TextLineStream } from "@std/streams/text-line-stream";
import { textOf } from "../agent/message.ts";
import { HostError } from "../errors.ts";
import type { Host } from "../host.ts";
import { decodeEntry } from "./entry.ts";
import { findSessionFiles, type SessionFile, type SessionStore } from "./find_session.ts";
import { parseLine } from "./parse_line.ts";

/** A session as a list shows it. */
export interface SessionListing extends SessionFile {
  /** The last name it was given; `""` without one. */
  readonly name: string;
  /** The first message of a person as it was sent; `""` before there is one. */
  readonly firstPrompt: string;
}

/**
 * The sessions of the workspace, or with `everywhere` of all, those written last first; of them `limit` from number `skip` on, and only
 * those are read. Files that are no sessions are passed over. Throws `signal.reason` when aborted.
 */
export async function listSessions(
  host: Host,
  store: SessionStore,
  options: { signal: AbortSignal; everywhere?: boolean; skip?: number; limit?: number },
): Promise<SessionListing[]> {
  const { signal, skip = 0, limit = Infinity } = options;
  const files = await findSessionFiles(host, store, options);
  const listings: SessionListing[] = [];
  for (const file of files.slice(skip, skip + limit)) {
    try {
      listings.push(await describeSession(host, file, { signal }));
    } catch (error) {
      // Removed or made unreadable since it was found.
      if (!(error instanceof HostError)) throw error;
    }
  }
  return listings;
}

/** Name and first prompt of a session. Only the lines that can have them are parsed. Throws `HostError`. */
export async function describeSession(
  host: Host,
  file: SessionFile,
  options: { signal: AbortSignal },
): Promise<SessionListing> {
  let name = "";
  let firstPrompt: string | undefined;
  const lines = (await host.files.openRead(file.path, {}))
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new TextLineStream());
  for await (const line of lines) {
    options.signal.throwIfAborted();
    if (firstPrompt !== undefined && !line.includes(NAME_MARK)) continue;
    for (const record of parseLine(line).records) {
      const entry = decodeEntry(record);
      if (entry.type === "session_info") name = entry.name;
      if (firstPrompt !== undefined || entry.type !== "message") continue;
      const { message } = entry;
      if (message.role !== "user" || message.internal !== undefined) continue;
      firstPrompt = message.display ?? textOf(message);
    }
  }
  return { ...file, name, firstPrompt: firstPrompt ?? "" };
}

/** In a text the quotes would be escaped. */
const NAME_MARK = '"session_info"';
