/** `weir sessions`: lists stored conversations. Knows nothing of how they are stored. */

import type { Host } from "../host.ts";
import { listSessions, type SessionListing } from "../session/list_sessions.ts";
import type { CommandIo, CommandPlace } from "./command_io.ts";
import type { SessionsCommand } from "./parse_subcommand.ts";

/**
 * Writes the newest first, one per line: id, time, name or first prompt, and with `all` the folder. With `json` each line is an object with
 * `id`, `name`, `firstPrompt`, `folder` and `modified`. Returns the exit code, always 0.
 */
export async function runSessionsCommand(
  host: Host,
  options: Omit<SessionsCommand, "kind"> & CommandPlace,
  io: CommandIo,
): Promise<number> {
  const { home, currentFolder, sessionDir, all, json, signal } = options;
  const store = {
    home,
    workspace: currentFolder,
    ...(sessionDir === undefined ? {} : { sessionDir }),
  };
  const sessions = await listSessions(host, store, { signal, everywhere: all });
  for (const session of sessions) {
    io.out(json ? describeAsJson(session) : describe(session, { all }));
  }
  if (sessions.length === 0 && !json) {
    io.err(all ? "No saved sessions" : "No saved sessions in this folder; --all shows all");
  }
  return 0;
}

function describe(session: SessionListing, { all }: { all: boolean }): string {
  const { header, modifiedMs, name, firstPrompt } = session;
  const title = shorten(name || firstPrompt || "(empty)");
  const folder = all ? `  ${shorten(header.cwd, { limit: 200 })}` : "";
  return `${shorten(header.id, { limit: 200 })}  ${describeTime(modifiedMs)}  ${title}${folder}`;
}

function describeAsJson({ header, name, firstPrompt, modifiedMs }: SessionListing): string {
  const modified = new Date(modifiedMs).toISOString();
  return JSON.stringify({ id: header.id, name, firstPrompt, folder: header.cwd, modified });
}

/** Local time to the minute. */
function describeTime(ms: number): string {
  const time = new Date(ms);
  const two = (part: number) => String(part).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** One line without control characters: stored text must not steer the terminal. */
function shorten(text: string, { limit = 60 } = {}): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  const characters = [...line];
  return characters.length <= limit ? line : `${characters.slice(0, limit - 1).join("")}…`;
}
