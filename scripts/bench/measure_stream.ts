// Answers of very many pieces.
import { alternate, timed } from "./alternate.ts";
import { Child } from "./child.ts";
import { textAnswer } from "./endpoint.ts";
import { atLeast, atMost, type Figure, figure } from "./figure.ts";
import { GET_STATE } from "./measure_start.ts";
import { recordPosts, turn, work } from "./measure_turns.ts";
import type { Place } from "./place.ts";

/**
 * The floor parses each piece and prints a record for it, with no conversation, in a process that has had one short answer before, like ours. What
 * comes together it prints together, as we do: a floor that wrote each record by itself would be slower than we are. The endpoint sends many
 * pieces at once, so that it is not what is measured.
 */
export async function measureStream(place: Place): Promise<Figure[]> {
  const { endpoint, weir, floor } = place;
  const short = textAnswer("word ", 500);
  const figures: Figure[] = [];
  for (const pieces of [20_000, 100_000]) {
    const long = textAnswer("word ", pieces);
    for (const detail of ["standard", "full"]) {
      const ours = async () => {
        await using child = new Child(weir());
        await child.ask(GET_STATE);
        await child.ask({ id: 1, type: "set_event_detail", detail });
        endpoint.answer = () => short;
        await turn(child);
        endpoint.answer = () => long;
        const ms = await timed(() => turn(child));
        return { rate: pieces / ms, peak: (await child.memory()).peak };
      };
      const posts = await recordPosts(place, () => ours().then(() => {}));
      const alone = async () => {
        await using child = new Child(floor("floor_work.js", endpoint.url));
        endpoint.answer = () => short;
        await work(child, posts.slice(0, 1));
        endpoint.answer = () => long;
        const ms = await timed(() => work(child, posts.slice(0, 1)));
        return { rate: pieces / ms, peak: (await child.memory()).peak };
      };
      const medians = await alternate(5, { ours, floor: alone });
      figures.push(
        figure(`stream of ${pieces.toLocaleString("en")} pieces, ${detail}`, {
          unit: "/ms",
          ours: medians.ours.rate,
          floor: medians.floor.rate,
          aim: atLeast(0.6),
        }),
        figure("  peak memory", {
          unit: "MiB",
          ours: medians.ours.peak,
          floor: medians.floor.peak,
          aim: atMost(1.6),
        }),
      );
    }
  }
  return figures;
}
