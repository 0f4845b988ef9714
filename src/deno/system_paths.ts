/** Path arithmetic of this machine. */

import type { HostPaths } from "../host.ts";
import { posixPaths } from "../memory/posix_paths.ts";
import { builtInModule } from "./built_in_module.ts";

export const systemPaths: HostPaths = Deno.build.os === "windows" ? windowsPaths() : posixPaths;

function windowsPaths(): HostPaths {
  const path = builtInModule<typeof import("node:path")>("node:path");
  return {
    separator: path.sep,
    isAbsolute: path.isAbsolute,
    resolve: (base, given) => path.resolve(base, given),
    join: path.join,
    dirname: path.dirname,
    basename: (given) => path.basename(given),
    relative: path.relative,
  };
}
