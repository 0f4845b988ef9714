// What tools cost beside the work itself: reads, a command that prints a lot, and searches in a large tree.
import { Child } from "./child.ts";
import { type Figure, figure, median, type Place, timed } from "./measures.ts";

const CALLS = 100;
const PRINTED_MIB = 200;
const TREE_FOLDERS = 500;
const FILES_IN_FOLDER = 100;

export const TOOL_MEASURES: Record<string, (place: Place) => Promise<Figure[]>> = {
  reads: measureReads,
  bash: measureBash,
  search: measureSearch,
};

interface Call {
  readonly name: string;
  readonly args: Record<string, unknown>;
}

/** Time of a turn in which the model calls these tools, all at once or one after another. */
async function turnWith(
  place: Place,
  { calls, inOneReply, env = {} }: {
    calls: readonly Call[];
    inOneReply: boolean;
    env?: Record<string, string>;
  },
): Promise<{ ms: number; peak: number }> {
  let next = 0;
  place.server.answer(() => {
    if (next >= calls.length) return { text: "done" };
    const count = inOneReply ? calls.length : 1;
    const toolCalls = calls.slice(next, next + count);
    next += count;
    return { toolCalls };
  });
  await using child = new Child([...place.weir, "--yolo"], { env: { ...place.env, ...env } });
  const turn = async () => {
    await child.send('{"id":1,"type":"prompt","message":"go"}\n');
    await child.until('"agent_settled"');
  };
  // A first turn loads what turns need.
  const all = next;
  next = calls.length;
  await turn();
  next = all;
  const ms = await timed(turn);
  return { ms, peak: (await child.memory()).peak };
}

async function measureReads(place: Place): Promise<Figure[]> {
  const text = "a line of text that is neither short nor long\n".repeat(40);
  const calls: Call[] = [];
  for (let i = 0; i < CALLS; i++) {
    await Deno.writeTextFile(`${place.workspace}/read-${i}.txt`, text);
    calls.push({ name: "read", args: { path: `read-${i}.txt` } });
  }
  const floor = await median(5, () =>
    timed(async () => {
      for (const { args } of calls) await Deno.readTextFile(`${place.workspace}/${args.path}`);
    }));
  const figures: Figure[] = [];
  for (const inOneReply of [false, true]) {
    const ours = await median(5, async () => (await turnWith(place, { calls, inOneReply })).ms);
    figures.push(
      figure(`${CALLS} reads ${inOneReply ? "in one reply" : "in as many replies"}, each`, {
        unit: "ms",
        ours: ours / CALLS,
        floor: floor / CALLS,
        aim: "≤ 1.5 ms more than the floor",
      }),
    );
  }
  return figures;
}

async function measureBash(place: Place): Promise<Figure[]> {
  const command = `head -c ${PRINTED_MIB}M /dev/zero | tr '\\0' 'x' | fold -w 99`;
  const floor = await median(3, () =>
    timed(async () => {
      const child = new Deno.Command("bash", { args: ["-c", command], stdout: "piped" }).spawn();
      for await (const _ of child.stdout);
      await child.status;
    }));
  let peak = 0;
  const small = await turnWith(place, {
    calls: [{ name: "bash", args: { command: "echo one" } }],
    inOneReply: true,
  });
  const ours = await median(3, async () => {
    const run = await turnWith(place, {
      calls: [{ name: "bash", args: { command, timeout: 300 } }],
      inOneReply: true,
    });
    peak = run.peak;
    return run.ms;
  });
  return [
    figure(`bash that prints ${PRINTED_MIB} MiB`, {
      unit: "ms",
      ours,
      floor,
      aim: "≤ 2 (50 % of the rate)",
    }),
    figure("  peak memory, to one that prints a line", {
      unit: "MiB",
      ours: peak,
      floor: small.peak,
      aim: "flat",
    }),
  ];
}

async function measureSearch(place: Place): Promise<Figure[]> {
  const tree = `${place.workspace}/tree`;
  const text = "nothing to see here, only some words in a line\n".repeat(20);
  for (let folder = 0; folder < TREE_FOLDERS; folder++) {
    await Deno.mkdir(`${tree}/${folder}`, { recursive: true });
    for (let file = 0; file < FILES_IN_FOLDER; file++) {
      const extra = folder % 50 === 0 && file === 7 ? "the needle is here\n" : "";
      await Deno.writeTextFile(`${tree}/${folder}/file${file}.txt`, text + extra);
    }
  }
  // Only what commands need: no ripgrep.
  const bin = `${place.home}/bin`;
  await Deno.mkdir(bin, { recursive: true });
  await Deno.symlink("/bin/bash", `${bin}/bash`).catch(() => {});
  await Deno.symlink("/bin/grep", `${bin}/grep`).catch(() => {});
  const env = { PATH: bin };
  const system = async (program: string, ...args: string[]) =>
    await median(3, () =>
      timed(async () => {
        await new Deno.Command(program, { args, stdout: "piped", stderr: "null" }).output();
      }));
  const turn = async (call: Call) =>
    await median(
      3,
      async () => (await turnWith(place, { calls: [call], inOneReply: true, env })).ms,
    );
  const floor = await system("grep", "-rn", "needle", tree);
  const found = [
    figure("grep in 50,000 files, without ripgrep", {
      unit: "ms",
      ours: await turn({ name: "grep", args: { pattern: "needle", path: "tree" } }),
      floor,
      aim: "≤ 3",
    }),
    figure("find in 50,000 files, without ripgrep", {
      unit: "ms",
      ours: await turn({ name: "find", args: { pattern: "**/file7.txt", path: "tree" } }),
      floor,
      aim: "≤ 3 (to grep -r too)",
    }),
  ];
  await Deno.remove(tree, { recursive: true });
  return found;
}
