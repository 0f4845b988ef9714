// `deno task bench [measure…] [--json] [--executable] [--peers]`: figures as ratios to floors that are taken in the same run, because machines
// are noisy and a ratio is not. Measures the bundle, or dist/weir with --executable. With --peers the floors are the programs whose protocol
// Weir speaks, and the measures are those of `peers.ts`.
import { startModelServer } from "../../tests/fakes/model_server.ts";
import { bundle } from "../bundle.ts";
import { type Figure, MEASURES as OWN_MEASURES, type Place } from "./measures.ts";
import { PEER_MEASURES } from "./peers.ts";
import { TOOL_MEASURES } from "./tool_measures.ts";

const asJson = Deno.args.includes("--json");
const isExecutable = Deno.args.includes("--executable");
const MEASURES = Deno.args.includes("--peers")
  ? PEER_MEASURES
  : { ...OWN_MEASURES, ...TOOL_MEASURES };
const names = Deno.args.filter((arg) => !arg.startsWith("--"));
const unknown = names.filter((name) => !Object.hasOwn(MEASURES, name));
if (unknown.length > 0) {
  console.error(`Cannot measure ${unknown.join(", ")}: use ${Object.keys(MEASURES).join(", ")}`);
  Deno.exit(2);
}

const root = new URL("../..", import.meta.url);
const program = isExecutable
  ? [new URL("dist/weir", root).pathname]
  // Under the same conditions as the floors: without looking for a configuration.
  : [Deno.execPath(), "run", "-A", "--no-config", (await bundle()).pathname];
await using server = await startModelServer({ strict: false });
const folder = await Deno.makeTempDir({ prefix: "weir_bench_" });
const figures: Figure[] = [];
try {
  const place = await preparePlace(folder);
  for (const [name, measure] of Object.entries(MEASURES)) {
    if (names.length > 0 && !names.includes(name)) continue;
    for (const figure of await measure(place)) {
      figures.push(figure);
      if (!asJson) console.log(describe(figure));
    }
  }
} finally {
  await Deno.remove(folder, { recursive: true });
}
if (asJson) console.log(JSON.stringify(figures, null, 2));

async function preparePlace(folder: string): Promise<Place> {
  const home = `${folder}/home`;
  const workspace = await Deno.realPath(folder) + "/work";
  await Deno.mkdir(home);
  await Deno.mkdir(workspace);
  const provider = {
    baseUrl: server.url,
    apiKey: "k",
    models: { m: { price: { input: 1, output: 2 } } },
  };
  await Deno.writeTextFile(
    `${home}/config.jsonc`,
    JSON.stringify({ model: "local/m", providers: { local: provider } }),
  );
  const floor = (
    name: string,
  ) => [
    Deno.execPath(),
    "run",
    "-A",
    "--no-config",
    new URL(`scripts/bench/${name}`, root).pathname,
  ];
  return {
    weir: [...program, "--mode", "rpc", "--trust", workspace],
    program,
    acp: [...program, "--mode", "acp"],
    floorLines: floor("floor_lines.js"),
    floorStream: floor("floor_stream.js"),
    // Of their own, because programs that start at the same time elsewhere hold up the caches of all.
    env: { WEIR_HOME: home, DENO_DIR: `${folder}/deno` },
    home,
    workspace,
    server,
  };
}

function describe({ name, unit, ours, floor, ratio, aim }: Figure): string {
  const number = (value: number) => value.toFixed(value < 10 ? 2 : 0).padStart(8);
  return `${name.padEnd(40)} ${number(ours)} ${unit.padEnd(4)} floor ${number(floor)}  ratio ${
    ratio.toFixed(2).padStart(6)
  }  aim ${aim}`;
}
