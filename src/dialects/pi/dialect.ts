/** The pi dialect, whole. */

import type { Dialect } from "../dialect.ts";
import { decodePi } from "./decode.ts";
import { describeStartError } from "./describe_start_error.ts";
import { createPiEncoder } from "./encode.ts";
import { PI_POLICY } from "./policy.ts";

export const PI: Dialect = {
  name: "pi",
  policy: PI_POLICY,
  toolAliases: {},
  describeStartError,
  furtherSignals: "exit",
  exitCode: ({ signalCode, cause }) => signalCode ?? (cause === "overdue" ? 1 : 0),
  decode: decodePi,
  createEncoder: createPiEncoder,
  loadOneShot: async () => (await import("./one_shot.ts")).PI_ONE_SHOT,
};
