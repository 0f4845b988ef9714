/**
 * Small checks of values that were read from JSON. Written by hand and not with a schema library, because they run before the first
 * answer of the program. Knows no setting.
 */

import { SettingsValueError } from "./settings_error.ts";

type Path = readonly (string | number)[];

/** Returns the value in the wanted type or throws `SettingsValueError`. */
export type Check<T> = (value: unknown, path: Path) => T;

type Checked<Shape> = {
  readonly [Key in keyof Shape]: Shape[Key] extends Check<infer T> ? T : never;
};

export const text: Check<string> = (value, path) => {
  if (typeof value !== "string") throw new SettingsValueError(path, "text");
  return value;
};

export const boolean: Check<boolean> = (value, path) => {
  if (typeof value !== "boolean") throw new SettingsValueError(path, "true or false");
  return value;
};

/** A finite number within the limits, whole with `whole`. */
export function number(
  expected: string,
  { min, whole = false }: { min: number; whole?: boolean },
): Check<number> {
  return (value, path) => {
    const isFine = typeof value === "number" && Number.isFinite(value) && value >= min &&
      (!whole || Number.isSafeInteger(value));
    if (!isFine) throw new SettingsValueError(path, expected);
    return value;
  };
}

export function oneOf<const T extends string>(...values: readonly T[]): Check<T> {
  const quoted = values.map((value) => `"${value}"`);
  const expected = `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
  return (value, path) => {
    const found = values.find((known) => known === value);
    if (found === undefined) throw new SettingsValueError(path, expected);
    return found;
  };
}

export function listOf<T>(check: Check<T>): Check<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw new SettingsValueError(path, "a list");
    return value.map((item, index) => check(item, [...path, index]));
  };
}

/** An object whose keys are names. The result has no prototype. */
export function recordOf<T>(check: Check<T>): Check<Readonly<Record<string, T>>> {
  return (value, path) => {
    const result: Record<string, T> = Object.create(null);
    for (const [key, item] of Object.entries(asObject(value, path))) {
      result[key] = check(item, [...path, key]);
    }
    return result;
  };
}

/** An object with these keys; others are left out of the result. */
export function object<Shape extends Readonly<Record<string, Check<unknown>>>>(
  shape: Shape,
): Check<Checked<Shape>> {
  return (value, path) => {
    const source = asObject(value, path);
    const entries = Object.entries(shape).map(([key, check]) => {
      const item = Object.hasOwn(source, key) ? source[key] : undefined;
      return [key, check(item, [...path, key])];
    });
    return Object.fromEntries(entries);
  };
}

/** Like `object`; a missing one is an empty one, so that the defaults of its keys count. */
export function section<Shape extends Readonly<Record<string, Check<unknown>>>>(
  shape: Shape,
): Check<Checked<Shape>> {
  const check = object(shape);
  return (value, path) => check(value === undefined ? {} : value, path);
}

/** `undefined` where the key is missing. */
export function optional<T>(check: Check<T>): Check<T | undefined> {
  return (value, path) => value === undefined ? undefined : check(value, path);
}

/** `fallback` where the key is missing. */
export function withDefault<T>(check: Check<T>, fallback: T): Check<T> {
  return (value, path) => value === undefined ? fallback : check(value, path);
}

function asObject(value: unknown, path: Path): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new SettingsValueError(path, 'an object in "{" and "}"');
  }
  return value as Record<string, unknown>;
}
