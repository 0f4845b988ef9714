// Equality as `@std/assert` sees it, and the text that shows where two values differ.
import { inspect, isDeepStrictEqual } from "node:util";

/** True when both values have the same structure; a missing prototype and `Object`, and `-0` and `0`, count as the same. */
export function equal(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(left, right) || isDeepStrictEqual(plain(left), plain(right));
}

/** Prints a value on several lines, the same way for equal values. */
export function format(value: unknown): string {
  return inspect(value, {
    depth: 20,
    sorted: true,
    maxArrayLength: 1000,
    maxStringLength: 20_000,
    breakLength: 80,
    compact: false,
  });
}

/** Lists the lines of `right` marked `+` and those of `left` marked `-`, with the lines that both have between them. */
export function difference(left: unknown, right: unknown): string {
  const [a, b] = typeof left === "string" && typeof right === "string" && /\n/.test(left + right)
    ? [left.split("\n"), right.split("\n")]
    : [format(left).split("\n"), format(right).split("\n")];
  return lineDifference(a, b).join("\n");
}

function lineDifference(a: string[], b: string[]): string[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (
    tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)
  ) tail++;
  return [
    "    [Diff] Actual (-) / Expected (+)",
    "",
    ...context(a.slice(0, head), "first"),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...context(a.slice(a.length - tail), "last"),
    "",
  ];
}

/** The changed part: a longest common subsequence when it is small enough to be worth its quadratic price. */
function middle(a: string[], b: string[]): string[] {
  if (a.length * b.length > 250_000) {
    return [...a.map((line) => `-   ${line}`), ...b.map((line) => `+   ${line}`)];
  }
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j]
        ? common[(i + 1) * width + j + 1] + 1
        : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const lines: string[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(`    ${a[i++]}`);
      j++;
    } else if (
      i < a.length &&
      (j === b.length || common[(i + 1) * width + j] >= common[i * width + j + 1])
    ) {
      lines.push(`-   ${a[i++]}`);
    } else {
      lines.push(`+   ${b[j++]}`);
    }
  }
  return lines;
}

function context(lines: string[], side: "first" | "last"): string[] {
  const kept = side === "first" ? lines.slice(-8) : lines.slice(0, 8);
  const left = lines.length - kept.length;
  const note = left > 0 ? [`    … ${left} equal lines`] : [];
  const shown = kept.map((line) => `    ${line}`);
  return side === "first" ? [...note, ...shown] : [...shown, ...note];
}

/** A copy in which plain objects have the usual prototype and `-0` is `0`; other objects stay as they are. */
function plain(value: unknown, seen = new Map<unknown, unknown>()): unknown {
  if (value === 0) return 0;
  if (typeof value !== "object" || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  const prototype = Object.getPrototypeOf(value);
  const isPlain = prototype === null || prototype === Object.prototype;
  if (!isPlain && !Array.isArray(value)) return value;
  const copy = Array.isArray(value) ? new Array<unknown>(value.length) : {};
  seen.set(value, copy);
  for (const key of Reflect.ownKeys(value)) {
    if (!Object.prototype.propertyIsEnumerable.call(value, key)) continue;
    Object.defineProperty(copy, key, {
      value: plain((value as Record<PropertyKey, unknown>)[key], seen),
      enumerable: true,
    });
  }
  return copy;
}
