// What is measured. Each measure gives our figure and that of its floor, taken in turns in the same run.
import type { ModelServer } from "../../tests/fakes/model_server.ts";
import { Child } from "./child.ts";

/** A figure beside its floor. `ratio` is ours to the floor's; `better` says which way. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  readonly floor: number;
  readonly aim: string;
  readonly ratio: number;
}

export interface Place {
  /** Starts the program under measurement, with `--mode rpc` and what it needs. */
  readonly weir: readonly string[];
  /** The program under measurement, without a word more. */
  readonly program: readonly string[];
  readonly acp: readonly string[];
  readonly floorLines: readonly string[];
  readonly floorStream: readonly string[];
  readonly env: Record<string, string>;
  readonly home: string;
  readonly workspace: string;
  readonly server: ModelServer;
}

const GET_STATE = '{"id":1,"type":"get_state"}\n';

export const MEASURES: Record<string, (place: Place) => Promise<Figure[]>> = {
  start: measureStart,
  acpStart: measureAcpStart,
  roundTrips: measureRoundTrips,
  pipelined: measurePipelined,
  stream: measureStream,
  longLines: measureLongLines,
  opening: measureOpening,
  turns: measureTurns,
};

export function figure(name: string, values: Omit<Figure, "name" | "ratio">): Figure {
  return { name, ...values, ratio: values.ours / values.floor };
}

/** The middle of several runs: noise on a shared machine is mostly upwards. */
export async function median(times: number, run: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let i = 0; i < times; i++) values.push(await run());
  return values.toSorted((a, b) => a - b)[Math.floor(times / 2)]!;
}

export async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

async function measureAcpStart(place: Place): Promise<Figure[]> {
  const initialize =
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n';
  const start = async (argv: readonly string[]) => {
    const begin = performance.now();
    await using child = new Child(argv, { env: place.env });
    await child.send(initialize);
    await child.line();
    return performance.now() - begin;
  };
  await start(place.acp);
  const ours: number[] = [];
  const floor: number[] = [];
  for (let i = 0; i < 15; i++) {
    ours.push(await start(place.acp));
    floor.push(await start(place.floorLines));
  }
  const middle = (values: number[]) => values.toSorted((a, b) => a - b)[7]!;
  return [figure("acp: start to initialize answered", {
    unit: "ms",
    ours: middle(ours),
    floor: middle(floor),
    aim: "≤ 2.0",
  })];
}

async function measureStart(place: Place): Promise<Figure[]> {
  const memory = { ours: 0, floor: 0 };
  const start = async (argv: readonly string[], whose: "ours" | "floor") => {
    const begin = performance.now();
    await using child = new Child(argv, { env: place.env });
    await child.send(GET_STATE);
    await child.line();
    const elapsed = performance.now() - begin;
    memory[whose] = (await child.memory()).now;
    return elapsed;
  };
  await start(place.weir, "ours");
  await start(place.floorLines, "floor");
  const ours: number[] = [];
  const floor: number[] = [];
  for (let i = 0; i < 15; i++) {
    ours.push(await start(place.weir, "ours"));
    floor.push(await start(place.floorLines, "floor"));
  }
  const middle = (values: number[]) => values.toSorted((a, b) => a - b)[7]!;
  return [
    figure("start to first response", {
      unit: "ms",
      ours: middle(ours),
      floor: middle(floor),
      aim: "≤ 2.0",
    }),
    figure("idle resident memory", {
      unit: "MiB",
      ours: memory.ours,
      floor: memory.floor,
      aim: "≤ 60 MiB",
    }),
  ];
}

async function measureRoundTrips(place: Place): Promise<Figure[]> {
  const run = async (argv: readonly string[]) => {
    await using child = new Child(argv, { env: place.env });
    const ask = async () => {
      await child.send(GET_STATE);
      await child.line();
    };
    for (let i = 0; i < 200; i++) await ask();
    return await timed(async () => {
      for (let i = 0; i < 1000; i++) await ask();
    });
  };
  const ours = await median(5, () => run(place.weir));
  const floor = await median(5, () => run(place.floorLines));
  return [figure("1,000 get_state one by one", { unit: "ms", ours, floor, aim: "≤ 1.5" })];
}

