// Searching in a large tree where there is no ripgrep.
import { alternate, timed } from "./alternate.ts";
import { atMost, type Figure, figure } from "./figure.ts";
import { turnWith } from "./measure_tools.ts";
import type { Place } from "./place.ts";

const FOLDERS = 500;
const FILES_IN_FOLDER = 100;
const NEEDED = ["bash", "sh", "grep", "find"];

/** The floors are the system's programs on the same tree; the turn around our search is counted as ours. */
export async function measureSearch(place: Place): Promise<Figure[]> {
  const tree = `${place.workspace}/tree`;
  await plant(tree);
  const PATH = await pathWithout(place.folder);
  const system = (program: string, ...args: string[]) => async () => ({
    ms: await timed(() =>
      new Deno.Command(program, {
        args,
        cwd: place.workspace,
        env: { ...place.env, PATH },
        clearEnv: true,
        stderr: "null",
      }).output()
    ),
    peak: 0,
  });
  const ours = (name: string, args: Record<string, unknown>) => () =>
    turnWith(place, { calls: [{ name, args }], env: { PATH } });
  const runs = {
    grep: ours("grep", { pattern: "needle", path: "tree" }),
    systemGrep: system("grep", "-rn", "needle", "tree"),
    find: ours("find", { pattern: "**/file7.txt", path: "tree" }),
    systemFind: system("find", "tree", "-name", "file7.txt"),
  };
  // The first ones fill the system's cache.
  await alternate(1, runs);
  const times = await alternate(5, runs);
  await Deno.remove(tree, { recursive: true });
  return [
    figure("grep in 50,000 files, without ripgrep", {
      unit: "ms",
      ours: times.grep.ms,
      floor: times.systemGrep.ms,
      aim: atMost(3),
    }),
    figure("find in 50,000 files, without ripgrep", {
      unit: "ms",
      ours: times.find.ms,
      floor: times.systemFind.ms,
      aim: atMost(3),
    }),
  ];
}

async function plant(tree: string): Promise<void> {
  const text = "nothing to see here, only some words in a line\n".repeat(20);
  for (let folder = 0; folder < FOLDERS; folder++) {
    const path = `${tree}/${folder}`;
    await Deno.mkdir(path, { recursive: true });
    for (let file = 0; file < FILES_IN_FOLDER; file++) {
      const extra = folder % 50 === 0 && file === 7 ? "the needle is here\n" : "";
      // Waiting for each would take several times as long.
      Deno.writeTextFileSync(`${path}/file${file}.txt`, text + extra);
    }
  }
}

/** A PATH that has what commands need, but no ripgrep. */
async function pathWithout(folder: string): Promise<string> {
  const bin = `${folder}/bin`;
  await Deno.mkdir(bin, { recursive: true });
  for (const name of NEEDED) {
    for (const from of [`/usr/bin/${name}`, `/bin/${name}`]) {
      await Deno.symlink(from, `${bin}/${name}`).catch(() => {});
    }
  }
  return bin;
}
