import { assert, assertEquals, assertRejects } from "@std/assert";
import { TextLineStream } from "@std/streams/text-line-stream";
import { createDenoHost } from "../../src/deno/deno_host.ts";
import { StartError } from "../../src/errors.ts";
import { openConversation, type SessionChoice } from "../../src/session/open_session.ts";
import { signal } from "./session_samples.ts";

/** Another process that opens the session; its first line says whether it could. */
async function hold(home: string, id: string) {
  const config = new URL("../../deno.npm.json", import.meta.url).pathname;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      `--config=${config}`,
      new URL("hold_session.ts", import.meta.url).pathname,
      home,
      "/project/app",
      id,
    ],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
  const reader = lines.getReader();
  const { value = "" } = await reader.read();
  return {
    said: value,
    pid: child.pid,
    async end(how: "input" | "kill") {
      if (how === "kill") child.kill("SIGKILL");
      await child.stdin.close().catch(() => {});
      await child.status;
      await reader.cancel();
    },
  };
}

Deno.test("openConversation() refuses a session that another process has open, until that ends", async () => {
  const home = await Deno.makeTempDir();
  const first = await hold(home, "s-1");
  const host = createDenoHost();
  const open = (choice: SessionChoice) =>
    openConversation(host, { home, workspace: "/project/app", choice, signal });
  try {
    assert(first.said.startsWith("open "), first.said);
    const choices: SessionChoice[] = [
      { kind: "id", id: "s-1" },
      { kind: "find", text: "-1" },
      { kind: "continue" },
      { kind: "path", path: first.said.slice(5) },
    ];
    for (const choice of choices) {
      const error = await assertRejects(() => open(choice), StartError);
      assertEquals(error.message, `session s-1 is open in process ${first.pid}`);
      assertEquals(error.exitCode, 1);
    }
    const second = await hold(home, "s-1");
    await second.end("input");
    assertEquals(second.said, `refused session s-1 is open in process ${first.pid}`);
    const fork = await open({ kind: "fork", text: "s-1" });
    assertEquals(fork.entries.length, 1);
    await fork.journal.close();
    await first.end("kill");
    const { journal, entries } = await open({ kind: "id", id: "s-1" });
    assertEquals(entries.length, 1);
    await journal.close();
  } finally {
    await first.end("kill").catch(() => {});
    await Deno.remove(home, { recursive: true });
  }
});