async function measurePipelined(place: Place): Promise<Figure[]> {
  const commands = GET_STATE.repeat(100_000);
  const run = async (argv: readonly string[]) => {
    await using child = new Child(argv, { env: place.env });
    await child.send(GET_STATE);
    await child.line();
    return await timed(async () => {
      const sent = child.send(commands);
      for (let i = 0; i < 100_000; i++) await child.line();
      await sent;
    });
  };
  const ours = await median(3, () => run(place.weir));
  const floor = await median(3, () => run(place.floorLines));
  return [figure("100,000 get_state pipelined", { unit: "ms", ours, floor, aim: "≤ 1.5" })];
}

async function measureStream(place: Place): Promise<Figure[]> {
  const figures: Figure[] = [];
  const { server } = place;
  for (const pieces of [20_000, 100_000]) {
    server.answer(() => ({ text: "word ", pieces }));
    const floorRun = async () => {
      await using child = new Child([...place.floorStream, server.url], { env: place.env });
      return await timed(async () => {
        for (let i = 0; i < pieces; i++) await child.line();
      });
    };
    for (const detail of ["standard", "full"]) {
      let peak = 0;
      const ours = await median(3, async () => {
        await using child = new Child(place.weir, { env: place.env });
        await child.send(`{"id":1,"type":"set_event_detail","detail":"${detail}"}\n`);
        await child.line();
        const elapsed = await timed(async () => {
          await child.send('{"id":2,"type":"prompt","message":"go"}\n');
          await child.until('"agent_settled"');
        });
        peak = (await child.memory()).peak;
        return elapsed;
      });
      const floor = await median(3, floorRun);
      figures.push(
        figure(`stream of ${pieces} pieces, ${detail}`, {
          unit: "ms",
          ours,
          floor,
          aim: "≤ 1.67 (60 % of the rate)",
        }),
      );
      figures.push(
        figure(`  peak memory`, {
          unit: "MiB",
          ours: peak,
          floor: await streamPeak(place, pieces),
          aim: "≤ 1.6",
        }),
      );
    }
  }
  return figures;
}

async function streamPeak(place: Place, pieces: number): Promise<number> {
  await using child = new Child([...place.floorStream, place.server.url], { env: place.env });
  let peak = 0;
  for (let i = 0; i < pieces; i++) {
    await child.line();
    if (i === pieces - 2) peak = (await child.memory()).peak;
  }
  return peak;
}

async function measureLongLines(place: Place): Promise<Figure[]> {
  const run = async (mebibytes: number) => {
    await using child = new Child(place.weir, { env: place.env });
    await child.send(GET_STATE);
    await child.line();
    const line = `{"id":1,"type":"nothing","text":"${"x".repeat(mebibytes * 1024 * 1024)}"}\n`;
    return await timed(async () => {
      const sent = child.send(line);
      await child.line();
      await sent;
    });
  };
  const four = await median(3, () => run(4));
  const sixteen = await median(3, () => run(16));
  const sixtyThree = await median(3, () => run(63));
  return [
    figure("line of 16 MiB, to one of 4 MiB", {
      unit: "ms",
      ours: sixteen,
      floor: four,
      aim: "≤ 4.5",
    }),
    figure("line of 63 MiB, to one of 16 MiB", {
      unit: "ms",
      ours: sixtyThree,
      floor: sixteen,
      aim: "≤ 4.5",
    }),
  ];
}

