// What can be measured, by name, in the order of the table.
import type { Figure } from "./figure.ts";
import { measureLines, measurePipelined, measureRoundTrips } from "./measure_lines.ts";
import { measureOpening } from "./measure_opening.ts";
import { measureSearch } from "./measure_search.ts";
import { measureAcpStart, measureStart } from "./measure_start.ts";
import { measureStream } from "./measure_stream.ts";
import { measureBash, measureReads } from "./measure_tools.ts";
import { measurePrompt, measureTurns } from "./measure_turns.ts";
import type { Place } from "./place.ts";

/** Takes some figures. */
export type Measure = (place: Place) => Promise<Figure[]>;

export const MEASURES: Record<string, Measure> = {
  start: measureStart,
  acpStart: measureAcpStart,
  roundTrips: measureRoundTrips,
  pipelined: measurePipelined,
  prompt: measurePrompt,
  stream: measureStream,
  reads: measureReads,
  bash: measureBash,
  opening: measureOpening,
  turns: measureTurns,
  search: measureSearch,
  lines: measureLines,
};
