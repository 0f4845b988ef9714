/** Writes a conversation's page to a file. Knows no command and no command line. */

import { HostError, RequestError } from "../errors.ts";
import type { Host } from "../host.ts";
import type { ExportData } from "./export_html.ts";

export interface SaveExportOptions {
  /** What a relative path is meant from. */
  readonly folder: string;
  /** `undefined` or `""`: `<session id>.html`. */
  readonly path: string | undefined;
  /** The session's own file, which is never replaced. */
  readonly sessionPath: string | undefined;
  isCredentialFile(path: string): boolean;
  readonly signal: AbortSignal;
}

/**
 * Writes the page and returns its absolute path. An existing file is replaced, a symlink followed; a new file is private; folders are not
 * made. Throws `RequestError`, with the system's text when a file operation failed; `signal.reason` when aborted.
 */
export async function saveExport(
  host: Host,
  data: ExportData,
  options: SaveExportOptions,
): Promise<string> {
  const { folder, path: given, signal } = options;
  const path = host.paths.resolve(folder, given || exportName(data.sessionId));
  try {
    await checkTarget(host, path, { ...options, given: given ?? "" });
    const { renderHtml } = await import("./export_html.ts");
    const bytes = new TextEncoder().encode(renderHtml(data));
    await host.files.replace(path, bytes, { signal, mode: 0o600, followSymlink: true });
    return path;
  } catch (error) {
    if (error instanceof HostError) {
      throw new RequestError("failed", error.message, { cause: error });
    }
    throw error;
  }
}

/** The id of a file that somebody else made may be no name of a file. */
function exportName(sessionId: string): string {
  return `${sessionId.replace(/[^\w.-]/g, "_").slice(0, 200)}.html`;
}

async function checkTarget(
  host: Host,
  path: string,
  options: SaveExportOptions & { given: string },
): Promise<void> {
  const { given, sessionPath } = options;
  const info = await host.files.stat(path);
  if (info?.kind === "folder" || given.endsWith("/") || given.endsWith(host.paths.separator)) {
    throw refusal(path, "it is a folder, name a file in it");
  }
  if (info?.kind === "other") throw refusal(path, "it is no regular file, name another one");
  const names = [path];
  if (info !== undefined) names.push(await host.files.realPath(path));
  else {
    const link = await host.files.lstat(path);
    if (link?.kind === "symlink") names.push(await host.files.readLink(path));
  }
  if (names.some((name) => options.isCredentialFile(name))) {
    throw refusal(path, "it has the name of a credential file, name another one");
  }
  if (sessionPath === undefined || info === undefined) return;
  // Before the first message there is no such file.
  const ownPath = await host.files.realPath(sessionPath).catch(() => sessionPath);
  if (names.includes(sessionPath) || names.includes(ownPath)) {
    throw refusal(path, "it is the file of the session itself, name another one");
  }
}

function refusal(path: string, state: string): RequestError {
  return new RequestError("invalid", `Cannot export to "${path}": ${state}`);
}
