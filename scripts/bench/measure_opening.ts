// Opening long sessions.
import { alternate } from "./alternate.ts";
import { Child, type Program } from "./child.ts";
import { atMost, type Figure, figure, NO_AIM } from "./figure.ts";
import { GET_STATE } from "./measure_start.ts";
import type { Place } from "./place.ts";

const GET_MESSAGES = '{"id":2,"type":"get_messages"}\n';

/**
 * The floor reads and parses the file in a new process before it answers. What a start without a session takes, measured in the same rounds, is
 * subtracted from both.
 */
export async function measureOpening(place: Place): Promise<Figure[]> {
  const { weir, floor } = place;
  const figures: Figure[] = [];
  let before: { count: number; ms: number } | undefined;
  for (const count of [2000, 10_000, 50_000]) {
    const id = `bench-${count}`;
    const file = await writeSession(place, { id, count });
    const runs = {
      ours: () => openOnce(weir("--session-id", id)),
      floor: () => openOnce(floor("floor_open.js", file)),
      start: () => openOnce(weir("--no-session")),
      floorStart: () => openOnce(floor("floor_open.js")),
    };
    await alternate(1, runs);
    const times = await alternate(count < 50_000 ? 9 : 5, runs);
    const beside = (key: "state" | "messages") => ({
      ours: times.ours[key] - times.start[key],
      floor: times.floor[key] - times.floorStart[key],
    });
    const [state, messages] = [beside("state"), beside("messages")];
    const name = `open ${count.toLocaleString("en")} messages`;
    figures.push(
      figure(`${name}, get_state`, { unit: "ms", ...state, aim: atMost(2) }),
      // The floor that the aim names ends with the parsed file.
      figure(`${name}, get_state, get_messages`, {
        unit: "ms",
        ours: messages.ours,
        floor: state.floor,
        aim: atMost(2),
      }),
      figure("  the same where the floor prints the messages too", {
        unit: "ms",
        ...messages,
        aim: NO_AIM,
      }),
    );
    if (before !== undefined) {
      const times = count / before.count;
      figures.push(
        figure(`${name}, to ${before.count.toLocaleString("en")}`, {
          unit: "ms",
          ours: messages.ours,
          floor: before.ms,
          // As many times the work, and a fifth for noise.
          aim: atMost(times * 1.2),
        }),
      );
    }
    before = { count, ms: messages.ours };
  }
  return figures;
}

/** From the start to the state, and to all messages. */
export async function openOnce(program: Program): Promise<{ state: number; messages: number }> {
  const begin = performance.now();
  await using child = new Child(program);
  await child.send(GET_STATE);
  await child.skip(1);
  const state = performance.now() - begin;
  await child.send(GET_MESSAGES);
  await child.skip(1);
  return { state, messages: performance.now() - begin };
}

/** A session of the workspace with this many messages, in the published format; gives its file. */
export async function writeSession(
  { home, workspace }: Place,
  { id, count }: { id: string; count: number },
): Promise<string> {
  const folder = `${home}/sessions/--${workspace.slice(1).replaceAll("/", "-")}--`;
  await Deno.mkdir(folder, { recursive: true });
  const timestamp = new Date(0).toISOString();
  const lines = [JSON.stringify({ type: "session", version: 3, id, timestamp, cwd: workspace })];
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost };
  const origin = { api: "openai-completions", provider: "local", model: "m" };
  for (let i = 0; i < count; i++) {
    const text = `Message ${i} ${"with some text ".repeat(30)}`;
    const content = [{ type: "text", text }];
    const message = i % 2 === 0
      ? { role: "user", content, timestamp: i }
      : { role: "assistant", content, ...origin, usage, stopReason: "stop", timestamp: i };
    const entryId = (number: number) => number.toString(16).padStart(8, "0");
    const parentId = i === 0 ? null : entryId(i - 1);
    lines.push(JSON.stringify({ type: "message", id: entryId(i), parentId, timestamp, message }));
  }
  const file = `${folder}/2026-01-01T00-00-00-000Z_${id}.jsonl`;
  await Deno.writeTextFile(file, lines.join("\n") + "\n");
  return file;
}
