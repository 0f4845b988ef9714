/**
 * Careful access to JSON that somebody else wrote. Knows no format.
 */

import type { JsonObject } from "../agent/message.ts";

/** A copy without the members that are `undefined`. The values must be JSON. */
export function present(members: object): JsonObject {
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(members)) if (value !== undefined) copy[key] = value;
  return copy;
}

/** Those of the named members that are strings. */
export function strings<K extends string>(
  raw: JsonObject,
  keys: readonly K[],
): { [key in K]?: string } {
  const found: { [key in K]?: string } = {};
  for (const key of keys) {
    const value = raw[key];
    if (typeof value === "string") found[key] = value;
  }
  return found;
}

/** The value as a JSON object; `undefined` for everything else. */
export function asObject(value: unknown): JsonObject | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return value as JsonObject;
}

/** The value when it is a string. */
export function asString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The value when it is a number. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
