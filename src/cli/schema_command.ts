/** `weir schema`: what the lines of a dialect look like, as a JSON Schema or as TypeScript types. */

import { createTypes } from "../dialects/schema_types.ts";
import { createJsonSchema } from "../dialects/wire_schema.ts";
import { loadSchema } from "../start/load_schema.ts";
import { asDialect } from "./command_line.ts";
import type { CommandIo } from "./command_io.ts";
import type { SchemaCommand } from "./parse_subcommand.ts";

/** Writes to stdout; returns the exit code. Throws `StartError` for a dialect that it does not know. */
export async function runSchemaCommand(command: SchemaCommand, io: CommandIo): Promise<number> {
  const dialect = asDialect(command.dialect ?? "circle", "--dialect");
  const schema = createJsonSchema(await loadSchema(dialect));
  io.out(command.types ? createTypes(schema).trimEnd() : JSON.stringify(schema, null, 2));
  return 0;
}
