/** How long the fault tests go on, and where chance comes from: printed, so that a failure can be repeated. */

/** `WEIR_ROUNDS` times the usual number; the short form is meant for every run of the tests. */
export function rounds(short: number): number {
  const factor = Number(Deno.env.get("WEIR_ROUNDS") ?? "1");
  return Math.max(1, Math.round(short * (Number.isFinite(factor) && factor > 0 ? factor : 1)));
}

/** Numbers from 0 to 1 from `WEIR_SEED`, else from the clock. */
export function createRandom(): {
  random: () => number;
  below: (n: number) => number;
  seed: number;
} {
  const given = Number(Deno.env.get("WEIR_SEED"));
  const seed = Number.isInteger(given) && given > 0 ? given : Date.now() % 2 ** 31;
  console.log(`seed: WEIR_SEED=${seed}`);
  let state = seed;
  // Mulberry32: small, and good enough to choose test cases.
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { random, below: (n) => Math.floor(random() * n), seed };
}
