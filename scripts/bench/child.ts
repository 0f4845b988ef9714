// A child process under measurement: lines in, lines out, and what it costs.

/** What a program may take to end by itself. Deno keeps the code that it has compiled only then. */
const LAST_MS = 2000;

/** Talks to a program by lines. Disposing ends its input, and kills it when it goes on. */
export class Child implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<string>;
  #rest = "";
  #lines: string[] = [];

  /** Characters of all lines so far, with their ends. */
  size = 0;

  constructor(
    argv: readonly string[],
    options: { env?: Record<string, string>; cwd?: string } = {},
  ) {
    const [program, ...args] = argv;
    this.#child = new Deno.Command(program!, {
      args,
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
      ...(options.env === undefined ? {} : { env: options.env }),
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#reader = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  async send(text: string): Promise<void> {
    await this.#writer.write(new TextEncoder().encode(text));
  }

  /** The next line. Throws when the output has ended. */
  async line(): Promise<string> {
    while (this.#lines.length === 0) {
      const { done, value } = await this.#reader.read();
      if (done) throw new Error("the program has ended");
      const lines = (this.#rest + value).split("\n");
      this.#rest = lines.pop()!;
      // Reversed, so that taking the next one is cheap.
      this.#lines = lines.reverse();
    }
    const line = this.#lines.pop()!;
    this.size += line.length + 1;
    return line;
  }

  /** Reads lines until one contains the text; returns how many there were. */
  async until(text: string): Promise<number> {
    for (let count = 1;; count++) if ((await this.line()).includes(text)) return count;
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
    await this.#child.status;
    clearTimeout(timer);
  }
}
