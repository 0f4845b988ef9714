// The programs whose protocol Weir speaks, in the same protocol and against the same endpoint. Their figures stand where floors stand.
import { findNode, installPackage } from "../../tests/fakes/npm_package.ts";
import { Child } from "./child.ts";
import { type Figure, figure, median, type Place, timed } from "./measures.ts";

const PI = { name: "@earendil-works/pi-coding-agent", version: "1.6.0" };
const PIECES = 50_000;
/** Pieces that the endpoint sends in one go, so that it is not what is measured. */
const PIECES_AT_ONCE = 250;

export const PEER_MEASURES: Record<string, (place: Place) => Promise<Figure[]>> = {
  pi: measurePi,
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

async function measureStart(ours: Peer, pi: Peer): Promise<Figure[]> {
  const start = async (peer: Peer) =>
    await timed(async () => {
      await using child = new Child(peer.argv, peer);
      await child.send('{"id":1,"type":"get_state"}\n');
      await child.until('"response"');
    });
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