async function measureOpening(place: Place): Promise<Figure[]> {
  const figures: Figure[] = [];
  const open = async (...options: string[]) =>
    await median(3, async () => {
      const begin = performance.now();
      await using child = new Child([...place.weir, ...options], { env: place.env });
      await child.send(GET_STATE);
      await child.line();
      await child.send('{"id":2,"type":"get_messages"}\n');
      await child.line();
      return performance.now() - begin;
    });
  await open("--no-session");
  const start = await open("--no-session");
  let before: number | undefined;
  for (const count of [2000, 10_000, 20_000, 50_000]) {
    const id = `bench-${count}`;
    const file = await writeSession(place, id, count);
    // What every start takes is not the session's.
    const ours = Math.max(0, await open("--session-id", id) - start);
    const floor = await median(3, () => timed(() => parseFile(file)));
    figures.push(
      figure(`open ${count} messages, get_state, get_messages`, {
        unit: "ms",
        ours,
        floor,
        aim: "≤ 2 beside the start",
      }),
    );
    if (count === 20_000 && before !== undefined) {
      figures.push(
        figure("open 20,000 messages, to 10,000", {
          unit: "ms",
          ours,
          floor: before,
          aim: "≤ 2.5",
        }),
      );
    }
    before = ours;
  }
  return figures;
}

async function parseFile(file: string): Promise<void> {
  for (const line of (await Deno.readTextFile(file)).split("\n")) if (line !== "") JSON.parse(line);
}

/** A session of the workspace with this many messages, in the published format. */
async function writeSession(place: Place, id: string, count: number): Promise<string> {
  const folder = `${place.home}/sessions/--${place.workspace.slice(1).replaceAll("/", "-")}--`;
  await Deno.mkdir(folder, { recursive: true });
  const timestamp = new Date(0).toISOString();
  const lines = [
    JSON.stringify({ type: "session", version: 3, id, timestamp, cwd: place.workspace }),
  ];
  const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15 };
  for (let i = 0; i < count; i++) {
    const text = `Message ${i} ${"with some text ".repeat(30)}`;
    const content = [{ type: "text", text }];
    const message = i % 2 === 0 ? { role: "user", content, timestamp: i } : {
      role: "assistant",
      content,
      api: "openai-completions",
      provider: "p",
      model: "m",
      usage,
      stopReason: "stop",
      timestamp: i,
    };
    const entry = {
      type: "message",
      id: i.toString(16).padStart(8, "0"),
      parentId: i === 0 ? null : (i - 1).toString(16).padStart(8, "0"),
      timestamp,
      message,
    };
    lines.push(JSON.stringify(entry));
  }
  const file = `${folder}/2026-01-01T00-00-00-000Z_${id}.jsonl`;
  await Deno.writeTextFile(file, lines.join("\n") + "\n");
  return file;
}

async function measureTurns(place: Place): Promise<Figure[]> {
  const { server } = place;
  server.answer(() => ({ text: "fine" }));
  await using child = new Child(place.weir, { env: place.env });
  const turn = async () => {
    await child.send('{"id":1,"type":"prompt","message":"go"}\n');
    await child.until('"agent_settled"');
  };
  for (let i = 0; i < 50; i++) await turn();
  const begin = (await child.memory()).now;
  const first = await timed(async () => {
    for (let i = 0; i < 100; i++) await turn();
  });
  const exchange = await timed(async () => {
    for (let i = 0; i < 100; i++) await askAlone(server.url);
  });
  for (let i = 0; i < 750; i++) await turn();
  const last = await timed(async () => {
    for (let i = 0; i < 100; i++) await turn();
  });
  const growth = (await child.memory()).now - begin;
  return [
    figure("prompt to settled, warm", {
      unit: "ms",
      ours: first / 100,
      floor: exchange / 100,
      aim: "≤ 2.5 and the flush",
    }),
    figure("last 100 of 1,000 turns, to the first", {
      unit: "ms",
      ours: last,
      floor: first,
      aim: "≤ 1.1",
    }),
    figure("memory after 950 more turns, to before", {
      unit: "MiB",
      ours: begin + growth,
      floor: begin,
      aim: "what 1,900 messages weigh",
    }),
  ];
}

async function askAlone(url: string): Promise<void> {
  const response = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "go" }] }),
  });
  await response.text();
}
