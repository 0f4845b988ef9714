/**
 * What the lines of a dialect look like, as one set of named schemas, and as a JSON Schema made of it. Knows no field of any dialect. Not part of
 * the path: loaded by who wants to read the schema.
 */

import * as z from "zod/mini";

/** A name that is unique in the dialect, and one sentence for people. */
export interface SchemaName {
  readonly id: string;
  readonly description: string;
}

/** All that a dialect's lines can be. Each part of a union has a name, so that a reader finds it. */
export interface WireSchemas {
  readonly title: string;
  readonly names: z.core.$ZodRegistry<SchemaName>;
  /** Lines that a client may write. */
  readonly command: z.ZodMiniType;
  /** Lines that the program may write. */
  readonly response: z.ZodMiniType;
  readonly event: z.ZodMiniType;
}

/** A place for the names of a dialect, and a function that gives a schema its name there. */
export function createNames(): {
  readonly names: WireSchemas["names"];
  named<Schema extends z.ZodMiniType>(id: string, description: string, schema: Schema): Schema;
} {
  const names: WireSchemas["names"] = z.registry<SchemaName>();
  return {
    names,
    named(id, description, schema) {
      names.add(schema, { id, description });
      return schema;
    },
  };
}

export type JsonSchema = { readonly [key: string]: unknown };

/** One JSON Schema (draft 2020-12) that every line of the dialect matches; what has a name is in `$defs`. */
export function createJsonSchema(schemas: WireSchemas): JsonSchema {
  const { title, names, command, response, event } = schemas;
  const { $schema, $defs, anyOf } = z.toJSONSchema(z.union([command, response, event]), {
    target: "draft-2020-12",
    io: "input",
    metadata: names,
  });
  return { $schema, title, anyOf, $defs: dropIds($defs ?? {}) };
}

/** The names are the keys already; as `id` they would be words that JSON Schema does not know. */
function dropIds(definitions: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return Object.fromEntries(
    Object.entries(definitions)
      .sort(([one], [other]) => one < other ? -1 : 1)
      .map(([name, { id: _id, $id: _uri, ...definition }]) => [name, definition]),
  );
}
