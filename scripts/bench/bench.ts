// `deno task bench [measure…] [--json] [--executable] [--peers [--peers-folder DIR]]`: figures as ratios to floors that are taken in the same
// run, in turns, because machines are noisy and a ratio is less so. Measures the bundle, or dist/weir with --executable. With --peers the
// floors are other agents (`peers.ts`). A missed aim is marked and is no failure: the exit code is 0 when everything could be measured.
import { bundle } from "../bundle.ts";
import { Endpoint } from "./endpoint.ts";
import { describe, type Figure, HEADING } from "./figure.ts";
import { MEASURES as OWN_MEASURES } from "./measures.ts";
import { peerMeasures } from "./peers.ts";
import { preparePlace } from "./place.ts";

interface Options {
  readonly names: readonly string[];
  readonly asJson: boolean;
  readonly isExecutable: boolean;
  readonly withPeers: boolean;
  readonly peersFolder: string | undefined;
}

if (import.meta.main) Deno.exit(await main(readOptions(Deno.args)));

async function main(options: Options): Promise<number> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "weir_bench_" }));
  try {
    await using endpoint = new Endpoint();
    const program = options.isExecutable
      ? new URL("../../dist/weir", import.meta.url).pathname
      : (await bundle()).pathname;
    const place = await preparePlace({ folder, program, endpoint });
    const peersFolder = options.peersFolder ?? `${folder}/peers`;
    const measures = options.withPeers ? peerMeasures(peersFolder) : OWN_MEASURES;
    const unknown = options.names.filter((name) => !Object.hasOwn(measures, name));
    if (unknown.length > 0) {
      console.error(
        `Cannot measure ${unknown.join(", ")}: use ${Object.keys(measures).join(", ")}`,
      );
      return 2;
    }
    const about = {
      program: options.isExecutable ? "dist/weir" : "dist/weir.js",
      deno: Deno.version.deno,
      cores: navigator.hardwareConcurrency,
      load: load(),
    };
    if (!options.asJson) {
      console.log(
        `${about.program}, deno ${about.deno}, ${about.cores} cores, load ${about.load}\n${HEADING}`,
      );
    }
    const figures: Figure[] = [];
    for (const [name, measure] of Object.entries(measures)) {
      if (options.names.length > 0 && !options.names.includes(name)) continue;
      for (const figure of await measure(place)) {
        figures.push(figure);
        if (!options.asJson) console.log(describe(figure));
      }
    }
    if (options.asJson) {
      console.log(JSON.stringify({ ...about, loadAfter: load(), figures }, null, 2));
    } else {
      const aims = figures.filter(({ met }) => met !== undefined);
      const met = aims.filter(({ met }) => met);
      console.log(`${met.length} of ${aims.length} aims met, load afterwards ${load()}`);
    }
    return 0;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function load(): number {
  return Math.round(Deno.loadavg()[0]! * 100) / 100;
}

function readOptions(args: readonly string[]): Options {
  const names: string[] = [];
  const flags = new Set<string>();
  let peersFolder: string | undefined;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (arg === "--peers-folder") peersFolder = args[++i] ?? refuse(`${arg} needs a folder`);
    else if (["--json", "--executable", "--peers"].includes(arg)) flags.add(arg);
    else if (arg.startsWith("-")) refuse(`unknown option ${arg}`);
    else names.push(arg);
  }
  return {
    names,
    asJson: flags.has("--json"),
    isExecutable: flags.has("--executable"),
    withPeers: flags.has("--peers"),
    peersFolder,
  };
}

function refuse(reason: string): never {
  console.error(
    `Cannot measure: ${reason}, use [measure…] [--json] [--executable] [--peers [--peers-folder DIR]]`,
  );
  Deno.exit(2);
}
