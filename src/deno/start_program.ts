/**
 * Starts the program for a client. Works in Deno and in Node: it asks for nothing but `node:` modules, and only when it is called, so that
 * a bundle for pages can hold it. Knows no record.
 */

import type { ProgramExit, ProgramProcess, ProgramStart } from "../client/client_process.ts";

/** Characters of stderr that are kept. */
const KEPT = 8192;
const KEPT_LINES = 20;
/** What a process that has ended left in its pipe comes at once; something that it started may hold the pipe for ever. */
const DRAIN_MS = 500;

/** Starts a program. Throws when there is none or it cannot be run. */
export async function startProgram(start: ProgramStart): Promise<ProgramProcess> {
  const [{ spawn }, { Readable, Writable }, { fileURLToPath }, { default: process }] = await Promise
    .all([
      import("node:child_process"),
      import("node:stream"),
      import("node:url"),
      import("node:process"),
    ]);
  const deno = process.versions.deno === undefined ? "deno" : process.execPath;
  const [program, ...first] = commandOf(start.program, { deno, fileURLToPath });
  const child = spawn(program!, [...first, ...start.args], {
    ...(start.cwd !== undefined && { cwd: start.cwd }),
    env: { ...process.env, ...start.env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const exit = Promise.withResolvers<ProgramExit>();
  child.once("exit", (code, signal) => {
    exit.resolve({ code: code ?? undefined, signal: signal ?? undefined });
  });
  const tail = new Tail();
  const read = Promise.withResolvers<void>();
  child.stderr.setEncoding("utf8");
  child.stderr.on("data", (text: string) => tail.add(text));
  child.stderr.once("close", () => read.resolve());
  // Each write reports a broken pipe itself.
  child.stdin.on("error", () => {});
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (cause) => reject(startFailure(program!, cause)));
  });
  child.on("error", () => {});
  return {
    readable: Readable.toWeb(child.stdout) as ReadableStream<Uint8Array<ArrayBuffer>>,
    writable: Writable.toWeb(child.stdin) as WritableStream<Uint8Array<ArrayBuffer>>,
    exited: exit.promise.then(async (end) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>((resolve) => timer = setTimeout(resolve, DRAIN_MS));
      await Promise.race([read.promise, late]);
      clearTimeout(timer);
      child.stderr.destroy();
      return end;
    }),
    lastLines: () => tail.text,
    kill: (signal) => void child.kill(signal),
  };
}

function startFailure(program: string, cause: Error & { code?: string }): Error {
  const why = cause.code === "ENOENT"
    ? "there is no such program or folder, give the path of one"
    : `${cause.message}, see whether it can be run by hand`;
  return new Error(`Cannot start "${program}": ${why}`, { cause });
}

function commandOf(
  program: ProgramStart["program"],
  { deno, fileURLToPath }: { deno: string; fileURLToPath(url: URL): string },
): readonly string[] {
  if (typeof program !== "string" && !(program instanceof URL)) return program;
  const url = program instanceof URL
    ? program
    : /^[a-z]{2,}:/i.test(program)
    ? new URL(program)
    : undefined;
  const path = url === undefined
    ? program as string
    : url.protocol === "file:"
    ? fileURLToPath(url)
    : url.href;
  const isScript = url !== undefined && url.protocol !== "file:" || /\.(?:ts|m?js)$/.test(path);
  return isScript ? [deno, "run", "-A", path] : [path];
}

/** The end of a text that comes in pieces. */
class Tail {
  #text = "";

  add(piece: string): void {
    this.#text = (this.#text + piece).slice(-KEPT);
  }

  get text(): string {
    return this.#text.trimEnd().split("\n").slice(-KEPT_LINES).join("\n");
  }
}
