/** Paths as the client knows them. */

import type { Seat } from "../../session/seat.ts";
import type { ViewPlace } from "./tool_view.ts";

/** `folder`: the working folder as the client names it; it knows its files by that name too, also where it is a symlink. */
export function createPlace(seat: Seat, folder: string): ViewPlace {
  const { host: { paths }, workspace } = seat.settings;
  return {
    serverNames: seat.serverNames,
    clientPath: (path) => {
      const absolute = paths.resolve(workspace, path);
      if (folder === workspace) return absolute;
      const relative = paths.relative(workspace, absolute);
      const isOutside = relative === ".." || relative.startsWith(`..${paths.separator}`) ||
        paths.isAbsolute(relative);
      return isOutside ? absolute : paths.resolve(folder, relative || ".");
    },
  };
}
