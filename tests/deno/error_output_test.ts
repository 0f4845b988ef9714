import { assertEquals } from "@std/assert";
import { ErrorOutput, type ErrorSink } from "../../src/deno/error_output.ts";

/** A pipe that takes `room` bytes until somebody reads. */
class Pipe implements ErrorSink {
  text = "";
  room: number;
  #readers: (() => void)[] = [];

  constructor(room: number) {
    this.room = room;
  }

  writeSync(bytes: Uint8Array): number {
    if (bytes.length > this.room) throw new Error("this write would wait for ever");
    return this.#take(bytes);
  }

  async write(bytes: Uint8Array): Promise<number> {
    if (this.room === 0) await new Promise<void>((resolve) => this.#readers.push(resolve));
    return this.#take(bytes);
  }

  read(room: number): void {
    this.room = room;
    for (const wake of this.#readers.splice(0)) wake();
  }

  #take(bytes: Uint8Array): number {
    const taken = bytes.subarray(0, Math.min(this.room, 1000));
    this.room -= taken.length;
    this.text += new TextDecoder().decode(taken);
    return taken.length;
  }
}

Deno.test("ErrorOutput writes the first lines at once", () => {
  const pipe = new Pipe(16_384);
  const output = new ErrorOutput(pipe);
  output.write("x".repeat(5000) + "\n");
  output.write("two\n");
  assertEquals(pipe.text, "x".repeat(5000) + "\ntwo\n");
});

Deno.test("ErrorOutput goes on when nobody reads, and loses nothing to a reader who comes", async () => {
  const pipe = new Pipe(16_384);
  const output = new ErrorOutput(pipe);
  const lines = Array.from({ length: 3000 }, (_, i) => `line ${i}\n`);
  for (const line of lines) output.write(line);
  await output.settle();
  assertEquals(pipe.text.length, 16_384);
  pipe.read(Infinity);
  await output.settle();
  assertEquals(pipe.text, lines.join(""));
});

Deno.test("ErrorOutput keeps no more than a reader may ask for", async () => {
  const pipe = new Pipe(16_384);
  const output = new ErrorOutput(pipe);
  for (let i = 0; i < 5000; i++) output.write("x".repeat(999) + "\n");
  pipe.read(Infinity);
  await output.settle();
  assertEquals(pipe.text.length < 1_100_000, true);
  const before = pipe.text.length;
  output.write("later\n");
  await output.settle();
  assertEquals(pipe.text.slice(before), "later\n");
});

Deno.test("ErrorOutput is silent when there is nobody at all", async () => {
  const broken = () => {
    throw new Error("broken pipe");
  };
  const output = new ErrorOutput({ writeSync: broken, write: () => Promise.reject(broken) });
  output.write("one\n");
  output.write("x".repeat(20_000));
  await output.settle();
  output.write("two\n");
  await output.settle();
});

Deno.test("ErrorOutput takes the bytes as they were", async () => {
  const pipe = new Pipe(0);
  const output = new ErrorOutput(pipe);
  const bytes = new TextEncoder().encode("x".repeat(20_000));
  output.writeBytes(bytes);
  bytes.fill(0);
  pipe.read(Infinity);
  await output.settle();
  assertEquals(pipe.text, "x".repeat(20_000));
});
