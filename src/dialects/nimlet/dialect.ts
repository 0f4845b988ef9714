/** The nimlet dialect, whole. */

import type { Dialect } from "../dialect.ts";
import { decodeNimlet } from "./decode.ts";
import { describeStartError } from "./describe_start_error.ts";
import { createNimletEncoder } from "./encode.ts";
import { NIMLET_POLICY } from "./policy.ts";

/** After SIGINT. */
const INTERRUPT_CODE = 130;

export const NIMLET: Dialect = {
  name: "nimlet",
  policy: NIMLET_POLICY,
  toolAliases: {},
  describeStartError,
  furtherSignals: "ignore",
  exitCode: ({ signalCode }) => signalCode === INTERRUPT_CODE ? 0 : signalCode ?? 0,
  decode: decodeNimlet,
  createEncoder: createNimletEncoder,
  loadOneShot: async () => (await import("./one_shot.ts")).NIMLET_ONE_SHOT,
};
