// Stands in for `jsr:@std/assert` where only the npm registry is reachable: the assertions that this
// repository uses, with the same signatures. Knows nothing of the project.
import { AssertionError } from "./assertion_error.ts";
import { difference, equal, format } from "./equal.ts";

export { AssertionError } from "./assertion_error.ts";
export { equal } from "./equal.ts";
export { assertRejects, assertThrows } from "./errors.ts";

// deno-lint-ignore no-explicit-any -- any class, whatever its constructor takes
type AnyClass<T = unknown> = abstract new (...args: any[]) => T;
// deno-lint-ignore no-explicit-any -- the real signature: properties of any type may be compared
type LooseRecord = Record<PropertyKey, any>;

/** Fails unless `expr` is truthy. */
export function assert(expr: unknown, msg = ""): asserts expr {
  if (!expr) throw new AssertionError(msg);
}

/** What counts as false. */
export type Falsy = false | 0 | 0n | "" | null | undefined;

/** Fails unless `expr` is falsy. */
export function assertFalse(expr: unknown, msg = ""): asserts expr is Falsy {
  if (expr) throw new AssertionError(msg);
}

/** Fails unless both values have the same structure. */
export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  if (equal(actual, expected)) return;
  throw new AssertionError(
    `Values are not equal${suffix(msg)}\n\n${difference(actual, expected)}`,
  );
}

/** Fails when both values have the same structure. */
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void {
  if (!equal(actual, expected)) return;
  throw new AssertionError(
    `Expected actual: ${format(actual)} not to be: ${format(expected)}${suffix(msg)}`,
  );
}

/** Fails unless both are the same value (`Object.is`). */
export function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  msg?: string,
): asserts actual is T {
  if (Object.is(actual, expected)) return;
  const shown = equal(actual, expected)
    ? `Values have the same structure but are not reference-equal${suffix(msg)}\n\n${
      format(actual)
    }`
    : `Values are not strictly equal${suffix(msg)}\n\n${difference(actual, expected)}`;
  throw new AssertionError(shown);
}

/** Fails when both are the same value (`Object.is`). */
export function assertNotStrictEquals<T>(actual: T, expected: T, msg?: string): void {
  if (!Object.is(actual, expected)) return;
  throw new AssertionError(
    `Expected "actual" to not be strictly equal to: ${format(actual)}${suffix(msg)}`,
  );
}

/** Fails when `actual` is `undefined` or `null`. */
export function assertExists<T>(actual: T, msg?: string): asserts actual is NonNullable<T> {
  if (actual !== undefined && actual !== null) return;
  throw new AssertionError(
    `Expected actual: "${actual}" to not be null or undefined${suffix(msg)}`,
  );
}

/** Fails unless `actual` is an instance of `expectedType`. */
export function assertInstanceOf<T extends AnyClass>(
  actual: unknown,
  expectedType: T,
  msg?: string,
): asserts actual is InstanceType<T> {
  if (actual instanceof expectedType) return;
  throw new AssertionError(
    `Expected object to be an instance of "${expectedType.name}" but was ${kindOf(actual)}${
      suffix(msg)
    }`,
  );
}

/** Fails unless `expected` matches `actual`. */
export function assertMatch(actual: string, expected: RegExp, msg?: string): void {
  if (expected.test(actual)) return;
  throw new AssertionError(
    `Expected actual: ${format(actual)} to match: ${expected}${suffix(msg)}`,
  );
}

/** Fails when `expected` matches `actual`. */
export function assertNotMatch(actual: string, expected: RegExp, msg?: string): void {
  if (!expected.test(actual)) return;
  throw new AssertionError(
    `Expected actual: ${format(actual)} to not match: ${expected}${suffix(msg)}`,
  );
}

/** Fails unless `expected` is a part of `actual`. */
export function assertStringIncludes(actual: string, expected: string, msg?: string): void {
  if (actual.includes(expected)) return;
  throw new AssertionError(
    `Expected actual: ${format(actual)} to contain: ${format(expected)}${suffix(msg)}`,
  );
}

/** Fails unless each item of `expected` equals some item of `actual`. */
export function assertArrayIncludes<T>(
  actual: ArrayLike<T>,
  expected: ArrayLike<T>,
  msg?: string,
): void {
  const items = Array.from(actual);
  const missing = Array.from(expected).filter((want) => !items.some((item) => equal(item, want)));
  if (missing.length === 0) return;
  throw new AssertionError(
    `Expected actual: ${format(actual)} to include: ${format(expected)}${suffix(msg)}\nmissing: ${
      format(missing)
    }`,
  );
}

/** Fails unless `actual` has every property of `expected`, deeply; it may have more. */
export function assertObjectMatch(
  actual: LooseRecord,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void {
  assertEquals(common(actual, expected), common(expected, expected), msg);
}

/** Fails unless `actual > expected`. */
export function assertGreater<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual > expected)) failOrder(actual, ">", expected, msg);
}

/** Fails unless `actual >= expected`. */
export function assertGreaterOrEqual<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual >= expected)) failOrder(actual, ">=", expected, msg);
}

/** Fails unless `actual < expected`. */
export function assertLess<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual < expected)) failOrder(actual, "<", expected, msg);
}

/** Fails unless `actual <= expected`. */
export function assertLessOrEqual<T>(actual: T, expected: T, msg?: string): void {
  if (!(actual <= expected)) failOrder(actual, "<=", expected, msg);
}

/** Always fails. */
export function fail(msg?: string): never {
  throw new AssertionError(`Failed assertion${suffix(msg)}`);
}

/** Always fails: marks a place that cannot be reached. */
export function unreachable(msg?: string): never {
  throw new AssertionError(`Unreachable${suffix(msg)}`);
}

function suffix(msg: string | undefined): string {
  return msg ? `: ${msg}` : ".";
}

function failOrder(actual: unknown, order: string, expected: unknown, msg?: string): never {
  throw new AssertionError(`Expect ${format(actual)} ${order} ${format(expected)}${suffix(msg)}`);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "object") return `"${value.constructor?.name ?? "Object"}"`;
  return `"${typeof value}"`;
}

/** The part of `actual` that `expected` speaks about, as plain objects and arrays. */
function common(actual: unknown, expected: unknown, seen = new Map<unknown, unknown>()): unknown {
  if (!isComparable(actual) || !isComparable(expected)) return actual;
  if (Array.isArray(actual) !== Array.isArray(expected)) return actual;
  if (seen.has(expected)) return seen.get(expected);
  if (Array.isArray(expected)) {
    const items: unknown[] = [];
    seen.set(expected, items);
    (actual as unknown[]).forEach((item, index) => items.push(common(item, expected[index], seen)));
    return items;
  }
  const picked: LooseRecord = {};
  seen.set(expected, picked);
  for (const key of Reflect.ownKeys(expected)) {
    if (key in actual) picked[key] = common((actual as LooseRecord)[key], expected[key], seen);
  }
  return picked;
}

/** Maps, sets, dates, errors and the like are compared as a whole. */
function isComparable(value: unknown): value is LooseRecord {
  return typeof value === "object" && value !== null &&
    !(value instanceof Map || value instanceof Set || value instanceof Date ||
      value instanceof RegExp || ArrayBuffer.isView(value));
}
