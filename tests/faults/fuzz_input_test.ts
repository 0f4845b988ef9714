import { assert, assertEquals } from "@std/assert";
import { encodeJson } from "../../src/wire/encode_json.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import { startWeir, type WeirProcess, type WireRecord } from "../fakes/weir_process.ts";
import { type DialectName, DIALECTS } from "./_drive.ts";
import { createRandom, rounds } from "./_rounds.ts";

type Random = ReturnType<typeof createRandom>;

const STRANGE = ["fly", "__proto__", "constructor", "toString", ""];
const COMMANDS: Record<DialectName, readonly string[]> = {
  circle: [
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
  ],
  nimlet: ["get_state", "interrupt", "clear_queue", "steer", "follow_up", "prompt"],
  pi: [
    "get_state",
    "get_messages",
    "get_entries",
    "get_tree",
    "get_session_stats",
    "set_session_name",
    "set_thinking_level",
    "set_model",
    "fork",
    "switch_session",
    "get_fork_messages",
    "bash",
    "abort_bash",
    "abort",
    "extension_ui_response",
  ],
  acp: [
    "session/list",
    "session/cancel",
    "session/prompt",
    "session/load",
    "session/set_mode",
    "authenticate",
    "initialize",
  ],
};
/** Fields that commands read, and some that none does. Whatever they hold starts nothing. */
const FIELDS = [
  ...["name", "level", "detail", "jobId", "sessionPath", "entryId", "since", "provider", "params"],
  ...["type", "method", "id", "jsonrpc", "result", "error", "__proto__", "constructor", "extra"],
];
const VALUES = [
  "null",
  "0",
  "-1e999",
  "1e308",
  "9".repeat(400),
  "12345678901234567890",
  '""',
  '"\\ud800"',
  '"\\udc00x"',
  '"\\u0000"',
  "[]",
  "{}",
  "[[[[]]]]",
  "true",
  '{"__proto__":{"type":"abort"}}',
  '{"sessionId":5,"prompt":"x"}',
  '"high"',
  '"full"',
  '"name"',
  '"😀"',
  '"\u2028"',
  `${"[".repeat(10_000)}${"]".repeat(10_000)}`,
  `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
];

const GET_STATE: Record<DialectName, string> = {
  circle: '"type":"get_state"',
  nimlet: '"type":"get_state"',
  pi: '"type":"get_state"',
  acp: '"jsonrpc":"2.0","method":"fly"',
};

for (const dialect of DIALECTS) {
  Deno.test(`the ${dialect} dialect answers every line once, whatever it is`, async () => {
    const chance = createRandom();
    await using place = await prepareHome();
    await using weir = await start(dialect, place);
    const total = rounds(3000);
    let answers = 0;
    let memory = 0;
    /** The lines whose answer can be told from all others. */
    const named = new Set<string>();
    for (let sent = 0; sent < total;) {
      const block: string[] = [];
      for (let i = 0; i < 200 && sent < total; i++, sent++) {
        const id = dialect === "acp" ? String(1000 + sent) : `"${sent}"`;
        const text = createLine(dialect, id, chance);
        block.push(text);
        if (!isAnswered(dialect, text)) continue;
        answers++;
        if (carriesId(dialect, text, id)) named.add(id);
      }
      await sendInPieces(block.join("\n") + "\n", { weir, chance });
      // Blocks are answered before the next one, so that the memory is that of the program and not of a queue.
      await last(dialect, weir, sent);
      answers++;
      if (sent <= total / 2) memory = residentMiB(weir.pid);
    }
    const responses = responsesIn(dialect, weir.records);
    assertEquals(responses.length, answers);
    for (const { id } of responses) {
      const text = JSON.stringify(id);
      if (isOwnId(dialect, text)) {
        assert(named.delete(text), `${text} is answered twice or falsely`);
      }
    }
    assertEquals([...named], [], "lines without an answer of their own");
    // Half of the lines cost nothing that stays.
    const end = residentMiB(weir.pid);
    assert(end < memory * 1.5 + 40, `${memory} MiB grew to ${end}`);
    await weir.closeInput();
    assertEquals((await weir.waitForExit()).code, 0, weir.stderr);
  });

  Deno.test(`the ${dialect} dialect takes a line of 64 MiB, refuses a longer one, and skips an endless one`, async () => {
    await using place = await prepareHome();
    await using weir = await start(dialect, place);
    const limit = 64 * 1024 * 1024;
    const padded = (length: number) => {
      const first = `{"id":"long",${GET_STATE[dialect]},"x":"`;
      return first + "x".repeat(length - first.length - 2) + '"}';
    };
    await weir.sendRaw(padded(limit) + "\n");
    const whole = await last(dialect, weir, 1);
    assert(JSON.stringify(whole[0]).includes('"long"'), "the line of 64 MiB was not taken");
    await weir.sendRaw(padded(limit + 1) + "\n");
    const refusal = (record: WireRecord | undefined) => {
      const text = JSON.stringify(record);
      assert(dialect === "circle" ? /"success":false/.test(text) : /64 MiB/.test(text), text);
    };
    refusal((await last(dialect, weir, 2))[0]);
    const block = new Uint8Array(1024 * 1024).fill(120);
    for (let i = 0; i < 200; i++) await weir.sendRaw(block);
    await weir.sendRaw("\n");
    refusal((await last(dialect, weir, 3))[0]);
    if (Deno.build.os === "linux") {
      const status = await Deno.readTextFile(`/proc/${weir.pid}/status`);
      const peak = Number(/VmHWM:\s+(\d+)/.exec(status)![1]) / 1024;
      assert(peak < 700, `${peak} MiB at the most`);
    }
    await weir.closeInput();
    assertEquals((await weir.waitForExit()).code, 0, weir.stderr);
  });

  Deno.test(`the ${dialect} dialect gives ids back as they were written`, async () => {
    await using place = await prepareHome();
    await using weir = await start(dialect, place);
    const deep = "[".repeat(10_000) + "]".repeat(10_000);
    const texts = ['"\\ud800"', '"\\u0000"', '"__proto__"', '""', '"\u2028"', '"é𝄞"'];
    const numbers = ["0", "-0", "1.5", "1e400", "1e-400", "9".repeat(400), "12345678901234567890"];
    const others = ['{"__proto__":1e400,"constructor":[0.10]}', "[]", "true", deep];
    const legal = dialect === "nimlet" ? texts : [...texts, ...numbers, ...others];
    for (const id of legal) await weir.sendRaw(`{"id":7,${GET_STATE[dialect]},"id":${id}}\n`);
    const answered = await last(dialect, weir, 1);
    // What cannot be given back exactly is refused with null.
    const cannot = ["1e400", "9".repeat(400), "12345678901234567890", ...others];
    const wanted = legal.map((id) => dialect === "acp" && cannot.includes(id) ? "null" : id);
    assertEquals(answered.length, wanted.length);
    for (const [i, { id }] of answered.entries()) {
      const value: unknown = JSON.parse(wanted[i]!);
      // What is nested deep can be compared as text only; as text, what is too large for a number is null.
      if (wanted[i] === deep) assertEquals(encodeJson(id), deep);
      else assertEquals(id, value, wanted[i]);
    }
    await weir.closeInput();
    assertEquals((await weir.waitForExit()).code, 0, weir.stderr);
  });

  Deno.test(`the ${dialect} dialect reads bytes that are no UTF-8 and NUL bytes as characters`, async () => {
    await using place = await prepareHome();
    await using weir = await start(dialect, place);
    const encoder = new TextEncoder();
    const bad = [[0xff, 0xfe], [0xc3], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xc0, 0x80]];
    for (const [n, bytes] of bad.entries()) {
      await weir.sendRaw(encoder.encode(`{"id":"${n}`));
      await weir.sendRaw(new Uint8Array(bytes));
      await weir.sendRaw(encoder.encode(`",${GET_STATE[dialect]}}\n\0\0\n`));
    }
    await last(dialect, weir, 9);
    assertEquals(responsesIn(dialect, weir.records).length, bad.length * 2 + 1);
    const ids = weir.records.map(({ id }) => id);
    for (const n of bad.keys()) {
      assert(ids.some((id) => String(id).startsWith(`${n}\ufffd`)), `no answer to ${n}`);
    }
    await weir.closeInput();
    assertEquals((await weir.waitForExit()).code, 0, weir.stderr);
  });
}

