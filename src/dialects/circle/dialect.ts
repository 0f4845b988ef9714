/** The circle dialect, whole. */

import type { Dialect } from "../dialect.ts";
import { decodeCircle } from "./decode.ts";
import { createCircleEncoder } from "./encode.ts";
import { CIRCLE_POLICY } from "./policy.ts";

export const CIRCLE: Dialect = {
  name: "circle",
  policy: CIRCLE_POLICY,
  toolAliases: {
    read_file: "read",
    write_file: "write",
    edit_file: "edit",
    execute: "bash",
    glob: "find",
    write_todos: "todo",
  },
  describeStartError: (error) => ({ text: `✖ ${error.message}`, exitCode: error.exitCode }),
  furtherSignals: "exit",
  exitCode: (end) => end.signalCode ?? 0,
  decode: decodeCircle,
  createEncoder: createCircleEncoder,
  loadOneShot: async () => (await import("./one_shot.ts")).CIRCLE_ONE_SHOT,
};
