/**
 * The corpus of the circle dialect: one file per command, event and refusal, with the lines that are sent and the exact records that come
 * back. Each is replayed against a process of its own.
 */

import { assert } from "@std/assert";
import type { Reply } from "../fakes/reply.ts";
import { expectRecords } from "./_expect_records.ts";
import { type Circle, type CircleOptions, withCircle } from "./_with_circle.ts";

/** A line to send, a record to receive, or an empty file of the workspace to write (a command may wait for it). */
type Step = { send: string } | { receive: Record<string, unknown> } | { write: string };

interface CorpusFile {
  about: string;
  setup?: Pick<CircleOptions, "args" | "files" | "models" | "extraConfig" | "contextWindow"> & {
    replies?: Reply[];
  };
  /** Every record up to the end of the input; the `jobs_stopped` of the end may be left out. */
  exchange: Step[];
}

const FOLDER = new URL("../corpus/circle/", import.meta.url);
const CONCURRENT = 3;

async function replay(circle: Circle, { exchange }: CorpusFile): Promise<void> {
  const expected: unknown[] = [];
  for (const step of exchange) {
    if ("receive" in step) {
      expected.push(step.receive);
      continue;
    }
    const { records } = circle.weir;
    if (records.length < expected.length) {
      await circle.weir.next(() => records.length >= expected.length);
    }
    if ("write" in step) await Deno.writeTextFile(`${circle.workspace}/${step.write}`, "");
    else await circle.sendText(step.send + "\n", [commandOn(step.send)]);
  }
  const { records } = circle.weir;
  const last = expected.at(-1) as Record<string, unknown> | undefined;
  if (last?.type !== "jobs_stopped") {
    if (records.length < expected.length) {
      await circle.weir.next(() => records.length >= expected.length);
    }
    expected.push({ type: "jobs_stopped", count: 0 });
  }
  await circle.end();
  expectRecords(records, expected);
}

/** What the grammar has to know of a line. */
function commandOn(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch {
    // Lines that are no commands are part of the corpus.
  }
  return { type: "parse" };
}

Deno.test("circle corpus is what the program does", async (t) => {
  const names = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).sort();
  assert(names.length > 0);
  const failures: string[] = [];
  const worker = async () => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      const file: CorpusFile = JSON.parse(await Deno.readTextFile(new URL(name, FOLDER)));
      try {
        await withCircle(file.setup ?? {}, (circle) => replay(circle, file));
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
