import { assert, assertEquals } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { startWeir } from "../fakes/weir_process.ts";
import { DIALECTS } from "./_drive.ts";
import { createRandom, rounds } from "./_rounds.ts";
import { startTalker } from "./_talker.ts";

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** All user texts that the endpoint was sent in its last request, in order. */
function userTexts(messages: readonly unknown[]): string[] {
  return (messages as { role: string; content: unknown }[])
    .filter((message) => message.role === "user")
    .map((message) => String(message.content));
}

for (const dialect of DIALECTS) {
  for (const withStops of [false, true]) {
    const what = withStops ? "and stops that come with them" : "and what takes them back";
    Deno.test(`${dialect}: messages at the very end of a turn, ${what}: each is read once or not at all`, async () => {
      const { below, random } = createRandom();
      await using server = await startModelServer();
      server.answer(() => ({ text: "fine" }));
      // Each turn adds to the conversation, which is not what is looked at.
      await using home = await prepareHome({ server, contextWindow: 100_000_000 });
      await using talker = await startTalker(dialect, home);
      let name = 0;
      let turnMs = 5;
      for (let round = 0; round < rounds(20); round++) {
        const start = performance.now();
        const commands = [talker.say("prompt", `m${name++}`)];
        const count = 1 + below(4);
        for (let i = 0; i < count; i++) {
          // Anything from the same write to some time after the turn.
          if (random() < 0.7) await pause(random() * turnMs * 1.5 / count);
          const choice = random();
          if (choice < 0.8) {
            const way = talker.ways[below(talker.ways.length)]!;
            commands.push(talker.say(way, `m${name++}`));
          } else if (withStops) {
            const isOne = dialect === "acp" && random() < 0.4;
            commands.push(isOne ? talker.takeBack() : talker.stop());
            if (random() < 0.5) commands.push(talker.stop());
            if (random() < 0.5) commands.push(talker.say("prompt", `m${name++}`));
          } else if (dialect !== "acp") {
            commands.push(talker.takeBack());
          }
        }
        await Promise.all(commands);
        await talker.idle();
        turnMs = turnMs * 0.9 + Math.min(performance.now() - start, 50) * 0.1;
        // The last request holds the whole conversation.
        server.requests.splice(0, server.requests.length - 1);
      }
      await talker.say("prompt", "the end");
      await talker.idle();
      const sent = userTexts(server.requests.at(-1)!.messages);
      const { must, may, not } = talker.fates;
      assertEquals(sent.filter((text, at) => sent.indexOf(text) !== at), [], "read twice");
      assertEquals([...must].filter((text) => !sent.includes(text)), [], "lost");
      assertEquals(sent.filter((text) => !must.has(text) && !may.has(text)), [], "not taken");
      assertEquals(sent.filter((text) => not.has(text)), [], "given back and read");
      assert(must.size > 0);
      assertEquals(server.complaints, []);
      await talker.weir.closeInput();
      assertEquals((await talker.weir.waitForExit()).code, 0, talker.weir.stderr);
    });
  }
}

Deno.test("an abort at the very end of a turn is answered, also twice, and a prompt right after it works", async () => {
  const { random } = createRandom();
  await using server = await startModelServer();
  server.answer(() => ({ text: "fine" }));
  await using place = await prepareHome({ server });
  await using weir = await startWeir({
    args: ["--mode", "rpc", place.workspace],
    home: place.home,
  });
  for (let round = 0; round < rounds(40); round++) {
    const first = weir.request({ type: "prompt", message: "go" });
    await new Promise((resolve) => setTimeout(resolve, random() * 8));
    const [started, one, two, next] = await Promise.all([
      first,
      weir.request({ type: "abort" }),
      weir.request({ type: "abort" }),
      weir.request({ type: "prompt", message: "again" }),
    ]);
    assertEquals([started, one, two, next].map((answer) => answer.success), [
      true,
      true,
      true,
      true,
    ]);
    assertEquals((next.data as { disposition: string }).disposition, "started");
    await idle(weir);
  }
  const ends = weir.records.filter((record) => record.type === "turn_end").length;
  const starts = weir.records.filter((record) => record.type === "turn_start").length;
  assertEquals(ends, starts);
  const settled = weir.records.filter((record) => record.type === "agent_settled").length;
  assert(settled >= rounds(40));
});

async function idle(
  weir: { request(command: Record<string, unknown>): Promise<Record<string, unknown>> },
): Promise<void> {
  while (true) {
    const { data } = await weir.request({ type: "get_state" });
    const { isStreaming, pendingMessageCount } = data as {
      isStreaming: boolean;
      pendingMessageCount: number;
    };
    if (!isStreaming && pendingMessageCount === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
