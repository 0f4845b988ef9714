/**
 * Checks the arguments of a call against a tool's JSON Schema, before anything else happens for the call. Knows the part of JSON
 * Schema that the built-in tools use and refuses to know any tool. The work is bounded by the schema's depth, not by the input's.
 */

import type { JsonObject, JsonValue } from "../agent/message.ts";

type Checked =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly problem: string };

const MAX_NAME_LENGTH = 100;

/**
 * Arguments with the schema's properties only, absent and `null` optional ones left out, or the first problem, which names the
 * argument: `edits[0].oldText: expected a string`. Understands `type` (object, array, string, integer, number, boolean), `properties`,
 * `required`, `additionalProperties: false`, `items`, `enum`, `minimum`, `maximum` and `minLength`. Never throws; keys named
 * `__proto__` are unknown arguments.
 */
export function parseArguments(
  schema: JsonObject,
  args: JsonObject,
): { ok: true; value: JsonObject } | { ok: false; problem: string } {
  const checked = checkObject(schema, args, "");
  return checked.ok ? { ok: true, value: checked.value as JsonObject } : checked;
}

function check(schema: JsonObject, value: JsonValue, name: string): Checked {
  switch (schema.type) {
    case "object":
      return checkObject(schema, value, name);
    case "array":
      return checkArray(schema, value, name);
  }
  return matches(schema, value)
    ? { ok: true, value }
    : { ok: false, problem: `${name}: expected ${expectation(schema)}` };
}

function checkObject(schema: JsonObject, value: JsonValue, name: string): Checked {
  if (!isObject(value)) return { ok: false, problem: `${name || "arguments"}: expected an object` };
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const prefix = name === "" ? "" : `${name}.`;
  const result: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(properties, key)) continue;
    if (schema.additionalProperties === false || key === "__proto__") {
      return { ok: false, problem: `unknown argument: ${prefix}${shorten(key)}` };
    }
    result[key] = value[key]!;
  }
  for (const [key, property] of Object.entries(properties)) {
    const given = Object.hasOwn(value, key) ? value[key] : undefined;
    if (given === undefined || (given === null && !required.includes(key))) {
      if (required.includes(key)) return { ok: false, problem: `${prefix}${key} is required` };
      continue;
    }
    const checked = check(property as JsonObject, given, prefix + key);
    if (!checked.ok) return checked;
    result[key] = checked.value;
  }
  return { ok: true, value: result };
}

function checkArray(schema: JsonObject, value: JsonValue, name: string): Checked {
  if (!Array.isArray(value)) return { ok: false, problem: `${name}: expected a list` };
  if (!isObject(schema.items)) return { ok: true, value };
  const result: JsonValue[] = [];
  for (const [index, item] of value.entries()) {
    const checked = check(schema.items, item, `${name}[${index}]`);
    if (!checked.ok) return checked;
    result.push(checked.value);
  }
  return { ok: true, value: result };
}

function matches(schema: JsonObject, value: JsonValue): boolean {
  if (Array.isArray(schema.enum)) return schema.enum.includes(value);
  switch (schema.type) {
    case "string":
      return typeof value === "string" && value.length >= Number(schema.minLength ?? 0);
    case "boolean":
      return typeof value === "boolean";
    case "integer":
      return Number.isSafeInteger(value) && isInRange(schema, value as number);
    case "number":
      return typeof value === "number" && Number.isFinite(value) && isInRange(schema, value);
    default:
      return true;
  }
}

function isInRange(schema: JsonObject, value: number): boolean {
  return value >= Number(schema.minimum ?? -Infinity) &&
    value <= Number(schema.maximum ?? Infinity);
}

function expectation(schema: JsonObject): string {
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.join(", ")}`;
  switch (schema.type) {
    case "string":
      if (schema.minLength === undefined) return "a string";
      return schema.minLength === 1
        ? "a string that is not empty"
        : `a string of at least ${schema.minLength} characters`;
    case "boolean":
      return "true or false";
    case "integer":
      return `a whole number${rangeText(schema)}`;
    default:
      return `a number${rangeText(schema)}`;
  }
}

function rangeText({ minimum, maximum }: JsonObject): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  return maximum === undefined ? "" : ` of at most ${maximum}`;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shorten(name: string): string {
  return name.length <= MAX_NAME_LENGTH ? name : `${name.slice(0, MAX_NAME_LENGTH)}…`;
}
