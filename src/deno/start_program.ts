/**
 * Starts the program for a client, in Deno or in Node. What only Node has is asked for when it is needed, so that a bundle for pages can hold
 * this. Knows no record.
 */

import type { ProgramExit, ProgramProcess, ProgramStart } from "../client/client_process.ts";

/** Characters of stderr that are kept. */
const KEPT = 8192;
const KEPT_LINES = 20;
/** What a process that has ended left in its pipe comes at once; something that it started may hold the pipe for ever. */
const DRAIN_MS = 500;

type Bytes = Uint8Array<ArrayBuffer>;

/** A process as either runtime gives it. */
interface Child {
  readonly stdin: WritableStream<Bytes>;
  readonly stdout: ReadableStream<Bytes>;
  readonly stderr: ReadableStream<Bytes>;
  readonly exited: Promise<ProgramExit>;
  /** May throw when the process has ended. */
  kill(signal: "SIGTERM" | "SIGKILL"): void;
}

interface ChildStart {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string | URL | undefined;
  readonly env: Readonly<Record<string, string>>;
}

/** Starts a program. Throws when there is none or it cannot be run. */
export async function startProgram(start: ProgramStart): Promise<ProgramProcess> {
  const inDeno = "Deno" in globalThis;
  const [program, ...first] = commandOf(start.program, inDeno ? Deno.execPath() : "deno");
  const child = await (inDeno ? startInDeno : startInNode)({
    argv: [program, ...first, ...start.args],
    cwd: start.cwd,
    env: start.env ?? {},
  }).catch((error) => {
    throw startFailure(program, error);
  });
  const tail = new Tail();
  const stderr = child.stderr.getReader();
  const reading = readInto(tail, stderr);
  let hasExited = false;
  return {
    readable: child.stdout,
    writable: child.stdin,
    exited: child.exited.then(async (end) => {
      hasExited = true;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>((resolve) => timer = setTimeout(resolve, DRAIN_MS));
      await Promise.race([reading, late]);
      clearTimeout(timer);
      await stderr.cancel().catch(() => {});
      return end;
    }),
    lastLines: () => tail.text,
    kill(signal) {
      if (hasExited) return;
      try {
        child.kill(signal);
      } catch {
        // It has ended in this moment.
      }
    },
  };
}

// deno-lint-ignore require-await -- what goes wrong is a rejection, as in Node
async function startInDeno({ argv: [program, ...args], cwd, env }: ChildStart): Promise<Child> {
  const child = new Deno.Command(program, {
    args,
    ...(cwd !== undefined && { cwd }),
    env,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited: child.status.then(({ code, signal }) =>
      signal === null ? { code, signal: undefined } : { code: undefined, signal }
    ),
    kill: (signal) => child.kill(signal),
  };
}

async function startInNode({ argv: [program, ...args], cwd, env }: ChildStart): Promise<Child> {
  const [{ spawn }, { Readable, Writable }, { default: process }] = await Promise.all([
    import("node:child_process"),
    import("node:stream"),
    import("node:process"),
  ]);
  const child = spawn(program, args, {
    ...(cwd !== undefined && { cwd }),
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const exited = new Promise<ProgramExit>((resolve) => {
    child.once(
      "exit",
      (code, signal) => resolve({ code: code ?? undefined, signal: signal ?? undefined }),
    );
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.on("error", reject);
  });
  return {
    stdin: Writable.toWeb(child.stdin) as WritableStream<Bytes>,
    stdout: Readable.toWeb(child.stdout) as ReadableStream<Bytes>,
    stderr: Readable.toWeb(child.stderr) as ReadableStream<Bytes>,
    exited,
    kill: (signal) => void child.kill(signal),
  };
}

function startFailure(program: string, cause: unknown): Error {
  const error = cause instanceof Error ? cause : new Error(String(cause));
  const isMissing = error.name === "NotFound" || "code" in error && error.code === "ENOENT";
  const why = isMissing
    ? "there is no such program or folder, give the path of one"
    : `${error.message}, see whether it can be run by hand`;
  return new Error(`Cannot start "${program}": ${why}`, { cause });
}

function commandOf(program: ProgramStart["program"], deno: string): readonly [string, ...string[]] {
  if (typeof program !== "string" && !(program instanceof URL)) return program;
  const url = program instanceof URL
    ? program
    : /^[a-z]{2,}:/i.test(program)
    ? new URL(program)
    : undefined;
  const isFile = url === undefined || url.protocol === "file:";
  const path = url === undefined ? String(program) : isFile ? pathOf(url) : url.href;
  return isFile && !/\.(?:ts|m?js)$/.test(path) ? [path] : [deno, "run", "-A", path];
}

/** `file:///C:/a%20b` → `C:/a b`. */
function pathOf(url: URL): string {
  return decodeURIComponent(url.pathname).replace(/^\/(?=[A-Za-z]:\/)/, "");
}

async function readInto(
  tail: Tail,
  reader: ReadableStreamDefaultReader<Bytes>,
): Promise<void> {
  const decoder = new TextDecoder();
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      tail.add(decoder.decode(value, { stream: true }));
    }
  } catch {
    // What was read is what there is.
  }
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