async function start(
  dialect: DialectName,
  place: { home: string; workspace: string },
): Promise<WeirProcess> {
  const own = dialect === "acp" ? ["--mode", "acp"] : ["--mode", "rpc", "--dialect", dialect];
  return await startWeir({
    args: dialect === "circle" || dialect === "nimlet" ? [...own, place.workspace] : own,
    home: place.home,
    cwd: place.workspace,
    timeoutMs: 60_000,
  });
}

function createLine(dialect: DialectName, id: string, { random, below }: Random): string {
  const pick = <T>(values: readonly T[]): T => values[below(values.length)]!;
  const isRpc = dialect === "acp";
  const fields: string[] = [];
  if (random() < (isRpc ? 0.8 : 0.97)) fields.push(`"id":${id}`);
  if (isRpc && random() < 0.95) fields.push('"jsonrpc":"2.0"');
  const name = random() < 0.9 ? pick(COMMANDS[dialect]) : pick(STRANGE);
  if (random() < 0.95) fields.push(`"${isRpc ? "method" : "type"}":${JSON.stringify(name)}`);
  for (const field of FIELDS) {
    if (random() < 0.06) fields.push(`${JSON.stringify(field)}:${pick(VALUES)}`);
  }
  const text = `{${fields.join(",")}}`;
  const mutation = random();
  if (mutation < 0.1) return text.slice(0, below(text.length));
  if (mutation < 0.15) return text + pick(["x", "}", "\u0000", "\u2028", '{"id":1}']);
  if (mutation < 0.2) return pick(["null", "[1]", "[]", "42", '"x"', "\u0000", "{", "nul", "{}"]);
  if (mutation < 0.23) return pick(["", " ", "\t", "\r", " \t "]);
  return text + (random() < 0.2 ? "\r" : "");
}

