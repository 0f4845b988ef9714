/**
 * A session file with calls and results as the program wrote it, ways to put another one in its place, and a client that opens it and goes on.
 * Knows two dialects as far as that needs it, and no kind of damage.
 */

import { assert, assertEquals } from "@std/assert";
import { checkCircleRecords } from "../fakes/grammar_circle.ts";
import { checkPiRecords } from "../fakes/grammar_pi.ts";
import { type ModelServer, startModelServer } from "../fakes/model_server.ts";
import { type PreparedHome, prepareHome } from "../fakes/prepare_home.ts";
import { startWeir, type WeirProcess } from "../fakes/weir_process.ts";

export const SESSION_ID = "stored";
export type Opener = "circle" | "pi";

/** One line of the file. */
export interface StoredLine {
  /** With its LF. */
  readonly bytes: Uint8Array;
  /** `undefined` for the header. */
  readonly id: string | undefined;
  readonly isMessage: boolean;
}

export interface StoredSession extends AsyncDisposable {
  readonly server: ModelServer;
  readonly home: PreparedHome;
  readonly path: string;
  readonly lines: readonly StoredLine[];
  readonly bytes: Uint8Array;
}

/** What a client saw that opened the file, ran one turn and left. */
export interface GoneOn {
  /** Ids of the messages before the turn. */
  readonly before: string[];
  /** And after it. */
  readonly after: string[];
  readonly stderr: string;
  /** The file afterwards. */
  readonly bytes: Uint8Array;
}

/** A session of two turns: a question with two calls and their results, an answer, another question and its answer. */
export async function storeSession(): Promise<StoredSession> {
  await using made = new AsyncDisposableStack();
  const server = made.use(startModelServer());
  const home = made.use(
    await prepareHome({
      server,
      contextWindow: 100_000_000,
      extraConfig: { retry: { maxRetries: 1, baseDelayMs: 10 } },
    }),
  );
  const read = { id: "r_1", name: "read", args: { path: "notes.txt" } };
  server.reply(
    { text: "I look … 🙂", toolCalls: [{ id: "l_1", name: "ls", args: {} }, read] },
    { text: "“done” – naïve" },
    { text: "later" },
  );
  {
    await using weir = await startWeir({ args: argsOf("circle", home), home: home.home });
    for (const message of ["first ✓", "second"]) {
      await weir.request({ type: "prompt", message });
      await weir.settled();
    }
    await weir.closeInput();
    assertEquals((await weir.waitForExit()).code, 0);
  }
  server.answer(() => ({ text: "went on" }));
  const path = await onlySession(home);
  const bytes = await Deno.readFile(path);
  const held = made.move();
  return {
    ...{ server, home, path, bytes, lines: splitLines(bytes) },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

/** Opens the file, asks for its messages, runs a turn that the endpoint must accept, and ends. */
export async function goOn(
  { server, home, path }: Pick<StoredSession, "server" | "home" | "path">,
  opener: Opener,
  options: readonly string[] = [],
): Promise<GoneOn> {
  await using weir = await open({ home, path }, opener, options);
  const before = await messageIds(weir, opener);
  await runTurn(weir);
  const after = await messageIds(weir, opener);
  await weir.closeInput();
  assertEquals((await weir.waitForExit()).code, 0, weir.stderr);
  if (opener === "circle") checkCircleRecords(weir.records, { state: "ended" });
  else checkPiRecords(weir.records, { state: "settled" });
  assertEquals(server.complaints, []);
  return { before, after, stderr: weir.stderr, bytes: await Deno.readFile(path) };
}

/** Starts a process that opens the session. */
export function open(
  { home, path }: Pick<StoredSession, "home" | "path">,
  opener: Opener,
  options: readonly string[] = [],
): Promise<WeirProcess> {
  return startWeir({
    args: [...options, ...argsOf(opener, home, path)],
    home: home.home,
    cwd: home.workspace,
    timeoutMs: 30_000,
  });
}

/** Runs a turn that ends with the answer of the endpoint. */
export async function runTurn(weir: WeirProcess): Promise<void> {
  const response = await weir.request({ type: "prompt", message: "go on" });
  assertEquals(response.success, true, JSON.stringify(response));
  const records = await weir.settled();
  assert(JSON.stringify(records).includes("went on"), JSON.stringify(records).slice(0, 4000));
}

/** The ids of all messages of the conversation, as the file has them. */
export async function messageIds(weir: WeirProcess, opener: Opener): Promise<string[]> {
  const type = opener === "circle" ? "get_messages" : "get_entries";
  const response = await weir.request({ type });
  assertEquals(response.success, true, JSON.stringify(response));
  if (opener === "circle") {
    const { messages } = response.data as { messages: { data: { id: string } }[] };
    return messages.map(({ data }) => data.id);
  }
  const { entries } = response.data as { entries: { type: string; id: string }[] };
  return entries.filter((entry) => entry.type === "message").map(({ id }) => id);
}

/** The only session file of the home. */
export async function onlySession(home: PreparedHome): Promise<string> {
  const paths = await sessionPaths(home);
  assertEquals(paths.length, 1, paths.join("\n"));
  return paths[0]!;
}

/** All session files of the home. */
export async function sessionPaths({ home }: PreparedHome): Promise<string[]> {
  const paths: string[] = [];
  const info = await Deno.stat(`${home}/sessions`).catch(() => undefined);
  if (info === undefined) return paths;
  for await (const folder of Deno.readDir(`${home}/sessions`)) {
    for await (const { name } of Deno.readDir(`${home}/sessions/${folder.name}`)) {
      if (name.endsWith(".jsonl")) paths.push(`${home}/sessions/${folder.name}/${name}`);
    }
  }
  return paths;
}

/** The parts as one. */
export function join(...parts: readonly (Uint8Array | string)[]): Uint8Array {
  const all = parts.map((part) => typeof part === "string" ? new TextEncoder().encode(part) : part);
  const joined = new Uint8Array(all.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of all) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** Whether `bytes` begin with `start`. */
export function beginsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  return bytes.length >= start.length && start.every((byte, index) => byte === bytes[index]);
}

function argsOf(opener: Opener, home: PreparedHome, path?: string): string[] {
  return opener === "circle"
    ? ["--mode", "rpc", "--yolo", "--session-id", SESSION_ID, home.workspace]
    : ["--mode", "rpc", "--dialect", "pi", "--session", path!];
}

function splitLines(bytes: Uint8Array): StoredLine[] {
  const lines: StoredLine[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(0x0a, start) + 1;
    const line = bytes.slice(start, end);
    const record = JSON.parse(new TextDecoder().decode(line)) as { type: string; id: string };
    const isHeader = record.type === "session";
    const id = isHeader ? undefined : record.id;
    lines.push({ bytes: line, id, isMessage: record.type === "message" });
    start = end;
  }
  return lines;
}
