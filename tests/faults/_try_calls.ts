/** Has a scripted model make calls in a circle process and gives what came of each; and where a secret has got to. */

import { assertEquals } from "@std/assert";
import type { Circle } from "../program/_with_circle.ts";

/** A call of a tool, without an id. */
export type Call = [name: string, args: Record<string, unknown>];

/** What became of a call. */
export interface Tried {
  readonly status: unknown;
  readonly output: string;
  /** Of the `not_run` record before the result. */
  readonly reason: unknown;
}

const DENIED = /^Denied by approval policy: [^\n]* is a credential file$/;

/** Makes all calls in one turn of a process that runs, and gives their results in order. */
export async function tryCalls(circle: Circle, tried: readonly Call[]): Promise<Tried[]> {
  const toolCalls = tried.map(([name, args], index) => ({ id: `t${index}`, name, args }));
  circle.server.reply({ toolCalls }, { text: "done" });
  const seen: Tried[] = [];
  let reason: unknown;
  for (const record of await circle.turn("go")) {
    if (record.type === "not_run") reason = record.reason;
    if (record.type !== "tool_result") continue;
    seen.push({ status: record.status, output: String(record.output), reason });
    reason = undefined;
  }
  assertEquals(seen.length, tried.length);
  return seen;
}

/** Fails unless every call was refused because of a credential file. */
export function assertDenied(tried: readonly Call[], seen: readonly Tried[]): void {
  const others = seen.flatMap(({ status, output, reason }, index) => {
    const isDenied = status === "error" && DENIED.test(output) && reason === undefined;
    return isDenied ? [] : [`${JSON.stringify(tried[index])} -> ${output.slice(0, 200)}`];
  });
  assertEquals(others, []);
}

/** Where in the process's records, stderr and requests, and in the files below `folders`, one of the texts is found. */
export async function findTexts(
  { weir, server }: Pick<Circle, "weir" | "server">,
  { texts, folders = [], except = [] }: {
    texts: readonly string[];
    folders?: readonly string[];
    /** Ends of the paths of files that may have them. */
    except?: readonly string[];
  },
): Promise<string[]> {
  const places: [string, string][] = [
    ["records", JSON.stringify(weir.records)],
    ["stderr", weir.stderr],
    ["requests", JSON.stringify(server.requests.map(({ body }) => body))],
  ];
  for (const folder of folders) {
    for await (const path of filesBelow(folder)) {
      if (except.some((end) => path.endsWith(end))) continue;
      places.push([path, await Deno.readTextFile(path).catch(() => "")]);
    }
  }
  return places.flatMap(([place, content]) =>
    texts.filter((text) => content.includes(text)).map((text) => `${text} in ${place}`)
  );
}

/** Paths of all regular files below a folder; symlinks are not followed. */
export async function* filesBelow(folder: string): AsyncGenerator<string> {
  for await (const { name, isFile, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* filesBelow(path);
    else if (isFile) yield path;
  }
}
