// Ours and the floor in turns, so that whatever else the machine does falls on both.

/** What one run gave, by name. */
export type Sample = Record<string, number>;

/**
 * Makes all the runs in turns, `times` times, every other time in the opposite order; gives the median of each of their values. Runs are
 * never made at the same time.
 */
export async function alternate<Name extends string, S extends Sample>(
  times: number,
  runs: Record<Name, () => Promise<S>>,
): Promise<Record<Name, S>> {
  const names = Object.keys(runs) as Name[];
  const samples = new Map<Name, S[]>(names.map((name) => [name, []]));
  for (let round = 0; round < times; round++) {
    const order = round % 2 === 0 ? names : names.toReversed();
    for (const name of order) samples.get(name)!.push(await runs[name]());
  }
  const medians = names.map((name) => [name, medianOf(samples.get(name)!)] as const);
  return Object.fromEntries(medians) as Record<Name, S>;
}

/** The value in the middle, the lower one of two. */
export function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)]!;
}

/** Milliseconds. */
export async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

function medianOf<S extends Sample>(samples: readonly S[]): S {
  const names = Object.keys(samples[0]!);
  return Object.fromEntries(
    names.map((name) => [name, middle(samples.map((sample) => sample[name]!))]),
  ) as S;
}
