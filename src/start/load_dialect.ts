/** The dialects by name, each loaded when it is wanted. */

import type { DialectName } from "../cli/command_line.ts";
import type { AcpDialect } from "../dialects/acp/dialect.ts";
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
      return (await import("../dialects/pi/dialect.ts")).PI;
    case "acp":
      throw new StartError(
        "usage",
        `the ${name} dialect is not available in this version; use --dialect circle`,
      );
  }
}

/** The dialect of this name when it is one that opens its conversations itself. */
export async function loadConnectionDialect(name: DialectName): Promise<AcpDialect | undefined> {
  return name === "acp" ? (await import("../dialects/acp/dialect.ts")).ACP : undefined;
}
