import { assertEquals, assertRejects } from "@std/assert";
import { EventChannel } from "../../src/wire/event_channel.ts";

async function collect<Event>(events: AsyncIterable<Event>): Promise<Event[]> {
  const seen: Event[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

Deno.test("EventChannel.read() gives what is sent from then on, to each reader", async () => {
  const channel = new EventChannel<number>();
  channel.send(1);
  const first = channel.read();
  channel.send(2);
  const second = channel.read();
  channel.send(3);
  channel.close();
  assertEquals(await collect(first), [2, 3]);
  assertEquals(await collect(second), [3]);
  assertEquals(await collect(channel.read()), []);
});

Deno.test("EventChannel gives events in order to reads that wait and reads that do not", async () => {
  const channel = new EventChannel<number>();
  const reader = channel.read();
  const waiting = [reader.next(), reader.next(), reader.next()];
  channel.send(1);
  channel.send(2);
  channel.close();
  assertEquals(await Promise.all(waiting), [
    { done: false, value: 1 },
    { done: false, value: 2 },
    { done: true, value: undefined },
  ]);
});

Deno.test("EventChannel.close() with an error fails each reader once, after what it has", async () => {
  const channel = new EventChannel<number>();
  const reader = channel.read();
  const waiting = channel.read();
  const next = waiting.next();
  channel.send(1);
  channel.close(new Error("gone"));
  channel.close();
  await next;
  assertEquals((await reader.next()).value, 1);
  await assertRejects(() => reader.next(), Error, "gone");
  assertEquals((await reader.next()).done, true);
  await assertRejects(() => waiting.next(), Error, "gone");
  await assertRejects(() => channel.read().next(), Error, "gone");
});

Deno.test("EventReader keeps nothing once its loop is left", async () => {
  const channel = new EventChannel<number>();
  const reader = channel.read();
  channel.send(1);
  channel.send(2);
  for await (const event of reader) {
    assertEquals(event, 1);
    break;
  }
  channel.send(3);
  assertEquals(await reader.next(), { done: true, value: undefined });
  using disposed = channel.read();
  const next = disposed.next();
  disposed[Symbol.dispose]();
  assertEquals((await next).done, true);
});

Deno.test("EventReader gives a long queue in order", async () => {
  const channel = new EventChannel<number>();
  const reader = channel.read();
  for (let i = 0; i < 50_000; i++) channel.send(i);
  channel.close();
  const all = await collect(reader);
  assertEquals([all.length, all[1023], all[1024], all.at(-1)], [50_000, 1023, 1024, 49_999]);
});
