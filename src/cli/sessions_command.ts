/** `weir sessions`: lists stored conversations. Does not know how they are stored. */

import type { CommandIo, CommandPlace } from "./command_io.ts";
import type { SessionsCommand } from "./parse_subcommand.ts";

/** What is shown of a stored conversation. */
export interface ListedSession {
  readonly id: string;
  readonly name: string | undefined;
  readonly firstPrompt: string | undefined;
  /** The workspace. */
  readonly folder: string;
  /** When it was last written, milliseconds since 1970. */
  readonly modifiedMs: number;
}

/** Finds stored conversations, those of every folder when `folder` is `undefined`. */
export type ListSessions = (options: {
  readonly folder: string | undefined;
  readonly sessionDir: string | undefined;
  readonly signal: AbortSignal;
}) => AsyncIterable<ListedSession> | Promise<readonly ListedSession[]>;

/** Writes the newest first, one per line: id, time, name or first prompt, and with `all` the folder. Returns the exit code, always 0. */
export async function runSessionsCommand(
  options: Omit<SessionsCommand, "kind"> & CommandPlace & { listSessions: ListSessions },
  io: CommandIo,
): Promise<number> {
  const { signal, sessionDir } = options;
  const found = await options.listSessions({
    folder: options.all ? undefined : options.currentFolder,
    sessionDir,
    signal,
  });
  const sessions: ListedSession[] = [];
  for await (const session of found) sessions.push(session);
  sessions.sort((one, other) => other.modifiedMs - one.modifiedMs);
  for (const session of sessions) {
    io.out(options.json ? describeAsJson(session) : describe(session, { all: options.all }));
  }
  if (sessions.length === 0 && !options.json) {
    io.err(options.all ? "No saved sessions" : "No saved sessions in this folder; --all shows all");
  }
  return 0;
}

function describe(session: ListedSession, { all }: { all: boolean }): string {
  const title = shorten(session.name ?? session.firstPrompt ?? "(empty)");
  const folder = all ? `  ${shorten(session.folder, { limit: 200 })}` : "";
  return `${shorten(session.id)}  ${describeTime(session.modifiedMs)}  ${title}${folder}`;
}

function describeAsJson({ id, name, firstPrompt, folder, modifiedMs }: ListedSession): string {
  const modified = new Date(modifiedMs).toISOString();
  return JSON.stringify({ id, name, firstPrompt, folder, modified });
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
