/** `weir export`: writes a stored conversation as a page. Only reads the session, so another process may have it open. */

import { configFile } from "../config/config.ts";
import { createCredentialCheck } from "../session/approvals/credential_files.ts";
import { errorText, HostError, RequestError, StartError } from "../errors.ts";
import type { Host } from "../host.ts";
import { isPartial } from "../agent/message.ts";
import type { ExportData } from "../session/export_html.ts";
import type { SessionHeader, StoredEntry } from "../session/entry.ts";
import { findSessionBySuffix } from "../session/find_session.ts";
import { Journal } from "../session/journal.ts";
import { currentHeader, describeDamage } from "../session/open_session_file.ts";
import { readSessionFile } from "../session/read_session_file.ts";
import { saveExport } from "../session/save_export.ts";
import { Transcript } from "../session/transcript.ts";
import type { CommandIo, CommandPlace } from "./command_io.ts";
import type { ExportCommand } from "./parse_subcommand.ts";

/**
 * Writes the session whose id is or ends with `session` to `file`, relative to the current folder (default `<id>.html` in it), and prints the
 * path. Returns the exit code, always 0. Throws `StartError`: `unknown session: <text>`, `session id is ambiguous: <text>`, or why the file
 * cannot be written.
 */
export async function runExportCommand(
  host: Host,
  options: Omit<ExportCommand, "kind"> & CommandPlace,
  io: CommandIo,
): Promise<number> {
  const { home, currentFolder, session, file, sessionDir, signal } = options;
  const store = {
    home,
    workspace: currentFolder,
    ...(sessionDir === undefined ? {} : { sessionDir }),
  };
  try {
    const { path: sessionPath } = await findSessionBySuffix(host, store, { text: session, signal });
    const content = await readSessionFile(host, sessionPath, { signal });
    const header = currentHeader(sessionPath, content);
    for (const warning of describeDamage(sessionPath, content)) io.err(warning);
    io.out(
      await saveExport(host, await describe(header, content.entries), {
        folder: currentFolder,
        path: file,
        sessionPath,
        isCredentialFile: createCredentialCheck({
          patterns: [],
          ownFiles: [configFile(host, home)],
        }),
        signal,
      }),
    );
    return 0;
  } catch (error) {
    if (!(error instanceof HostError) && !(error instanceof RequestError)) throw error;
    throw new StartError("session", errorText(error), { cause: error, exitCode: 1 });
  }
}

/** What the page shows. A journal in memory keeps what opening would repair away from the file, and it is left out of the page too. */
async function describe(
  header: SessionHeader,
  entries: readonly StoredEntry[],
): Promise<ExportData> {
  await using transcript = new Transcript({ journal: new Journal({ header, entries }), entries });
  const stored = new Set(entries.map((entry) => entry.id));
  return {
    sessionId: header.id,
    title: transcript.title,
    model: lastModel(entries),
    workspace: header.cwd,
    messages: transcript.messages.filter(({ id }) => stored.has(id)),
    stats: transcript.stats(),
  };
}

/** The model that was chosen or answered last. */
function lastModel(entries: readonly StoredEntry[]): string {
  const entry = entries.findLast((entry) =>
    entry.type === "model_change" ||
    entry.type === "message" && entry.message.role === "assistant" && !isPartial(entry.message)
  );
  if (entry?.type === "model_change") return entry.modelId;
  return entry?.type === "message" && entry.message.role === "assistant" ? entry.message.model : "";
}
