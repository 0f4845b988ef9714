// From the start of the process to its first answer, and what it holds then.
import { alternate } from "./alternate.ts";
import { Child, type Program } from "./child.ts";
import { atMost, atMostOf, type Figure, figure, format } from "./figure.ts";
import type { Place } from "./place.ts";

const TIMES = 15;
export const GET_STATE = '{"id":1,"type":"get_state"}\n';
const INITIALIZE =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n';

/** Time to the line that answers the first command, and resident memory and processor time after it; the end of the program is not counted. */
export async function startOnce(
  program: Program,
  { command = GET_STATE, answer = '"id":1' }: { command?: string; answer?: string } = {},
): Promise<{ ms: number; memory: number; work: number }> {
  const begin = performance.now();
  await using child = new Child(program);
  await child.send(command);
  await child.until(answer);
  const ms = performance.now() - begin;
  return { ms, memory: (await child.memory()).now, work: await child.processorTime() };
}

/** The floor is the least program that answers lines: a runtime has to start in any case. */
export async function measureStart({ weir, floorLines }: Place): Promise<Figure[]> {
  const runs = { ours: () => startOnce(weir()), floor: () => startOnce(floorLines) };
  // The first ones fill the caches of compiled code.
  await alternate(2, runs);
  const { ours, floor } = await alternate(TIMES, runs);
  return [
    figure("start to first response", {
      unit: "ms",
      ours: ours.ms,
      floor: floor.ms,
      aim: atMost(2),
      note: workNote(ours, floor),
    }),
    figure("idle resident memory", {
      unit: "MiB",
      ours: ours.memory,
      floor: floor.memory,
      aim: atMostOf(60, "MiB"),
    }),
  ];
}

export async function measureAcpStart({ bare, floorLines }: Place): Promise<Figure[]> {
  const acp = bare("--mode", "acp");
  const runs = {
    ours: () => startOnce(acp, { command: INITIALIZE }),
    floor: () => startOnce(floorLines),
  };
  await alternate(2, runs);
  const { ours, floor } = await alternate(TIMES, runs);
  return [
    figure("acp: start to initialize answered", {
      unit: "ms",
      ours: ours.ms,
      floor: floor.ms,
      aim: atMost(2),
      note: workNote(ours, floor),
    }),
  ];
}

/** On a machine that is busy otherwise, this says more than the time. */
function workNote(ours: { work: number }, floor: { work: number }): string {
  return `processor time ${format(ours.work)} ms, the floor's ${format(floor.work)} ms: ${
    (ours.work / floor.work).toFixed(2)
  } ×`;
}
