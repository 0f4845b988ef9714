// A figure beside its floor, and whether it is what we aim at. Knows nothing of what was measured.

/** What a figure should be. Without `isMet` it is there to be read only. */
export interface Aim {
  readonly text: string;
  isMet?(figure: { ours: number; ratio: number | undefined }): boolean;
}

/** One row of the table. `ratio` is ours to the floor's unless the measure says otherwise; `met` is `undefined` where there is no aim. */
export interface Figure {
  readonly work: string;
  readonly unit: string;
  readonly ours: number;
  readonly floor: number | undefined;
  readonly ratio: number | undefined;
  readonly aim: string;
  readonly met: boolean | undefined;
  readonly note: string | undefined;
}

/** What a measure hands over for a row. */
export interface Values {
  readonly unit: string;
  readonly ours: number;
  readonly floor?: number;
  /** Instead of ours to the floor's. */
  readonly ratio?: number;
  readonly aim: Aim;
  readonly note?: string;
}

/** A row; the ratio and the mark are worked out here. */
export function figure(work: string, { unit, ours, floor, aim, note, ...more }: Values): Figure {
  const ratio = more.ratio ?? (floor === undefined ? undefined : ours / floor);
  const met = aim.isMet?.({ ours, ratio });
  return { work, unit, ours, floor, ratio, aim: aim.text, met, note };
}

/** Ours is at most so many times the floor. */
export function atMost(limit: number): Aim {
  return {
    text: `≤ ${limit} ×`,
    isMet: ({ ratio }) => ratio !== undefined && ratio <= limit,
  };
}

/** Ours is at least so many times the floor. */
export function atLeast(limit: number): Aim {
  return {
    text: `≥ ${limit} ×`,
    isMet: ({ ratio }) => ratio !== undefined && ratio >= limit,
  };
}

/** Ours is below the floor. */
export const LESS: Aim = {
  text: "< 1 ×",
  isMet: ({ ratio }) => ratio !== undefined && ratio < 1,
};

/** Ours is at most so much, whatever the floor is. */
export function atMostOf(limit: number, unit: string): Aim {
  return { text: `≤ ${format(limit)} ${unit}`, isMet: ({ ours }) => ours <= limit };
}

/** For the reader only. */
export const NO_AIM: Aim = { text: "–" };

export const HEADING = `  ${"work".padEnd(50)} ${"ours".padStart(10)}       ${
  "floor".padStart(10)
}       ${"ratio".padStart(6)}  aim`;

/** The row as a line, `✔` or `✖` before it where there is an aim; a note gets a line of its own. */
export function describe({ work, unit, ours, floor, ratio, aim, met, note }: Figure): string {
  const mark = met === undefined ? " " : met ? "✔" : "✖";
  const value = (amount: number | undefined) =>
    amount === undefined
      ? "–".padStart(10).padEnd(16)
      : `${format(amount).padStart(10)} ${unit.padEnd(5)}`;
  const line = `${mark} ${work.padEnd(50)} ${value(ours)} ${value(floor)} ${
    (ratio === undefined ? "–" : ratio.toFixed(2)).padStart(6)
  }  ${aim}${met === false ? "  NOT MET" : ""}`;
  return note === undefined ? line : `${line}\n    ${note}`;
}

/** Three digits that count, thousands apart. */
export function format(amount: number): string {
  const size = Math.abs(amount);
  const digits = size < 1 ? 3 : size < 10 ? 2 : size < 100 ? 1 : 0;
  return amount.toLocaleString("en", {
    minimumFractionDigits: Number.isInteger(amount) ? 0 : digits,
    maximumFractionDigits: digits,
  });
}