/** Whether a line gets a response. */
function isAnswered(dialect: DialectName, line: string): boolean {
  if (line.trim() === "") return false;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return true;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return true;
  const record = value as Record<string, unknown>;
  const has = (key: string) => Object.hasOwn(record, key);
  if (dialect === "pi") return record.type !== "extension_ui_response";
  if (dialect !== "acp" || record.jsonrpc !== "2.0") return true;
  const isReply = has("result") || has("error");
  if (has("method")) return typeof record.method !== "string" || isReply || has("id");
  return !(has("id") && isReply);
}

/** Whether the answer to a line that gets one has this id, as JSON. */
function carriesId(dialect: DialectName, line: string, id: string): boolean {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return false;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const record = value as Record<string, unknown>;
  if (!Object.hasOwn(record, "id") || JSON.stringify(record.id) !== id) return false;
  return dialect !== "nimlet" || typeof record.type === "string";
}

/** Whether only a line that was made here can have this id, as JSON. */
function isOwnId(dialect: DialectName, id: string | undefined): id is string {
  if (id === undefined) return false;
  return dialect === "acp" ? /^\d{4,9}$/.test(id) : /^"\d+"$/.test(id);
}

function responsesIn(dialect: DialectName, records: readonly WireRecord[]): WireRecord[] {
  return records.filter((record) =>
    dialect === "acp" ? !Object.hasOwn(record, "method") : record.type === "response"
  );
}

/** Asks something and returns the responses since the last time, without that of the question. */
async function last(dialect: DialectName, weir: WeirProcess, n: number): Promise<WireRecord[]> {
  const id = `the end ${n}`;
  await weir.sendRaw(`{"id":${JSON.stringify(id)},${GET_STATE[dialect]}}\n`);
  const records = await weir.until((record) => record.id === id);
  return responsesIn(dialect, records).slice(0, -1);
}

/** Writes the text as bytes, cut anywhere, also inside a character. */
async function sendInPieces(
  text: string,
  { weir, chance }: { weir: WeirProcess; chance: Random },
): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let start = 0; start < bytes.length;) {
    const end = start + 1 + chance.below(chance.random() < 0.1 ? 100_000 : 3000);
    await weir.sendRaw(bytes.subarray(start, end));
    start = end;
  }
}

/** Resident memory in MiB; 0 where the system does not tell. */
function residentMiB(pid: number): number {
  if (Deno.build.os !== "linux") return 0;
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}
