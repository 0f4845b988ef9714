import { assert, assertEquals } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { startWeir } from "../fakes/weir_process.ts";
import { createRandom, rounds } from "./_rounds.ts";

/** All user texts that the endpoint was sent in its last request, in order. */
function userTexts(messages: readonly unknown[]): string[] {
  return (messages as { role: string; content: unknown }[])
    .filter((message) => message.role === "user")
    .map((message) => String(message.content));
}

Deno.test("messages that come at the very end of a turn are read once, or given back", async () => {
  const { below, random } = createRandom();
  await using server = await startModelServer();
  server.answer(() => ({ text: "fine" }));
  await using place = await prepareHome({ server });
  await using weir = await startWeir({
    args: ["--mode", "rpc", place.workspace],
    home: place.home,
    timeoutMs: 30_000,
  });
  const accepted = new Set<string>();
  const returned: string[] = [];
  let name = 0;
  const say = async (
    type: "prompt" | "steer" | "follow_up",
    fields: Record<string, unknown> = {},
  ) => {
    const message = `m${name++}`;
    const answer = await weir.request({ type, message, ...fields });
    if (answer.success) accepted.add(message);
  };
  for (let round = 0; round < rounds(60); round++) {
    const commands: Promise<void>[] = [say("prompt", { streamingBehavior: "steer" })];
    const count = 1 + below(4);
    for (let i = 0; i < count; i++) {
      // Anything from the same write to some milliseconds later, around the time that a turn takes.
      if (random() < 0.7) await new Promise((resolve) => setTimeout(resolve, random() * 6));
      const choice = random();
      if (choice < 0.35) commands.push(say("steer"));
      else if (choice < 0.7) commands.push(say("follow_up"));
      else if (choice < 0.85) commands.push(say("prompt", { streamingBehavior: "followUp" }));
      else {
        commands.push(
          weir.request({ type: "clear_queue" }).then(({ data }) => {
            const { steering, followUp } = data as { steering: string[]; followUp: string[] };
            returned.push(...steering, ...followUp);
          }),
        );
      }
    }
    await Promise.all(commands);
  }
  await idle(weir);
  const sent = userTexts(server.requests.at(-1)!.messages as unknown[]);
  assertEquals(new Set(sent).size, sent.length, "a message was read twice");
  const seen = [...sent, ...returned];
  assertEquals(seen.toSorted(), [...accepted].toSorted());
  assertEquals(server.complaints, []);
});

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
