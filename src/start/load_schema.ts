/** The schemas of the dialects by name, each loaded when it is wanted. */

import type { DialectName } from "../cli/command_line.ts";
import type { WireSchemas } from "../dialects/wire_schema.ts";
import { StartError } from "../errors.ts";

/** Throws `StartError` for a dialect whose lines are described elsewhere. */
export async function loadSchema(name: DialectName): Promise<WireSchemas> {
  switch (name) {
    case "circle":
      return (await import("../dialects/circle/event_schema.ts")).WIRE_SCHEMAS;
    case "nimlet":
      return (await import("../dialects/nimlet/event_schema.ts")).WIRE_SCHEMAS;
    case "pi":
    case "acp":
      throw new StartError("usage", `there is no schema of the ${name} dialect`);
  }
}
