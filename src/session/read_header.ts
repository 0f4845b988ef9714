/**
 * Reads the header of a session file and nothing behind it. Knows no lock.
 */

import type { Host } from "../host.ts";
import { decodeHeader, type SessionHeader } from "./entry.ts";
import { parseLine } from "./parse_line.ts";

/** The header of a file; `undefined` when the file has none. Throws `HostError`, and `signal.reason` when aborted. */
export async function readHeader(
  host: Host,
  path: string,
  options: { signal: AbortSignal },
): Promise<SessionHeader | undefined> {
  for (const limit of [4096, 65536]) {
    const bytes = await host.files.read(path, { signal: options.signal, limit });
    const lines = new TextDecoder().decode(bytes).split("\n");
    const first = lines.findIndex((line) => line.trim() !== "");
    const isWhole = first >= 0 && (first < lines.length - 1 || bytes.length < limit);
    if (!isWhole && bytes.length === limit) continue;
    const record = first < 0 ? undefined : parseLine(lines[first]!).records[0];
    return record && decodeHeader(record);
  }
  return undefined;
}
