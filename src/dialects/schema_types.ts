/** TypeScript types of a JSON Schema: the part of it that `createJsonSchema` gives. Knows no field of any dialect. */

import type { JsonSchema } from "./wire_schema.ts";

/** A module of exported types, one for each name in `$defs`, each with its description. Throws for a keyword that it does not know. */
export function createTypes(schema: JsonSchema): string {
  const definitions = schema.$defs as Readonly<Record<string, JsonSchema>>;
  const types = Object.entries(definitions).map(([name, definition]) =>
    `${comment(definition.description)}export type ${name} = ${typeOf(definition, "")};\n`
  );
  return types.join("\n");
}

/** Keywords that narrow a value in ways that types do not say. */
const NOT_IN_TYPES = ["description", "pattern", "minimum", "maximum", "propertyNames", "format"];
const KNOWN = [
  "$ref",
  "anyOf",
  "const",
  "enum",
  "type",
  "items",
  "properties",
  "required",
  "additionalProperties",
  ...NOT_IN_TYPES,
];

function typeOf(schema: JsonSchema, indent: string): string {
  for (const key of Object.keys(schema)) {
    if (!KNOWN.includes(key)) {
      throw new TypeError(`Cannot write types: the schema has ${key}, teach it to createTypes`);
    }
  }
  if (typeof schema.$ref === "string") return schema.$ref.replace(/^#\/\$defs\//, "");
  if (Array.isArray(schema.anyOf)) {
    return union(schema.anyOf.map((part: JsonSchema) => typeOf(part, `${indent}  `)), indent);
  }
  if (Object.hasOwn(schema, "const")) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) {
    return union(schema.enum.map((value) => JSON.stringify(value)), indent);
  }
  switch (schema.type) {
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "number":
    case "integer":
      return "number";
    case "array":
      return arrayType(typeOf((schema.items ?? {}) as JsonSchema, indent));
    case "object":
      return objectType(schema, indent);
    default:
      return "unknown";
  }
}

function arrayType(item: string): string {
  return /^\w+$/.test(item) || /^\{[^|]*\}$/.test(item)
    ? `readonly ${item}[]`
    : `readonly (${item})[]`;
}

function objectType(schema: JsonSchema, indent: string): string {
  const required = (schema.required ?? []) as readonly string[];
  const fields = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
    .map(([name, field]) => {
      const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
      const mark = required.includes(name) ? "" : "?";
      return `${indent}  readonly ${key}${mark}: ${typeOf(field, `${indent}  `)};\n`;
    });
  if (fields.length > 0) return `{\n${fields.join("")}${indent}}`;
  const more = schema.additionalProperties;
  if (more === false) return "{ readonly [key: string]: never }";
  const value = typeof more === "object" && more !== null
    ? typeOf(more as JsonSchema, indent)
    : "unknown";
  return `{ readonly [key: string]: ${value} }`;
}

function union(types: readonly string[], indent: string): string {
  const all = [...new Set(types)];
  const line = all.join(" | ");
  if (all.length < 2 || (line.length <= 60 && !line.includes("\n"))) return line;
  return all.map((type) => `\n${indent}  | ${type}`).join("");
}

function comment(text: unknown): string {
  return typeof text === "string" ? `/** ${text.replaceAll("*/", "*\u2215")} */\n` : "";
}
