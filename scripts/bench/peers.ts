// The programs whose protocol Weir speaks, in the same protocol and against the same endpoint. Their figures stand where floors stand.
import { findNode, installPackage } from "../../tests/fakes/npm_package.ts";
import { Child } from "./child.ts";
import { type Figure, figure, median, type Place, timed } from "./measures.ts";

const CODEX = { name: "@openai/codex", version: "0.171.0" };
const PI = { name: "@earendil-works/pi-coding-agent", version: "1.6.0" };
const PIECES = 50_000;
/** Pieces that the endpoint sends in one go, so that it is not what is measured. */
const PIECES_AT_ONCE = 250;

export const PEER_MEASURES: Record<string, (place: Place) => Promise<Figure[]>> = {
  pi: measurePi,
  codex: measureCodex,
};

/** A program that speaks the protocol. */
interface Peer {
  readonly argv: readonly string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
}

async function measurePi(place: Place): Promise<Figure[]> {
  const [modules, node] = [await installPackage(PI.name, PI.version), await findNode()];
  if (modules === undefined || node === undefined) return [];
  const agent = `${place.home}/pi`;
  await Deno.mkdir(agent, { recursive: true });
  const local = {
    baseUrl: place.server.url,
    api: "openai-completions",
    apiKey: "k",
    models: [{ id: "m" }],
  };
  await Deno.writeTextFile(`${agent}/models.json`, JSON.stringify({ providers: { local } }));
  const options = ["--mode", "rpc", "--offline", "--provider", "local", "--model", "m"];
  const ours: Peer = {
    argv: [...place.program, "--dialect", "pi", ...options],
    env: place.env,
    cwd: place.workspace,
  };
  const pi: Peer = {
    argv: [node, `${modules}/${PI.name}/dist/cli.js`, ...options],
    env: { PI_CODING_AGENT_DIR: agent },
    cwd: place.workspace,
  };
  return [...await measureStart(ours, pi), ...await measureStream(place, { ours, pi })];
}

/** Codex speaks another protocol: the first answer of its app server against ours. */
async function measureCodex(place: Place): Promise<Figure[]> {
  const [modules, node] = [await installPackage(CODEX.name, CODEX.version), await findNode()];
  if (modules === undefined || node === undefined) return [];
  const home = `${place.home}/codex`;
  await Deno.mkdir(home, { recursive: true });
  const codex: Peer = {
    argv: [node, `${modules}/${CODEX.name}/bin/codex.js`, "app-server"],
    env: { HOME: home, CODEX_HOME: home },
    cwd: place.workspace,
  };
  const ours: Peer = { argv: place.weir, env: place.env, cwd: place.workspace };
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { clientInfo: { name: "bench", version: "1" } },
  };
  const first = (peer: Peer, command: object) => timeFirst(peer, { command, answer: '"id":1' });
  const startOurs = () => first(ours, { id: 1, type: "get_state" });
  const startCodex = () => first(codex, initialize);
  await startOurs();
  await startCodex();
  return [
    figure("codex: start to first response", {
      unit: "ms",
      ours: await median(9, startOurs),
      floor: await median(9, startCodex),
      aim: "< 1",
    }),
  ];
}

/** From the start of a program to the record with this text; its end is not counted. */
async function timeFirst(
  peer: Peer,
  { command, answer }: { command: object; answer: string },
): Promise<number> {
  const begin = performance.now();
  await using child = new Child(peer.argv, peer);
  await child.send(JSON.stringify(command) + "\n");
  await child.until(answer);
  return performance.now() - begin;
}

async function measureStart(ours: Peer, pi: Peer): Promise<Figure[]> {
  const start = (peer: Peer) =>
    timeFirst(peer, { command: { id: 1, type: "get_state" }, answer: '"response"' });
  await start(ours);
  await start(pi);
  const times = { ours: await median(11, () => start(ours)), pi: await median(7, () => start(pi)) };
  return [
    figure("pi: start to first response", {
      unit: "ms",
      ours: times.ours,
      floor: times.pi,
      aim: "≤ 0.2",
    }),
  ];
}

async function measureStream(
  place: Place,
  { ours, pi }: { ours: Peer; pi: Peer },
): Promise<Figure[]> {
  const body = [...streamedReply()];
  place.server.answer(() => ({ raw: body }));
  const run = async (peer: Peer) => {
    await using child = new Child(peer.argv, peer);
    await child.send('{"id":1,"type":"get_state"}\n');
    await child.until('"response"');
    await child.send('{"id":2,"type":"prompt","message":"go"}\n');
    // Asking for the first delta leaves the start of the request out.
    await child.until('"text_delta"');
    const ms = await timed(() => child.until('"text_end"'));
    const { peak } = await child.memory();
    await child.until('"agent_end"');
    return { ms, peak };
  };
  const mid = async (peer: Peer) => {
    const runs = [await run(peer), await run(peer), await run(peer)];
    return runs.toSorted((a, b) => a.ms - b.ms)[1]!;
  };
  const [mine, theirs] = [await mid(ours), await mid(pi)];
  const bytes = { mine: await bytesOfDelta(ours), theirs: await bytesOfDelta(pi) };
  return [
    figure(`pi: stream of ${PIECES} pieces`, {
      unit: "ms",
      ours: mine.ms,
      floor: theirs.ms,
      aim: "≤ 0.25",
    }),
    figure("pi:   bytes of a delta", {
      unit: "B",
      ours: bytes.mine,
      floor: bytes.theirs,
      aim: "≤ 0.5",
    }),
    figure("pi:   peak memory", {
      unit: "MiB",
      ours: mine.peak,
      floor: theirs.peak,
      aim: "≤ 0.5",
    }),
  ];
}

async function bytesOfDelta(peer: Peer): Promise<number> {
  await using child = new Child(peer.argv, peer);
  await child.send('{"id":2,"type":"prompt","message":"go"}\n');
  for (;;) {
    const line = await child.line();
    if (line.includes('"text_delta"')) return line.length + 1;
  }
}

/** The body of an answer of many pieces, in few chunks. */
function* streamedReply(): Generator<string> {
  const chunk = (delta: object, finish_reason: string | null) =>
    `data: ${
      JSON.stringify({
        id: "c",
        object: "chat.completion.chunk",
        created: 0,
        model: "m",
        choices: [{ index: 0, delta, finish_reason }],
      })
    }\n\n`;
  yield chunk({ role: "assistant", content: "" }, null);
  for (let i = 0; i < PIECES; i += PIECES_AT_ONCE) {
    yield chunk({ content: "word " }, null).repeat(PIECES_AT_ONCE);
  }
  yield chunk({}, "stop") + "data: [DONE]\n\n";
}
