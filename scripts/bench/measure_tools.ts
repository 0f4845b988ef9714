// What tools cost beside the work itself: reads, and a command that prints a lot.
import { alternate, timed } from "./alternate.ts";
import { Child } from "./child.ts";
import { type Call, callAnswer, textAnswer } from "./endpoint.ts";
import { atLeast, atMost, type Figure, figure, format } from "./figure.ts";
import { GET_STATE } from "./measure_start.ts";
import { NEW_SESSION, recordPosts, turn, work } from "./measure_turns.ts";
import type { Place } from "./place.ts";

const CALLS = 100;
const PRINTED_MIB = 200;

/** A turn in which the model makes these calls in one answer, in a new process after a turn that loads what turns need. */
export async function turnWith(
  place: Place,
  { calls, env = {} }: { calls: readonly Call[]; env?: Record<string, string> },
): Promise<{ ms: number; peak: number }> {
  const program = place.weir("--yolo");
  await using child = new Child({ ...program, env: { ...program.env, ...env } });
  await child.ask(GET_STATE);
  script(place, { calls: [], inOneReply: true });
  await turn(child);
  script(place, { calls, inOneReply: true });
  const ms = await timed(() => turn(child));
  return { ms, peak: (await child.memory()).peak };
}

/**
 * The floor is the reads alone; both processes are warm, and each of our turns begins a new conversation. What is above the floor is the cost
 * of events and model calls; how much of that are the same HTTP exchanges without an agent is in the note.
 */
export async function measureReads(place: Place): Promise<Figure[]> {
  const { endpoint, workspace, weir, floor } = place;
  const text = "a line of text that is neither short nor long\n".repeat(40);
  const calls: Call[] = [];
  for (let i = 0; i < CALLS; i++) {
    await Deno.writeTextFile(`${workspace}/read-${i}.txt`, text);
    calls.push({ name: "read", args: { path: `read-${i}.txt` } });
  }
  const reads = calls.map(({ args }) => ({ read: `${workspace}/${args.path}` }));
  await using child = new Child(weir());
  await using alone = new Child(floor("floor_work.js", endpoint.url));
  const figures: Figure[] = [];
  for (const inOneReply of [false, true]) {
    const ours = async () => {
      await child.ask(NEW_SESSION);
      script(place, { calls, inOneReply });
      return { ms: await timed(() => turn(child)) };
    };
    const posts = await recordPosts(place, () => ours().then(() => {}));
    // The last request has all that was read.
    const { size } = await Deno.stat(posts.at(-1)!.post);
    if (size < CALLS * text.length) throw new Error(`not everything was read: ${size} bytes`);
    const time = (steps: readonly object[]) => async () => {
      script(place, { calls, inOneReply });
      return { ms: await timed(() => work(alone, steps)) };
    };
    const runs = {
      ours,
      floor: time(inOneReply ? [{ all: reads }] : reads),
      exchanges: time(posts),
    };
    await alternate(3, runs);
    const times = await alternate(9, runs);
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

/** Has the endpoint make these calls, all in one answer or each in its own, and then say that it is done. */
function script(
  { endpoint }: Place,
  { calls, inOneReply }: { calls: readonly Call[]; inOneReply: boolean },
): void {
  const done = textAnswer("done");
  const answers = inOneReply && calls.length > 0
    ? [callAnswer(calls)]
    : calls.map((call) => callAnswer([call]));
  let next = 0;
  endpoint.answer = () => answers[next++] ?? done;
}

/** The floor is the same command into a reader of its pipe, which keeps nothing; the command is one that prints faster than it is read. */
export async function measureBash(place: Place): Promise<Figure[]> {
  const line = "x".repeat(99);
  const printing = (mebibytes: number) => `yes ${line} | head -c ${mebibytes}M`;
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
