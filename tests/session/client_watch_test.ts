import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { ClientWatch } from "../../src/session/client_watch.ts";

function createWatch() {
  const seen = { watches: 0, working: true };
  const watch = new ClientWatch({
    watch: () => {
      seen.watches++;
      return { [Symbol.dispose]: () => void seen.watches-- };
    },
    isWorking: () => seen.working,
  });
  return { watch, seen };
}

Deno.test("ClientWatch watches when nothing was written for a while, as long as work goes on", () => {
  using time = new FakeTime();
  const { watch, seen } = createWatch();
  watch.workBegins();
  for (let i = 0; i < 10; i++) {
    time.tick(300);
    watch.written();
  }
  assertEquals(seen.watches, 0);
  time.tick(900);
  assertEquals(seen.watches, 1);
  time.tick(5000);
  assertEquals(seen.watches, 1);
  watch.written();
  assertEquals(seen.watches, 0);
  time.tick(900);
  assertEquals(seen.watches, 1);
  seen.working = false;
  time.tick(500);
  assertEquals(seen.watches, 0);
  seen.working = true;
  watch.workBegins();
  time.tick(900);
  assertEquals(seen.watches, 1);
  watch[Symbol.dispose]();
  watch[Symbol.dispose]();
  assertEquals(seen.watches, 0);
});

Deno.test("ClientWatch.start() watches at once", () => {
  const { watch, seen } = createWatch();
  watch.start();
  watch.start();
  watch.written();
  assertEquals(seen.watches, 1);
  watch[Symbol.dispose]();
  assertEquals(seen.watches, 0);
});
