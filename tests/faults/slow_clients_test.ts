import { assert, assertEquals } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { prepareHome } from "../fakes/prepare_home.ts";
import type { Reply } from "../fakes/reply.ts";
import type { WireRecord } from "../fakes/weir_process.ts";
import { type DialectName, DIALECTS, drive, type Driver } from "./_drive.ts";
import { linuxOnly, memoryMiB, waitForRest } from "./_processes.ts";
import { rounds } from "./_rounds.ts";

/** What the records say of the answer's text, joined. */
function textOf(dialect: DialectName, records: readonly WireRecord[]): string {
  const pieces: unknown[] = [];
  for (const record of records) {
    if (dialect === "circle" || dialect === "nimlet") {
      if (record.type === "message_delta") pieces.push(record.delta);
    } else if (dialect === "pi") {
      const event = record.assistantMessageEvent as WireRecord | undefined;
      if (event?.type === "text_delta") pieces.push(event.delta);
    } else {
      const { update } = (record.params ?? {}) as { update?: WireRecord };
      if (update?.sessionUpdate === "agent_message_chunk") {
        pieces.push((update.content as { text: string }).text);
      }
    }
  }
  return pieces.join("");
}

/** What the records say of a command's output, joined; where only snapshots are told, the last one. */
function outputOf(dialect: DialectName, records: readonly WireRecord[]): string {
  const pieces: unknown[] = [];
  for (const record of records) {
    if (record.type === "tool_output" || record.type === "tool_output_delta") {
      pieces.push(record.delta);
    } else if (record.type === "tool_execution_end" || record.method === "session/update") {
      const { update = record.result } = (record.params ?? {}) as { update?: unknown };
      const { content } = update as { content?: WireRecord[] };
      for (const block of Array.isArray(content) ? content : []) {
        pieces.push(block.text ?? (block.content as WireRecord | undefined)?.text ?? "");
      }
    }
  }
  return dialect === "circle" || dialect === "nimlet" ? pieces.join("") : String(pieces.at(-1));
}

/** The last of the numbers that are the lines of a text; each has to be one more than that before it, beginning with `first`. */
function countLines(text: string, first: number | undefined): number {
  let last = first === undefined ? undefined : first - 1;
  for (let start = 0, end; (end = text.indexOf("\n", start)) >= 0; start = end + 1) {
    const line = text.slice(start, end);
    // A snapshot may begin inside of a number, and words about the output may be around it.
    if (!/^\d+$/.test(line) || (first === undefined && start === 0)) continue;
    assertEquals(line, String((last ?? Number(line) - 1) + 1), "a line is lost, or there twice");
    last = Number(line);
  }
  const rest = /(\d+)$/.exec(text.slice(-20).trimEnd());
  return rest !== null && last !== undefined && Number(rest[1]) === last + 1 ? last + 1 : last ?? 0;
}

interface Run {
  readonly records: readonly WireRecord[];
  /** The most memory that the program had, in MiB. */
  readonly peak: number;
}

/** Pieces that know how many of them the endpoint has taken up. */
class CountedPieces extends Array<string> {
  taken = 0;

  override *[Symbol.iterator](): ArrayIterator<string> {
    for (const piece of super[Symbol.iterator]()) {
      this.taken++;
      yield piece;
    }
  }
}

/** One turn of a client that reads, or of one that begins to read when the program waits for it. */
async function runTurn(dialect: DialectName, options: {
  replies: readonly Reply[];
  reads: boolean;
  /** Called when the program waits for the client. */
  atRest?: (driver: Driver) => Promise<void> | void;
}): Promise<Run> {
  await using server = startModelServer();
  server.reply(...options.replies);
  server.answer(() => ({ text: "fine" }));
  await using home = await prepareHome({ server, contextWindow: 100_000_000 });
  await using driver = await drive({ dialect, home, timeoutMs: 120_000 });
  const { weir } = driver;
  if (dialect === "circle") await weir.request({ type: "set_event_detail", detail: "full" });
  const first = weir.records.length;
  const ended = await promptThenPause(driver, options.reads);
  await server.waitForRequests(1);
  if (!options.reads) {
    await waitForRest(weir.pid);
    await options.atRest?.(driver);
    weir.resumeReading();
  }
  assertEquals(await ended(), "answer");
  const records = weir.records.slice(first);
  const peak = memoryMiB(weir.pid, "peak");
  assertEquals(await (await driver.prompt("again"))(), "answer");
  await driver.finish();
  return { records, peak };
}

async function promptThenPause(driver: Driver, reads: boolean) {
  const ended = await driver.prompt("go");
  if (!reads) driver.weir.pauseReading();
  return ended;
}

for (const dialect of DIALECTS) {
  Deno.test({
    name:
      `${dialect}: a long answer that nobody reads for a while costs little memory and is whole`,
    ...linuxOnly,
    fn: async () => {
      const count = rounds(15_000);
      // More than all pipes, sockets and queues on the way take, however few the pieces are.
      const padding = "x".repeat(Math.ceil(24_000_000 / count));
      const pieces = CountedPieces.from(
        { length: count },
        (_, i) => `piece ${i}${padding}, `,
      ) as CountedPieces;
      const replies = [{ text: pieces }];
      const fast = await runTurn(dialect, { replies, reads: true });
      pieces.taken = 0;
      const slow = await runTurn(dialect, {
        replies,
        reads: false,
        atRest: () => assert(pieces.taken < count, "the endpoint could send everything"),
      });
      // Compared as a whole: a difference of such texts is for nobody to read.
      assert(textOf(dialect, fast.records) === pieces.join(""), "the text is not whole");
      assert(textOf(dialect, slow.records) === pieces.join(""), "the text is not whole");
      console.log(`${fast.peak} MiB, ${slow.peak} MiB when nobody reads`);
      assert(slow.peak < fast.peak * 1.5 + 30, `${fast.peak} MiB grew to ${slow.peak}`);
    },
  });

  Deno.test({
    name:
      `${dialect}: a long output that nobody reads for a while costs little memory and is whole`,
    ...linuxOnly,
    fn: async () => {
      const lines = rounds(3_000_000);
      // Where only snapshots are told, nothing waits for them.
      const isWhole = dialect === "circle" || dialect === "nimlet";
      const args = { command: `seq 1 ${lines}` };
      const replies = [{ toolCalls: [{ name: "bash", args }] }, { text: "fine" }];
      const fast = await runTurn(dialect, { replies, reads: true });
      const slow = await runTurn(dialect, {
        replies,
        reads: false,
        atRest: async ({ weir }) => {
          const isRunning = (await weir.livingProcesses()).length > 1;
          if (isWhole) assert(isRunning, "the command could write everything");
        },
      });
      for (const { records } of [fast, slow]) {
        const output = outputOf(dialect, records);
        assertEquals(countLines(output, isWhole ? 1 : undefined), lines);
      }
      console.log(`${fast.peak} MiB, ${slow.peak} MiB when nobody reads`);
      assert(slow.peak < fast.peak * 1.5 + 30, `${fast.peak} MiB grew to ${slow.peak}`);
    },
  });
}
