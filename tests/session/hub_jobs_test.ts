import { assertEquals, assertStringIncludes } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { textOf } from "../../src/agent/message.ts";
import type { OpenedSession } from "../../src/session/settings.ts";
import { ScriptedModel } from "../fakes/scripted_model.ts";
import { HubBench } from "./_hub_bench.ts";

const START = { calls: [{ id: "c1", name: "start", args: {} }] };
const ANSWER = { text: ["well"] };

function lastText({ requests }: ScriptedModel): string {
  return textOf(requests.at(-1)!.messages.at(-1)!);
}

Deno.test("Hub starts one turn for a job that ended while nothing ran", async () => {
  using time = new FakeTime();
  const model = new ScriptedModel([START, ANSWER, ANSWER]);
  await using bench = await HubBench.open(model);
  await bench.turn("go");
  bench.commands[0]!.text = "built\n";
  bench.commands[0]!.finish();
  await bench.until(() => bench.count("job_change") === 2);
  assertEquals(bench.count("turn_start"), 1);
  await time.tickAsync(1000);
  await bench.until(() => bench.count("settled") === 2);
  assertStringIncludes(lastText(model), "\nbuilt\n");
  await time.tickAsync(10_000);
  assertEquals(bench.count("turn_start"), 2);
});

Deno.test("Hub starts no turn in the session that is being left when a job ends just then", async () => {
  using time = new FakeTime();
  const model = new ScriptedModel([START, ANSWER]);
  const opening = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  await using other = await HubBench.open(new ScriptedModel([]));
  await using bench = await HubBench.open(model, {
    openSession: async (): Promise<OpenedSession> => {
      begun.resolve();
      await opening.promise;
      return await other.hub.settings.openSession();
    },
  });
  await bench.turn("go");
  const created = bench.ask({ type: "new_session" });
  await begun.promise;
  bench.commands[0]!.finish();
  await bench.until(() => bench.count("job_change") === 2);
  await time.tickAsync(5000);
  assertEquals(model.requests.length, 2);
  opening.resolve();
  await created;
  await time.tickAsync(5000);
  assertEquals([model.requests.length, bench.count("turn_start")], [2, 1]);
});

Deno.test("Hub takes ten turns for jobs in a row, then ten more after a prompt", async () => {
  using time = new FakeTime();
  const rounds = Array.from({ length: 11 }, () => [START, ANSWER]).flat();
  await using bench = await HubBench.open(new ScriptedModel([...rounds, ...rounds]));
  let settled = 0;
  for (const prompt of ["one", "two"]) {
    await bench.turn(prompt);
    settled++;
    for (let n = 0; n < 10; n++) {
      bench.commands.at(-1)!.finish();
      await time.tickAsync(1000);
      settled++;
      await bench.until(() => bench.count("settled") === settled);
    }
    bench.commands.at(-1)!.finish();
    await time.tickAsync(5000);
    assertEquals(bench.count("turn_start"), settled);
  }
});

Deno.test("Hub ends although the folder for logs cannot be removed", async () => {
  const bench = await HubBench.open(new ScriptedModel([START, ANSWER]), {
    removeOutput: () => Promise.reject(new Error("busy")),
  });
  await bench.turn("go");
  await bench.ask({ type: "abort" });
  await bench.end();
  const last = bench.events.at(-1)!.event;
  assertEquals(last.type === "session_close" && last.jobsStopped, 1);
});

Deno.test("Hub keeps an earlier session until its last job has ended, then closes it with the notice", async () => {
  const model = new ScriptedModel([START, ANSWER, ANSWER]);
  await using bench = await HubBench.open(model);
  await bench.turn("go");
  const { session: first } = bench.hub;
  await bench.ask({ type: "new_session" });
  await bench.turn("hello");
  assertEquals(model.requests.at(-1)!.messages.length, 1);
  const command = bench.commands[0]!;
  command.finish();
  await bench.until(() => bench.count("job_change") === 2);
  await bench.end();
  const last = first.transcript.messages.at(-1)!.message;
  assertEquals(last.role === "user" && last.internal, "job_notice");
  assertEquals(bench.hub.session.transcript.messages.length, 2);
});
