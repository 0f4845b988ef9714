/** Counts for people. */

const UNITS = [[1_000_000, "M"], [1000, "k"]] as const;

/** `68`, `2.4k`, `124k`, `1.2M`: two or three digits that count. */
export function formatCount(count: number): string {
  for (const [size, unit] of UNITS) {
    // Above this a thousand of the smaller unit would be shown.
    if (count < size * (size === 1000 ? 1 : 0.9995)) continue;
    const value = count / size;
    const rounded = value < 99.95 ? Math.round(value * 10) / 10 : Math.round(value);
    return `${rounded}${unit}`;
  }
  return String(count);
}
