import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { PendingCalls, type SentCall } from "../../src/wire/pending_calls.ts";

function create() {
  const sent: SentCall[] = [];
  const calls = new PendingCalls({ send: (call) => sent.push(call) });
  const stopper = new AbortController();
  const call = (timeoutMs?: number) =>
    calls.call("ask", { x: 1 }, { signal: stopper.signal, timeoutMs });
  return { sent, calls, stopper, call };
}

Deno.test("PendingCalls sends a request with an id that was never used, and settles it by its answer", async () => {
  const { sent, calls, call } = create();
  const [one, two] = [call(), call()];
  assertEquals(sent, [
    { id: 1, method: "ask", params: { x: 1 } },
    { id: 2, method: "ask", params: { x: 1 } },
  ]);
  calls.settle(2, { kind: "error", code: 5, message: "no" });
  calls.settle(1, { kind: "result", value: "yes" });
  assertEquals(await one.outcome, { kind: "result", value: "yes" });
  assertEquals(await two.outcome, { kind: "error", code: 5, message: "no" });
  assertEquals(call().id, 3);
});

Deno.test("PendingCalls drops an answer that nobody waits for", async () => {
  const { calls, call } = create();
  const { outcome } = call();
  calls.settle("1", { kind: "result", value: "of another type" });
  calls.settle(7, { kind: "result", value: "of another call" });
  assertEquals([calls.has(1), calls.has("1"), calls.has(7)], [true, false, false]);
  calls.settle(1, { kind: "result", value: "first" });
  calls.settle(1, { kind: "result", value: "second" });
  assertEquals(await outcome, { kind: "result", value: "first" });
  assertEquals(calls.has(1), false);
});

Deno.test("PendingCalls gives up after the time of a call", async () => {
  using time = new FakeTime();
  const { calls, call } = create();
  const { outcome } = call(1000);
  await time.tickAsync(999);
  assertEquals(calls.has(1), true);
  await time.tickAsync(1);
  assertEquals(await outcome, { kind: "timeout" });
  calls.settle(1, { kind: "result", value: "late" });
});

Deno.test("PendingCalls ends with the signal, and sends nothing for one that is aborted", async () => {
  const { sent, call, stopper } = create();
  const { outcome } = call(1000);
  stopper.abort();
  assertEquals(await outcome, { kind: "aborted" });
  assertEquals(await call().outcome, { kind: "aborted" });
  assertEquals(sent.length, 1);
});

Deno.test("PendingCalls settles everything when the connection closes", async () => {
  const { sent, calls, call } = create();
  const outcomes = [call().outcome, call(1000).outcome];
  calls.close();
  calls.close();
  assertEquals(await Promise.all(outcomes), [{ kind: "closed" }, { kind: "closed" }]);
  assertEquals(await call().outcome, { kind: "closed" });
  assertEquals(sent.length, 2);
});
