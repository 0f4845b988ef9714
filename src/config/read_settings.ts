/** Reads one settings file. Knows neither its syntax nor what stands in it. */

import { HostError } from "../errors.ts";
import { accessTo, type Host } from "../host.ts";
import { settingsError } from "./settings_error.ts";

/** The text of a settings file, a byte order mark at its start included. */
export interface SettingsText {
  readonly text: string;
  /** Permission bits, where the system has some. */
  readonly mode: number | undefined;
}

/**
 * Reads a settings file; `undefined` when there is none, or none that this process may read. Throws `StartError` (`configuration`) when it cannot be read or is not UTF-8.
 */
export async function readSettings(
  host: Host,
  { file, signal, isForeign = false }: {
    file: string;
    signal: AbortSignal;
    /** Others may have put anything there: it is opened only when it is known to be a file. */
    isForeign?: boolean;
  },
): Promise<SettingsText | undefined> {
  if (!accessTo(host, file).read) return undefined;
  let bytes: Uint8Array;
  let mode: number | undefined;
  try {
    // Asked together, because each answer takes a while and every start waits for them.
    const read = () => host.files.read(file, { signal });
    const early = isForeign ? undefined : read();
    early?.catch(() => {});
    const info = await host.files.stat(file);
    if (!info) return undefined;
    mode = info.mode;
    if (info.kind === "folder") throw settingsError(file, "expected a file, found a folder");
    if (isForeign && info.kind !== "file") {
      throw settingsError(file, "expected a file, found something else");
    }
    bytes = await (early ?? read());
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    // Gone between the two calls.
    if (error.code === "not_found") return undefined;
    throw settingsError(file, error.message, { cause: error });
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), mode };
  } catch (error) {
    throw settingsError(`${file}:1:1`, "expected UTF-8 text", { cause: error });
  }
}

/** The text without the byte order mark. */
export function withoutMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}
