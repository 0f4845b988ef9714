// What a line costs: one by one, many at once, and very long ones.
import { alternate, timed } from "./alternate.ts";
import { Child, type Program } from "./child.ts";
import { atMost, type Figure, figure } from "./figure.ts";
import { GET_STATE } from "./measure_start.ts";
import type { Place } from "./place.ts";

const MIB = 1024 * 1024;

/** The floor parses every line and answers with as many fields; both have run for a while. */
export async function measureRoundTrips({ weir, floorLines }: Place): Promise<Figure[]> {
  await using ours = new Child(weir());
  await using floor = new Child(floorLines);
  const run = (child: Child) => async () => ({
    ms: await timed(async () => {
      for (let i = 0; i < 1000; i++) {
        await child.send(GET_STATE);
        await child.skip(1);
      }
    }),
  });
  const runs = { ours: run(ours), floor: run(floor) };
  await alternate(2, runs);
  const times = await alternate(9, runs);
  return [
    figure("1,000 get_state one by one", {
      unit: "ms",
      ours: times.ours.ms,
      floor: times.floor.ms,
      aim: atMost(1.5),
    }),
  ];
}

/** As before, but each run in a new process that has answered one line: a client does this once. */
export async function measurePipelined({ weir, floorLines }: Place): Promise<Figure[]> {
  const commands = GET_STATE.repeat(100_000);
  const run = (program: Program) => async () => {
    await using child = new Child(program);
    await child.ask(GET_STATE);
    const ms = await timed(async () => {
      const sent = child.send(commands);
      await child.skip(100_000);
      await sent;
    });
    return { ms };
  };
  const times = await alternate(7, { ours: run(weir()), floor: run(floorLines) });
  return [
    figure("100,000 get_state pipelined", {
      unit: "ms",
      ours: times.ours.ms,
      floor: times.floor.ms,
      aim: atMost(1.5),
    }),
  ];
}

/** No program is the floor, the shorter line is: four times as long may take four times as long, and a quarter more for noise. */
export async function measureLines({ weir }: Place): Promise<Figure[]> {
  const run = (mebibytes: number) => async () => {
    const [head, end] = ['{"id":1,"type":"nothing","text":"', '"}\n'];
    const line = head + "x".repeat(mebibytes * MIB - head.length - end.length) + end;
    await using child = new Child(weir());
    await child.ask(GET_STATE);
    const ms = await timed(async () => {
      const sent = child.send(line);
      const answer = await child.line();
      await sent;
      if (!answer.includes("nothing")) throw new Error(`not read: ${answer}`);
    });
    return { ms };
  };
  const times = await alternate(5, { four: run(4), sixteen: run(16), most: run(64) });
  const row = (work: string, { ours, floor }: { ours: number; floor: number }) =>
    figure(work, { unit: "ms", ours, floor, aim: atMost(5) });
  return [
    row("line of 16 MiB, to one of 4 MiB", { ours: times.sixteen.ms, floor: times.four.ms }),
    row("line of 64 MiB, to one of 16 MiB", { ours: times.most.ms, floor: times.sixteen.ms }),
  ];
}
