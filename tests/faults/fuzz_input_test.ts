import { assert, assertEquals } from "@std/assert";
import { prepareHome } from "../fakes/prepare_home.ts";
import { startWeir } from "../fakes/weir_process.ts";
import { createRandom, rounds } from "./_rounds.ts";

const COMMANDS = [
  "get_state",
  "get_messages",
  "get_last_assistant_text",
  "get_session_stats",
  "set_session_name",
  "set_thinking_level",
  "set_event_detail",
  "clear_queue",
  "list_jobs",
  "stop_job",
  "background",
  "abort",
  "fly",
  "__proto__",
  "constructor",
  "toString",
];
const VALUES = [
  "null",
  "0",
  "-1e999",
  "1e308",
  '""',
  '"\\ud800"',
  '"\\u0000"',
  "[]",
  "{}",
  "[[[[]]]]",
  "true",
  '{"__proto__":{"type":"abort"}}',
  '"high"',
  '"full"',
  '"name"',
  '"😀"',
];

Deno.test("the circle dialect answers every line, whatever it is, in order", async () => {
  const { below, random } = createRandom();
  await using place = await prepareHome();
  await using weir = await startWeir({
    args: ["--mode", "rpc", "--dialect", "circle", place.workspace],
    home: place.home,
    timeoutMs: 60_000,
  });
  const pick = <T>(values: readonly T[]): T => values[below(values.length)]!;
  const line = (n: number): string => {
    const fields = [`"id":${n}`];
    if (random() < 0.95) fields.push(`"type":${JSON.stringify(pick(COMMANDS))}`);
    for (
      const name of ["message", "name", "level", "detail", "jobId", "type", "__proto__", "extra"]
    ) {
      if (random() < 0.15) fields.push(`${JSON.stringify(name)}:${pick(VALUES)}`);
    }
    const text = `{${fields.join(",")}}`;
    const mutation = random();
    if (mutation < 0.1) return text.slice(0, below(text.length));
    if (mutation < 0.15) return text + pick(["x", "}", "\u0000", "\u2028", '{"id":1}']);
    if (mutation < 0.2) {
      return pick(["null", "[1]", "42", '"x"', "\ufeff{}", "\u0000", "\ud800", "{", "nul"]);
    }
    if (mutation < 0.23) {
      return `{"id":${"[".repeat(10_000)}${"]".repeat(10_000)},"type":"get_state"}`;
    }
    if (mutation < 0.26) return pick(["", " ", "\t", "\r", "\u2028"]);
    return text + (random() < 0.2 ? "\r" : "");
  };
  const total = rounds(4000);
  let answers = 0;
  const block: string[] = [];
  for (let sent = 0; sent < total;) {
    block.length = 0;
    for (let i = 0; i < 200 && sent < total; i++, sent++) {
      const text = line(sent);
      block.push(text);
      if (text.trim() !== "") answers++;
    }
    await sendInPieces(block.join("\n") + "\n", { below, send: (bytes) => weir.sendRaw(bytes) });
  }
  const end = await weir.request({ id: "the end", type: "get_state" });
  assertEquals(end.success, true);
  const responses = weir.records.filter((record) => record.type === "response");
  assertEquals(responses.length, answers + 1);
  assert(
    responses.every((record) =>
      ("data" in record) !== ("error" in record) || record.success === true
    ),
  );
  weir.closeInput();
  assertEquals((await weir.exit).code, 0);
});

/** Writes the text as bytes, cut anywhere, also inside a character. */
async function sendInPieces(
  text: string,
  { below, send }: {
    below: (n: number) => number;
    send: (bytes: Uint8Array) => Promise<void> | void;
  },
): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let start = 0; start < bytes.length;) {
    const end = start + 1 + below(3000);
    await send(bytes.subarray(start, end));
    start = end;
  }
}
