/** The dialects by name, each loaded when it is wanted. */

import type { DialectName } from "../cli/command_line.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { StartError } from "../errors.ts";

/** Throws `StartError` for a dialect that this version does not speak yet. */
export async function loadDialect(name: DialectName): Promise<Dialect> {
  switch (name) {
    case "circle":
      return (await import("../dialects/circle/dialect.ts")).CIRCLE;
    case "nimlet":
      return (await import("../dialects/nimlet/dialect.ts")).NIMLET;
    case "pi":
    case "acp":
      throw new StartError(
        "usage",
        `the ${name} dialect is not available in this version; use --dialect circle`,
      );
  }
}
