/**
 * Opens the session of the folders and the id it is started with, appends one message, says so, and keeps the session open until its
 * stdin ends. A process of its own for tests of the lock.
 */

import { createDenoHost } from "../../src/deno/deno_host.ts";
import { errorText } from "../../src/errors.ts";
import { openConversation } from "../../src/session/open_session.ts";
import { signal, user } from "./session_samples.ts";

const [home, workspace, id] = Deno.args as [string, string, string];
try {
  const choice = { kind: "id", id } as const;
  const { journal } = await openConversation(createDenoHost(), { home, workspace, choice, signal });
  await journal.prepare();
  journal.append({ type: "message", message: user("held") });
  say(`open ${journal.path}`);
  for await (const _ of Deno.stdin.readable);
  await journal.close();
} catch (error) {
  say(`refused ${errorText(error)}`);
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(line + "\n"));
}
