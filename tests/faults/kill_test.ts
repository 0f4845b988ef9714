import { assert, assertEquals } from "@std/assert";
import { type ModelServer, startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { startWeir, type WeirProcess, type WireRecord } from "../fakes/weir_process.ts";
import { createRandom, rounds } from "./_rounds.ts";

/** The ids of stored messages that records have told of. */
function toldIds(records: readonly WireRecord[]): string[] {
  return records.filter((record) => record.type === "assistant").map((record) => String(record.id));
}

function scriptTurns(server: ModelServer): void {
  server.answer((_request, n) => {
    switch (n % 4) {
      case 0:
        return {
          text: ["working ", "on ", "it"],
          toolCalls: [{ name: "bash", args: { command: "echo one; sleep 0.05; echo two" } }, {
            name: "ls",
            args: {},
          }],
        };
      case 1:
        return {
          toolCalls: [{ name: "bash", args: { command: "sleep 30 & echo left" } }, {
            name: "write",
            args: { path: "out.txt", content: "x".repeat(2000) },
          }],
        };
      case 2:
        return { toolCalls: [{ name: "bash", args: { command: "sleep 5", background: true } }] };
      default:
        return { text: Array.from({ length: 40 }, (_, i) => `piece ${i} `), pieceDelayMs: 1 };
    }
  });
}

Deno.test("a session survives SIGKILL at any moment", async () => {
  const { random } = createRandom();
  await using server = await startModelServer();
  scriptTurns(server);
  await using place = await prepareHome({ server });
  const args = ["--mode", "rpc", "--yolo", "--session-id", "killed", place.workspace];
  const told = new Set<string>();
  let stored: string[] = [];
  const open = () => startWeir({ args, home: place.home, timeoutMs: 20_000 });
  const check = async (weir: WeirProcess) => {
    const { data } = await weir.request({ type: "get_messages" });
    const messages = (data as {
      messages: {
        type: string;
        data: { id: string; tool_call_id?: string; tool_calls?: { id: string }[] };
      }[];
    }).messages;
    const ids = messages.map((message) => message.data.id);
    assertEquals(new Set(ids).size, ids.length, "a message is there twice");
    for (const id of told) assert(ids.includes(id), `message ${id} was told of and is gone`);
    assertEquals(ids.slice(0, stored.length), stored, "what was stored has changed");
    const calls = messages.flatMap((message) =>
      message.data.tool_calls?.map((call) => call.id) ?? []
    );
    const results = messages.flatMap((message) => message.data.tool_call_id ?? []);
    assertEquals(results.toSorted(), calls.toSorted(), "calls and results are not paired");
    stored = ids;
  };
  for (let round = 0; round < rounds(8); round++) {
    await using weir = await open();
    await check(weir);
    await weir.request({ type: "prompt", message: `round ${round}` });
    await new Promise((resolve) => setTimeout(resolve, random() * 250));
    weir.kill("SIGKILL");
    await weir.exit;
    for (const id of toldIds(weir.records)) told.add(id);
  }
  await using last = await open();
  await check(last);
  server.answer(() => ({ text: "still here" }));
  await last.request({ type: "prompt", message: "are you there?" });
  const end = await last.settled();
  assertEquals(end.find((record) => record.type === "turn_end")?.answer, "still here");
  assertEquals(server.complaints, []);
  last.closeInput();
  assertEquals((await last.exit).code, 0);
});
