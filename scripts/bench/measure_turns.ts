// A turn beside the HTTP exchange that it cannot do without, and whether a long conversation stays as quick.
import { alternate, middle, timed } from "./alternate.ts";
import { Child } from "./child.ts";
import { type Answer, textAnswer } from "./endpoint.ts";
import { atMost, type Figure, figure, format, NO_AIM } from "./figure.ts";
import { InspectedChild } from "./live_heap.ts";
import { GET_STATE } from "./measure_start.ts";
import type { Place } from "./place.ts";

const PROMPT = '{"id":2,"type":"prompt","message":"go"}\n';
export const NEW_SESSION = '{"id":3,"type":"new_session"}\n';
const TURNS = 20;

/** Has the child do a turn to its end. */
export async function turn(child: Child): Promise<void> {
  await child.send(PROMPT);
  await child.until('"agent_settled"');
}

/** Has the floor do these steps. */
export async function work(floor: Child, steps: readonly object[]): Promise<void> {
  await floor.send(JSON.stringify(steps) + "\n");
  await floor.until("floor_settled");
}

/** Keeps the requests that a run makes, as files for the floor. */
export async function recordPosts(
  { endpoint, folder }: Place,
  run: () => Promise<void>,
): Promise<{ post: string }[]> {
  const bodies: Uint8Array[] = endpoint.recorded = [];
  await run();
  endpoint.recorded = undefined;
  const name = `${folder}/post-${crypto.randomUUID()}`;
  const posts: { post: string }[] = [];
  for (const [index, body] of bodies.entries()) {
    await Deno.writeFile(`${name}-${index}`, body);
    posts.push({ post: `${name}-${index}` });
  }
  return posts;
}

/**
 * The floor sends the very request that the turn sends and reads the answer with `fetch`, in a process that has done so before. A turn also
 * flushes its session to the disk, which is measured alone in the same rounds: one append of the size of a turn, then fdatasync.
 */
export async function measurePrompt(place: Place): Promise<Figure[]> {
  const { endpoint, weir, floor, folder } = place;
  const answer = textAnswer("fine");
  endpoint.answer = () => answer;
  await using child = new Child(weir());
  await using exchange = new Child(floor("floor_work.js", endpoint.url));
  const fresh = () => child.ask(NEW_SESSION);
  await child.ask(GET_STATE);
  const posts = await recordPosts(place, () => turn(child));
  using disk = await Deno.open(`${folder}/flush`, { create: true, append: true });
  const bytes = new TextEncoder().encode("x".repeat(900) + "\n");
  const each = async (run: () => Promise<unknown>) => {
    const times: number[] = [];
    for (let i = 0; i < TURNS; i++) times.push(await timed(run));
    return { ms: middle(times) };
  };
  const runs = {
    ours: async () => {
      // A conversation that grows would make larger requests than the floor's.
      await fresh();
      return await each(() => turn(child));
    },
    floor: () => each(() => work(exchange, posts)),
    flush: () =>
      each(async () => {
        await disk.write(bytes);
        await disk.syncData();
      }),
  };
  await alternate(3, runs);
  const times = await alternate(9, runs);
  const [ours, flush] = [times.ours.ms, times.flush.ms];
  return [
    figure("prompt to settled, one piece, warm, less a flush", {
      unit: "ms",
      ours: ours - flush,
      floor: times.floor.ms,
      aim: atMost(2.5),
      note: `with the flush ${format(ours)} ms, a flush alone ${format(flush)} ms`,
    }),
  ];
}

/** One conversation, so the last requests are larger; what that alone costs is measured with the floor and reported beside. */
export async function measureTurns(place: Place): Promise<Figure[]> {
  const { endpoint, weir, floor } = place;
  const answer: Answer = textAnswer("fine");
  endpoint.answer = () => answer;
  await using child = new Child(weir());
  const hundred = async () => {
    let ms = 0;
    const posts = await recordPosts(
      place,
      async () => void (ms = await timed(() => turns(child, 100))),
    );
    return { ms, posts };
  };
  const first = await hundred();
  await turns(child, 800);
  const last = await hundred();
  await using exchange = new Child(floor("floor_work.js", endpoint.url));
  const alone = (posts: readonly object[]) => async () => ({
    ms: await timed(async () => {
      for (const post of posts) await work(exchange, [post]);
    }),
  });
  const runs = { first: alone(first.posts), last: alone(last.posts) };
  await alternate(1, runs);
  const exchanges = await alternate(5, runs);
  const more = exchanges.last.ms - exchanges.first.ms;
  return [
    figure("last 100 of 1,000 turns, to the first 100", {
      unit: "ms",
      ours: last.ms,
      floor: first.ms,
      aim: atMost(1.1),
      note: `the larger requests alone cost ${format(more)} ms more`,
    }),
    ...await measureMemory(place),
  ];
}

/** Resident memory is mostly garbage that was not worth collecting, so the aim is on what is left after a collection. */
async function measureMemory(place: Place): Promise<Figure[]> {
  const id = "thousand";
  const program = place.weir("--session-id", id);
  await using inspected = await InspectedChild.start(program);
  await using plain = inspected === undefined ? new Child(program) : undefined;
  const child = inspected?.child ?? plain!;
  const look = async () => ({ heap: await inspected?.heap(), now: (await child.memory()).now });
  await turns(child, 100);
  const before = await look();
  await turns(child, 900);
  const after = await look();
  const written = await sizeOf(`${place.home}/sessions`, id);
  const name = "gained in 900 turns, to the session file";
  const figures = [
    figure(`resident memory ${name}`, {
      unit: "MiB",
      ours: after.now - before.now,
      floor: written,
      aim: NO_AIM,
    }),
  ];
  if (before.heap === undefined || after.heap === undefined) return figures;
  return [
    figure(`live heap ${name}`, {
      unit: "MiB",
      ours: after.heap - before.heap,
      floor: written,
      // A message is an object with a few strings, an entry of the file about half a kilobyte; code is compiled as well.
      aim: {
        text: "≤ 2 × + 1 MiB",
        isMet: ({ ours }) => ours <= 2 * written + 1,
      },
    }),
    ...figures,
  ];
}

async function turns(child: Child, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn(child);
}

/** Of the session's file, in MiB. */
async function sizeOf(folder: string, id: string): Promise<number> {
  for await (const entry of Deno.readDir(folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) {
      const size = await sizeOf(path, id);
      if (size > 0) return size;
    } else if (entry.name.endsWith(`_${id}.jsonl`)) {
      return (await Deno.stat(path)).size / 1024 / 1024;
    }
  }
  return 0;
}
