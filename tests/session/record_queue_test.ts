import { assertEquals } from "@std/assert";
import { RecordQueue } from "../../src/session/record_queue.ts";

function createQueue(options: { limit?: number; batchWeight?: number } = {}) {
  const reasons: unknown[] = [];
  const queue = new RecordQueue<string>({
    limit: options.limit ?? 100,
    batchWeight: options.batchWeight ?? 50,
    onCancel: (reason) => reasons.push(reason),
  });
  return { queue, reasons };
}

Deno.test("RecordQueue gives what was pushed in one go as one batch", async () => {
  const { queue } = createQueue();
  const reader = queue.readable.getReader();
  const first = reader.read();
  queue.push("a", 1);
  queue.push("b", 1);
  assertEquals((await first).value, ["a", "b"]);
  queue.push("c", 1);
  queue.close();
  assertEquals((await reader.read()).value, ["c"]);
  assertEquals((await reader.read()).done, true);
});

Deno.test("RecordQueue cuts batches by weight and keeps the order", async () => {
  const { queue } = createQueue();
  for (let i = 0; i < 5; i++) queue.push(String(i), 30);
  queue.close();
  const batches: (readonly string[])[] = [];
  for await (const batch of queue.readable) batches.push(batch);
  assertEquals(batches, [["0", "1"], ["2", "3"], ["4"]]);
});

Deno.test("RecordQueue asks producers to wait beyond its limit until it is read", async () => {
  const { queue } = createQueue({ limit: 100, batchWeight: 60 });
  queue.push("a", 60);
  assertEquals(queue.ready(), undefined);
  queue.push("b", 60);
  let hasRoom = false;
  const room = queue.ready()!.then(() => hasRoom = true);
  await Promise.resolve();
  assertEquals(hasRoom, false);
  const reader = queue.readable.getReader();
  await reader.read();
  await room;
  assertEquals(queue.ready(), undefined);
});

Deno.test("RecordQueue never refuses a record, however full it is", async () => {
  const { queue } = createQueue({ limit: 1 });
  for (let i = 0; i < 1000; i++) queue.push(String(i), 10);
  queue.close();
  let count = 0;
  for await (const batch of queue.readable) count += batch.length;
  assertEquals(count, 1000);
});

Deno.test("RecordQueue tells of a cancel, frees who waits and drops what comes after", async () => {
  const { queue, reasons } = createQueue({ limit: 1 });
  queue.push("a", 10);
  const room = queue.ready();
  await queue.readable.cancel("gone");
  await room;
  queue.push("b", 10);
  assertEquals([reasons, queue.ready()], [["gone"], undefined]);
});

Deno.test("RecordQueue tells of a cancel while a read waits", async () => {
  const { queue, reasons } = createQueue();
  const reader = queue.readable.getReader();
  const waiting = reader.read();
  await reader.cancel("gone");
  assertEquals([(await waiting).done, reasons], [true, ["gone"]]);
});
