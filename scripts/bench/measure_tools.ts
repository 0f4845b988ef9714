// What tools cost beside the work itself: reads, and a command that prints a lot.
import { alternate, timed } from "./alternate.ts";
import { Child } from "./child.ts";
import { type Call, callAnswer, textAnswer } from "./endpoint.ts";
import { atLeast, atMost, type Figure, figure, format } from "./figure.ts";
import { GET_STATE } from "./measure_start.ts";
import { recordPosts, turn, work } from "./measure_turns.ts";
import type { Place } from "./place.ts";

const CALLS = 100;
const PRINTED_MIB = 200;

/** A turn in which the model makes these calls, all in one answer or each in its own, after a turn that loads what turns need. */
export async function turnWith(
  { endpoint, weir }: Place,
  { calls, inOneReply = true, env = {} }: {
    calls: readonly Call[];
    inOneReply?: boolean;
    env?: Record<string, string>;
  },
): Promise<{ ms: number; peak: number }> {
  const done = textAnswer("done");
  const answers = inOneReply ? [callAnswer(calls)] : calls.map((call) => callAnswer([call]));
  const program = weir("--yolo");
  await using child = new Child({ ...program, env: { ...program.env, ...env } });
  await child.ask(GET_STATE);
  endpoint.answer = () => done;
  await turn(child);
  let next = 0;
  endpoint.answer = () => answers[next++] ?? done;
  const ms = await timed(() => turn(child));
  return { ms, peak: (await child.memory()).peak };
}

/**
 * The floor is the reads alone, in a warm process. What is above it is the cost of events and model calls; how much of that are the same HTTP
 * exchanges without an agent is in the note.
 */
export async function measureReads(place: Place): Promise<Figure[]> {
  const { endpoint, workspace, floor } = place;
  const text = "a line of text that is neither short nor long\n".repeat(40);
  const calls: Call[] = [];
  for (let i = 0; i < CALLS; i++) {
    await Deno.writeTextFile(`${workspace}/read-${i}.txt`, text);
    calls.push({ name: "read", args: { path: `read-${i}.txt` } });
  }
  const reads = calls.map(({ args }) => ({ read: `${workspace}/${args.path}` }));
  await using alone = new Child(floor("floor_work.js", endpoint.url));
  const figures: Figure[] = [];
  for (const inOneReply of [false, true]) {
    const steps = inOneReply ? [{ all: reads }] : reads;
    const posts = await recordPosts(
      place,
      () => turnWith(place, { calls, inOneReply }).then(() => {}),
    );
    const time = (steps: readonly object[]) => async () => ({
      ms: await timed(() => work(alone, steps)),
      peak: 0,
    });
    const runs = {
      ours: () => turnWith(place, { calls, inOneReply }),
      floor: time(steps),
      exchanges: async () => {
        endpoint.answer = () => callAnswer(calls.slice(0, inOneReply ? CALLS : 1));
        return await time(posts.slice(1))();
      },
    };
    await alternate(1, runs);
    const times = await alternate(7, runs);
    const each = (times.ours.ms - times.floor.ms) / CALLS;
    figures.push(
      figure(`${CALLS} reads ${inOneReply ? "in one answer" : "one after another"}, each`, {
        unit: "ms",
        ours: times.ours.ms / CALLS,
        floor: times.floor.ms / CALLS,
        aim: { text: "≤ 1.5 ms above", isMet: () => each <= 1.5 },
        note: `${format(each)} ms above the floor, of which the HTTP exchanges alone ${
          format(times.exchanges.ms / CALLS)
        } ms`,
      }),
    );
  }
  return figures;
}

/** The floor is the same command into a reader of its pipe, which keeps nothing. */
export async function measureBash(place: Place): Promise<Figure[]> {
  const printing = (mebibytes: number) =>
    `head -c ${mebibytes}M /dev/zero | tr '\\0' 'x' | fold -w 99`;
  const run = (mebibytes: number) => async () => {
    const args = { command: printing(mebibytes), timeout: 300 };
    const { ms, peak } = await turnWith(place, { calls: [{ name: "bash", args }] });
    return { rate: mebibytes / ms * 1000, peak };
  };
  const alone = async () => {
    const ms = await timed(async () => {
      const child = new Deno.Command("bash", {
        args: ["-c", printing(PRINTED_MIB)],
        stdout: "piped",
      }).spawn();
      for await (const _ of child.stdout);
      await child.status;
    });
    return { rate: PRINTED_MIB / ms * 1000, peak: 0 };
  };
  const medians = await alternate(5, {
    ours: run(PRINTED_MIB),
    floor: alone,
    little: run(PRINTED_MIB / 10),
  });
  return [
    figure(`bash that prints ${PRINTED_MIB} MiB`, {
      unit: "MiB/s",
      ours: medians.ours.rate,
      floor: medians.floor.rate,
      aim: atLeast(0.5),
    }),
    figure(`  peak memory, to printing ${PRINTED_MIB / 10} MiB`, {
      unit: "MiB",
      ours: medians.ours.peak,
      floor: medians.little.peak,
      aim: atMost(1.2),
    }),
  ];
}
