import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Line, LINE_TOO_LONG, LineStream } from "../../src/wire/line_stream.ts";

async function split(chunks: readonly string[], maxLength = 1000): Promise<(readonly Line[])[]> {
  const batches: (readonly Line[])[] = [];
  const lines = ReadableStream.from(chunks).pipeThrough(new LineStream({ maxLength }));
  for await (const batch of lines) batches.push(batch);
  return batches;
}

Deno.test("LineStream gives the same lines wherever the text is cut", async () => {
  const text = 'a\r\n\n{"x":"\u2028\u2029\u0085"}\n\rb\rc\r\r\nlast';
  const expected = ["a", "", '{"x":"\u2028\u2029\u0085"}', "\rb\rc\r", "last"];
  for (let first = 0; first <= text.length; first++) {
    for (const second of [first, first + 1, text.length - 1]) {
      const cut = Math.min(Math.max(first, second), text.length);
      const chunks = [text.slice(0, first), text.slice(first, cut), text.slice(cut)];
      assertEquals((await split(chunks)).flat(), expected, `cut at ${first} and ${cut}`);
    }
  }
});

Deno.test("LineStream keeps the lines of one chunk together", async () => {
  assertEquals(await split(["a\nb\nc", "d\n", "e"]), [["a", "b"], ["cd"], ["e"]]);
});

Deno.test("LineStream gives nothing for an empty input and no line after a last LF", async () => {
  assertEquals(await split([]), []);
  assertEquals(await split(["a\n"]), [["a"]]);
});

Deno.test("LineStream counts the bytes of UTF-8 and not the CR before the LF", async () => {
  assertEquals((await split(["123456789é\r\n"], 11)).flat(), ["123456789é"]);
  assertEquals((await split(["123456789é\n"], 10)).flat(), [LINE_TOO_LONG]);
  assertEquals((await split(["😀😀\n"], 8)).flat(), ["😀😀"]);
  assertEquals((await split(["😀😀\n"], 7)).flat(), [LINE_TOO_LONG]);
});

Deno.test("LineStream reports a line that is too long once, skips it, and goes on", async () => {
  const long = "x".repeat(300);
  assertEquals((await split([long, long, `${long}\nnext\n`], 500)).flat(), [LINE_TOO_LONG, "next"]);
  assertEquals((await split([long, long, long], 500)).flat(), [LINE_TOO_LONG]);
});

Deno.test("LineStream reports an endless line before it has ended", async () => {
  const stream = new LineStream({ maxLength: 100 });
  const writer = stream.writable.getWriter();
  const reader = stream.readable.getReader();
  const first = reader.read();
  await writer.write("x".repeat(60));
  await writer.write("x".repeat(60));
  assertEquals((await first).value, [LINE_TOO_LONG]);
  await reader.cancel();
  await writer.abort().catch(() => {});
});

Deno.test("LineStream pulls only a few chunks while nobody reads", async () => {
  let pulled = 0;
  const source = new ReadableStream<string>({
    pull: (controller) => {
      pulled++;
      controller.enqueue("line\n");
    },
  });
  const lines = source.pipeThrough(new LineStream({ maxLength: 100 }));
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve, 0));
  assert(pulled < 5, `pulled ${pulled}`);
  await lines.cancel();
});

Deno.test("LineStream hands a cancel to an idle source, with its reason", async () => {
  const reason = new Error("gone");
  let seen: unknown;
  const source = new ReadableStream<string>({ cancel: (given) => void (seen = given) });
  await source.pipeThrough(new LineStream({ maxLength: 100 })).cancel(reason);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(seen, reason);
});

Deno.test("LineStream hands on the error of its source", async () => {
  const source = new ReadableStream<string>({
    start: (controller) => controller.error(new Error("broken")),
  });
  const reader = source.pipeThrough(new LineStream({ maxLength: 100 })).getReader();
  await assertRejects(() => reader.read(), Error, "broken");
});
