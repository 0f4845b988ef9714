/** The circle dialect, whole. */

import type { Dialect } from "../dialect.ts";
import { decodeCircle } from "./decode.ts";
import { createCircleEncoder } from "./encode.ts";
import { CIRCLE_POLICY } from "./policy.ts";

export const CIRCLE: Dialect = {
  name: "circle",
  policy: CIRCLE_POLICY,
  decode: decodeCircle,
  createEncoder: createCircleEncoder,
};
