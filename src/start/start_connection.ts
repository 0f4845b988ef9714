/**
 * From a command line to a connection that opens its conversations itself: checks what can be checked before the first request, and loads the
 * rest when it is wanted.
 */

import { findHome, readConfig } from "../config/config.ts";
import type { AcpConnection } from "../dialects/acp/connection.ts";
import type { AcpDialect } from "../dialects/acp/dialect.ts";
import { StartError } from "../errors.ts";
import type { SeatKeeper } from "../session/seats.ts";
import type { StartOptions } from "./start_agent.ts";

export interface StartConnectionOptions extends Omit<StartOptions, "dialect"> {
  readonly dialect: AcpDialect;
  /** Tells when nobody reads the output any more although nothing is written. */
  readonly watchClient?: (onGone: () => void) => Disposable;
}

/** Throws `StartError` with the text for the user: a configuration that cannot be read, a folder that does not exist. */
export async function startConnection(options: StartConnectionOptions): Promise<AcpConnection> {
  const { host, dialect, commandLine, currentFolder, signal } = options;
  const { folder, options: given } = commandLine;
  const home = findHome(host, { currentFolder });
  await readConfig(host, { home, workspace: currentFolder, trusted: false, signal });
  if (folder !== undefined) {
    const path = host.paths.resolve(currentFolder, folder);
    const info = await host.files.stat(path).catch(() => undefined);
    if (info?.kind !== "folder") throw new StartError("folder", `No such folder: ${path}`);
  }
  return dialect.connect({
    keeper: createLateKeeper(options, home),
    verbose: given.verbose,
    watchClient: options.watchClient,
    warn: (line) => host.warn(line),
  });
}

/** A keeper that is loaded with the first request that needs it. */
function createLateKeeper(options: StartConnectionOptions, home: string): SeatKeeper {
  const { host, commandLine: { options: { noSession } } } = options;
  const load = async () => {
    // What a process of this home left running when it was killed is ended by the next one, which does not wait for it.
    if (!noSession) void host.processes?.recordIn(host.paths.join(home, "running"));
    return (await import("./open_seats.ts")).createSeatKeeper(options);
  };
  let loaded: Promise<SeatKeeper> | undefined;
  const keeper = () => loaded ??= load();
  return {
    isStored: !noSession,
    open: async (wish) => await (await keeper()).open(wish),
    list: async (wanted) => await (await keeper()).list(wanted),
    checkModel: async (signal) => await (await keeper()).checkModel(signal),
    isSameFolder: async (one, other) => await (await keeper()).isSameFolder(one, other),
  };
}
