/** Gives a conversation that is being opened the name of the command line. Knows no flag and no wire. */

import type { OpenedSession } from "./settings.ts";

const MAX_LENGTH = 80;

/**
 * The opened conversation under this name, white space collapsed, at most 80 characters; unchanged for a blank one. The name of a
 * conversation without a file waits for its first entry. Throws `HostError` when it cannot be written.
 */
export async function nameSession(opened: OpenedSession, text: string): Promise<OpenedSession> {
  const name = [...text.trim().replace(/\s+/g, " ")].slice(0, MAX_LENGTH).join("").trim();
  if (name === "") return opened;
  const { journal, entries } = opened;
  const isStored = entries.length > 0;
  if (isStored) await journal.prepare();
  const entry = journal.append({ type: "session_info", name }, { hold: true });
  if (isStored) await journal.flush();
  return { ...opened, entries: [...entries, entry] };
}
