// Other agents in the place of the floor, against the same endpoint and in the same rounds: pi in its own protocol, which Weir speaks too,
// and Codex, whose protocol is its own, so that only starts can be compared.
import { alternate, timed } from "./alternate.ts";
import { Child, type Program } from "./child.ts";
import { textAnswer } from "./endpoint.ts";
import { atLeast, atMost, type Figure, figure, LESS, NO_AIM } from "./figure.ts";
import { findNode, installPeer } from "./install_peer.ts";
import { writeSession } from "./measure_opening.ts";
import { GET_STATE, startOnce } from "./measure_start.ts";
import type { Measure } from "./measures.ts";
import type { Place } from "./place.ts";

const CODEX = { name: "@openai/codex", version: "0.171.0" };
const PI = { name: "@earendil-works/pi-coding-agent", version: "1.6.0" };
const PIECES = 20_000;
const MESSAGES = 10_000;
const STATE_ANSWERED = '"command":"get_state"';
const INITIALIZE = { jsonrpc: "2.0", id: 1, method: "initialize" };

/** The measures with peers, which are installed into this folder when they are needed. */
export function peerMeasures(folder: string): Record<string, Measure> {
  return {
    codex: (place) => measureCodex(place, folder),
    pi: (place) => measurePi(place, folder),
  };
}

interface Pair {
  readonly ours: Program;
  readonly pi: Program;
}

async function measurePi(place: Place, folder: string): Promise<Figure[]> {
  const modules = await installPeer(folder, PI);
  const node = await findNode(folder);
  const home = `${place.folder}/pi`;
  await Deno.mkdir(home, { recursive: true });
  const local = {
    baseUrl: place.endpoint.url,
    api: "openai-completions",
    apiKey: "k",
    models: [{ id: "m" }],
  };
  await Deno.writeTextFile(`${home}/models.json`, JSON.stringify({ providers: { local } }));
  const pair = (...more: string[]): Pair => {
    const options = ["--mode", "rpc", "--offline", "--provider", "local", "--model", "m", ...more];
    const cli = `${modules}/${PI.name}/dist/cli.js`;
    const env = { ...place.env, HOME: home, PI_CODING_AGENT_DIR: home };
    return {
      ours: place.bare("--dialect", "pi", ...options),
      pi: { argv: [node, cli, ...options], env, cwd: place.workspace },
    };
  };
  return [
    ...await measureStart(pair()),
    ...await measureStream(place, pair()),
    ...await measureOpening(place, pair),
  ];
}

async function measureStart({ ours, pi }: Pair): Promise<Figure[]> {
  const start = (program: Program) => () => startOnce(program, { answer: STATE_ANSWERED });
  const runs = { ours: start(ours), pi: start(pi) };
  await alternate(2, runs);
  const times = await alternate(9, runs);
  return [
    figure("pi: start to first response", {
      unit: "ms",
      ours: times.ours.ms,
      floor: times.pi.ms,
      aim: atMost(0.2),
    }),
    figure("pi: idle resident memory", {
      unit: "MiB",
      ours: times.ours.memory,
      floor: times.pi.memory,
      aim: NO_AIM,
    }),
  ];
}

/** From the first piece to the last, after a short answer. */
async function measureStream(place: Place, { ours, pi }: Pair): Promise<Figure[]> {
  const { endpoint } = place;
  const [short, long] = [textAnswer("word ", 500), textAnswer("word ", PIECES)];
  const run = (program: Program) => async () => {
    await using child = new Child(program);
    await child.send(GET_STATE);
    await child.until(STATE_ANSWERED);
    endpoint.answer = () => short;
    await child.send('{"id":2,"type":"prompt","message":"go"}\n');
    await child.until('"agent_settled"');
    endpoint.answer = () => long;
    await child.send('{"id":3,"type":"prompt","message":"go"}\n');
    await child.until('"text_start"');
    const before = child.received;
    const ms = await timed(() => child.until('"text_end"'));
    const bytes = (child.received - before) / PIECES;
    const { peak } = await child.memory();
    return { rate: PIECES / ms, bytes, peak };
  };
  const medians = await alternate(3, { ours: run(ours), pi: run(pi) });
  const row = (key: "rate" | "bytes" | "peak", unit: string) => ({
    unit,
    ours: medians.ours[key],
    floor: medians.pi[key],
  });
  const name = `pi: stream of ${PIECES.toLocaleString("en")} pieces`;
  return [
    figure(name, { ...row("rate", "/ms"), aim: atLeast(4) }),
    figure("pi:   bytes per piece", { ...row("bytes", "B"), aim: atMost(0.5) }),
    figure("pi:   peak memory", { ...row("peak", "MiB"), aim: atMost(0.5) }),
  ];
}

