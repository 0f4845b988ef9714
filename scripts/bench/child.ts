// A child process under measurement: lines in, lines out, and what it costs. Looks at bytes, because making strings of everything would
// take longer than some of the programs.

/** What a program may take to end by itself. Deno keeps the code that it has compiled only then. */
const LAST_MS = 2000;
const LF = 10;
const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** One character for each byte, so that places in the text are places in the bytes. */
const bytewise = new TextDecoder("latin1");

/** How a program is started. Nothing of this process's environment reaches it. */
export interface Program {
  readonly argv: readonly string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
}

/** Talks to a program by lines. Disposing ends its input, and kills it when it goes on. */
export class Child implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array();
  #at = 0;
  #errors: Promise<void> | undefined;

  /** Bytes so far, also of lines that were not taken yet. */
  received = 0;

  constructor(
    { argv: [program, ...args], env, cwd }: Program,
    { stderr = "null" }: { stderr?: "null" | "piped" } = {},
  ) {
    this.#child = new Deno.Command(program!, {
      args,
      env,
      cwd,
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr,
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#reader = this.#child.stdout.getReader();
  }

  /** Sends text, or a record as a line. */
  async send(record: string | object): Promise<void> {
    const text = typeof record === "string" ? record : JSON.stringify(record) + "\n";
    await this.#writer.write(encoder.encode(text));
  }

  /** Sends a record and takes the next line. */
  async ask(record: string | object): Promise<string> {
    await this.send(record);
    return await this.line();
  }

  /** The next line. Throws when the output has ended. */
  async line(): Promise<string> {
    let line = "";
    for (;;) {
      const end = this.#chunk.indexOf(LF, this.#at);
      const part = this.#chunk.subarray(this.#at, end < 0 ? undefined : end);
      line += decoder.decode(part, { stream: end < 0 });
      this.#at = end + 1;
      if (end >= 0) return line;
      await this.#read();
    }
  }

  /** Passes over this many lines. */
  async skip(count: number): Promise<void> {
    for (let left = count; left > 0;) {
      const end = this.#chunk.indexOf(LF, this.#at);
      if (end < 0) {
        await this.#read();
        continue;
      }
      this.#at = end + 1;
      left--;
    }
  }

  /** Passes over all lines up to the first that has this text, which is ASCII, and over that too. */
  async until(text: string): Promise<void> {
    let tail = "";
    for (;;) {
      const lines = tail + bytewise.decode(this.#chunk.subarray(this.#at));
      const found = lines.indexOf(text);
      if (found >= 0) {
        // The text may begin in the chunk before, the line never ends there.
        const end = lines.indexOf("\n", found);
        if (end < 0) {
          this.#at = this.#chunk.length;
          return await this.skip(1);
        }
        this.#at += end + 1 - tail.length;
        return;
      }
      tail = lines.slice(Math.max(lines.lastIndexOf("\n") + 1, lines.length - text.length));
      await this.#read();
    }
  }

  /** What stderr says that looks like this; the rest of it is thrown away. Only with `stderr: "piped"`. */
  async errorText(pattern: RegExp): Promise<string> {
    const reader = this.#child.stderr.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`the program has ended: ${text}`);
      text += value;
      const found = pattern.exec(text);
      if (found === null) continue;
      this.#errors = drain(reader);
      return found[0];
    }
  }

  /** Processor time so far in ms, of all threads that still run. Linux only; elsewhere 0. */
  async processorTime(): Promise<number> {
    let nanoseconds = 0;
    try {
      const tasks = `/proc/${this.#child.pid}/task`;
      for await (const { name } of Deno.readDir(tasks)) {
        nanoseconds += parseInt(await Deno.readTextFile(`${tasks}/${name}/schedstat`));
      }
    } catch {
      // Another system.
    }
    return nanoseconds / 1e6;
  }

  /** Resident memory in MiB: now, and the most so far. Linux only; elsewhere 0. */
  async memory(): Promise<{ now: number; peak: number }> {
    try {
      const status = await Deno.readTextFile(`/proc/${this.#child.pid}/status`);
      const read = (name: string) =>
        Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
      return { now: read("VmRSS"), peak: read("VmHWM") };
    } catch {
      return { now: 0, peak: 0 };
    }
  }

  async #read(): Promise<void> {
    const { done, value } = await this.#reader.read();
    if (done) throw new Error("the program has ended");
    this.#chunk = value;
    this.received += value.length;
    this.#at = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close().catch(() => {});
    const timer = setTimeout(() => {
      try {
        this.#child.kill("SIGKILL");
      } catch {
        // It has ended.
      }
    }, LAST_MS);
    try {
      while (!(await this.#reader.read()).done);
    } catch {
      // Its output has broken off.
    }
    await this.#errors;
    await this.#child.status;
    clearTimeout(timer);
  }
}

async function drain(reader: ReadableStreamDefaultReader<string>): Promise<void> {
  while (!(await reader.read()).done);
}
