import { assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { StartError } from "../../src/errors.ts";
import { readStdin } from "../../src/print/read_stdin.ts";

const { signal } = new AbortController();

function streamOf(...chunks: readonly number[][]): ReadableStream<Uint8Array> {
  return ReadableStream.from(chunks.map((chunk) => new Uint8Array(chunk)));
}

Deno.test("readStdin() reads text to its end, whatever its chunks", async () => {
  const bytes = [...new TextEncoder().encode("\ufeffa€😀\r\n")];
  for (let cut = 0; cut <= bytes.length; cut++) {
    const stdin = streamOf(bytes.slice(0, cut), bytes.slice(cut));
    assertEquals(await readStdin(stdin, { firstByteMs: 3000, signal }), "a€😀\r\n");
  }
  assertEquals(await readStdin(streamOf([97, 255]), { firstByteMs: undefined, signal }), "a\ufffd");
  assertEquals(await readStdin(streamOf(), { firstByteMs: undefined, signal }), "");
});

Deno.test("readStdin() takes a read error for the end", async () => {
  const stdin = new ReadableStream<Uint8Array>({ pull: (to) => to.error(new Error("bad pipe")) });
  assertEquals(await readStdin(stdin, { firstByteMs: 3000, signal }), "");
});

Deno.test("readStdin() gives up only when the first byte is late", async () => {
  using time = new FakeTime();
  const silent = readStdin(new ReadableStream(), { firstByteMs: 3000, signal });
  let send = (_bytes: number[]) => {};
  let close = () => {};
  const slow = new ReadableStream<Uint8Array>({
    start(controller) {
      send = (bytes) => controller.enqueue(new Uint8Array(bytes));
      close = () => controller.close();
    },
  });
  const begun = readStdin(slow, { firstByteMs: 3000, signal });
  await time.tickAsync(2999);
  send([97]);
  await time.tickAsync(10_000);
  assertEquals(await silent, undefined);
  send([98]);
  close();
  assertEquals(await begun, "ab");
});

Deno.test("readStdin() throws the reason of an abort, before and while it waits", async () => {
  const reason = new Error("stopped");
  let cancelled = false;
  const stdin = new ReadableStream<Uint8Array>({ cancel: () => void (cancelled = true) });
  const controller = new AbortController();
  const waiting = readStdin(stdin, { firstByteMs: undefined, signal: controller.signal });
  controller.abort(reason);
  await assertRejects(() => waiting, Error, "stopped");
  assertEquals(cancelled, true);
  const again = readStdin(new ReadableStream(), { firstByteMs: 10, signal: controller.signal });
  await assertRejects(() => again, Error, "stopped");
});

Deno.test("readStdin() refuses more than 64 MiB without holding more", async () => {
  const chunk = new Uint8Array(8 * 1024 * 1024).fill(97);
  let pulled = 0;
  const stdin = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pulled++;
      controller.enqueue(chunk);
    },
  }, { highWaterMark: 0 });
  await assertRejects(
    () => readStdin(stdin, { firstByteMs: undefined, signal }),
    StartError,
    "standard input is longer than 64 MiB; pipe in less",
  );
  assertEquals(pulled, 9);
});
