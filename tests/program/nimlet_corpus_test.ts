/**
 * The corpus of the nimlet dialect: one file per command, event and refusal, with the lines that are sent and the exact records that come
 * back. Each is replayed against a process of its own.
 */

import { assert } from "@std/assert";
import type { Reply } from "../fakes/reply.ts";
import { expectRecords } from "./_expect_records.ts";
import { idsOn, type Nimlet, type NimletOptions, withNimlet } from "./_with_nimlet.ts";

/** A line to send, a record to receive, an empty file of the workspace to write (a command may wait for it), or the end of the input. */
type Step =
  | { send: string }
  | { receive: Record<string, unknown> }
  | { write: string }
  | { close: true };

interface CorpusFile {
  about: string;
  setup?: Pick<NimletOptions, "args" | "files" | "extraConfig" | "contextWindow"> & {
    replies?: Reply[];
  };
  /** Every record of the process. */
  exchange: Step[];
}

const FOLDER = new URL("../corpus/nimlet/", import.meta.url);
const CONCURRENT = 3;

async function replay(nimlet: Nimlet, { exchange }: CorpusFile): Promise<void> {
  const expected: Record<string, unknown>[] = [];
  const { weir } = nimlet;
  for (const step of exchange) {
    if ("receive" in step) {
      expected.push(step.receive);
      continue;
    }
    if (weir.records.length < expected.length) {
      await weir.next(() => weir.records.length >= expected.length);
    }
    if ("write" in step) await nimlet.touch(step.write);
    else if ("close" in step) await weir.closeInput();
    else await nimlet.sendText(step.send + "\n", idsOn(step.send));
  }
  await nimlet.end();
  expectRecords(weir.records, expected);
}

Deno.test("nimlet corpus is what the program does", async (t) => {
  const names = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).sort();
  assert(names.length > 0);
  const failures: string[] = [];
  const worker = async () => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      const file: CorpusFile = JSON.parse(await Deno.readTextFile(new URL(name, FOLDER)));
      try {
        await withNimlet(file.setup ?? {}, (nimlet) => replay(nimlet, file));
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