/** Each has a copy of the file: one that is opened may be written to. */
async function measureOpening(
  place: Place,
  pair: (...more: string[]) => Pair,
): Promise<Figure[]> {
  const file = await writeSession(place, { id: "peers", count: MESSAGES });
  const [mine, theirs] = [`${place.folder}/mine.jsonl`, `${place.folder}/theirs.jsonl`];
  for (const copy of [mine, theirs]) await Deno.copyFile(file, copy);
  const open = (program: Program) => async () => {
    const begin = performance.now();
    await using child = new Child(program);
    await child.send(GET_STATE);
    await child.until(STATE_ANSWERED);
    const state = performance.now() - begin;
    await child.send('{"id":2,"type":"get_messages"}\n');
    await child.until('"command":"get_messages"');
    return { state, messages: performance.now() - begin };
  };
  const runs = {
    ours: open(pair("--session", mine).ours),
    pi: open(pair("--session", theirs).pi),
  };
  await alternate(1, runs);
  const times = await alternate(5, runs);
  const name = `pi: start with ${MESSAGES.toLocaleString("en")} messages`;
  const row = (key: "state" | "messages") => ({
    unit: "ms",
    ours: times.ours[key],
    floor: times.pi[key],
    aim: LESS,
  });
  return [
    figure(`${name}, get_state`, row("state")),
    figure(`${name}, get_messages`, row("messages")),
  ];
}

/** The first answer of its app server against ours: started as npm installs it, and the program inside that the script starts. */
async function measureCodex(place: Place, folder: string): Promise<Figure[]> {
  const modules = await installPeer(folder, CODEX);
  const home = `${place.folder}/codex`;
  await Deno.mkdir(home, { recursive: true });
  const env = { ...place.env, HOME: home, CODEX_HOME: home };
  const program = (...argv: string[]): Program => ({
    argv: [...argv, "app-server"],
    env,
    cwd: place.workspace,
  });
  const script = program(await findNode(folder), `${modules}/${CODEX.name}/bin/codex.js`);
  const inside = program(await findInside(modules));
  const command = (params: object) => JSON.stringify({ ...INITIALIZE, params }) + "\n";
  const codex = command({ clientInfo: { name: "bench", version: "1" } });
  const acp = command({ protocolVersion: 1 });
  const runs = {
    ours: () => startOnce(place.weir()),
    acp: () => startOnce(place.bare("--mode", "acp"), { command: acp }),
    script: () => startOnce(script, { command: codex }),
    inside: () => startOnce(inside, { command: codex }),
  };
  await alternate(2, runs);
  const times = await alternate(9, runs);
  const row = (ours: { ms: number }, floor: { ms: number }) => ({
    unit: "ms",
    ours: ours.ms,
    floor: floor.ms,
    aim: LESS,
  });
  return [
    figure("codex: start to get_state, to initialize", row(times.ours, times.script)),
    figure("codex: start to acp's initialize, to initialize", row(times.acp, times.script)),
    figure("codex: start to get_state, to its inner program's", {
      ...row(times.ours, times.inside),
      aim: NO_AIM,
    }),
  ];
}

/** The executable for this machine. */
async function findInside(modules: string): Promise<string> {
  for await (const { name } of Deno.readDir(`${modules}/@openai`)) {
    const vendor = `${modules}/@openai/${name}/vendor`;
    try {
      for await (const target of Deno.readDir(vendor)) {
        const file = `${vendor}/${target.name}/bin/codex`;
        if ((await Deno.stat(file)).isFile) return file;
      }
    } catch {
      // Not the package with the executable.
    }
  }
  throw new Error("Cannot measure Codex: its package has no executable for this machine");
}
