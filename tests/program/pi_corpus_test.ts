/**
 * The corpus of the pi dialect: one file per command, event and refusal, with the lines that are sent and the exact records that come back.
 * Each is replayed against a process of its own; lines that stand together are written in one go.
 */

import { assert } from "@std/assert";
import type { Reply } from "../fakes/reply.ts";
import { expectRecords } from "./_expect_records.ts";
import { type Pi, type PiOptions, withPi } from "./_with_pi.ts";

/** A line to send, a record to receive, or the end of the input. */
type Step = { send: string } | { receive: Record<string, unknown> } | { close: true };

interface CorpusFile {
  about: string;
  setup?: Pick<PiOptions, "args" | "files" | "extraConfig"> & { replies?: Reply[] };
  /** Every record of the process. */
  exchange: Step[];
}

const FOLDER = new URL("../corpus/pi/", import.meta.url);
const CONCURRENT = 3;

async function replay(pi: Pi, { exchange }: CorpusFile): Promise<void> {
  const expected: unknown[] = [];
  const { records } = pi.weir;
  for (let i = 0; i < exchange.length;) {
    const step = exchange[i]!;
    if ("receive" in step) {
      expected.push(step.receive);
      i++;
      continue;
    }
    if (records.length < expected.length) {
      await pi.weir.next(() => records.length >= expected.length);
    }
    if ("close" in step) {
      await pi.weir.closeInput();
      i++;
      continue;
    }
    let text = "";
    for (let line = exchange[i]; line !== undefined && "send" in line; line = exchange[++i]) {
      text += line.send + "\n";
    }
    await pi.weir.sendRaw(text);
  }
  if (records.length < expected.length) {
    await pi.weir.next(() => records.length >= expected.length);
  }
  await pi.end();
  expectRecords(records, expected);
}

Deno.test("pi corpus is what the program does", async (t) => {
  const names = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).sort();
  assert(names.length > 0);
  const failures: string[] = [];
  const worker = async () => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      const file: CorpusFile = JSON.parse(await Deno.readTextFile(new URL(name, FOLDER)));
      try {
        await withPi({ strict: false, ...file.setup }, (pi) => replay(pi, file));
      } catch (error) {
        failures.push(`${name}: ${file.about}\n${(error as Error).message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, worker));
  for (const failure of failures) {
    await t.step(failure.split("\n", 1)[0], () => Promise.reject(new Error(failure)));
  }
});
