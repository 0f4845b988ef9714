/** `weir trust`: adds, removes or lists trusted folders. */

import type { Host } from "../host.ts";
import { findTrust, listTrust, setTrust } from "../config/trust.ts";
import type { CommandIo, CommandPlace } from "./command_io.ts";
import type { TrustCommand } from "./parse_subcommand.ts";

/** Returns the exit code, always 0. Throws `StartError` like `setTrust` and `listTrust`. */
export async function runTrustCommand(
  host: Host,
  options: Omit<TrustCommand, "kind"> & CommandPlace,
  io: CommandIo,
): Promise<number> {
  const { home, currentFolder, signal } = options;
  if (options.action === "list") {
    for (const { folder, trusted } of await listTrust(host, { home, signal })) {
      io.out(`${trusted ? "trusted    " : "not trusted"} ${folder}`);
    }
    return 0;
  }
  const folder = host.paths.resolve(currentFolder, options.folder ?? ".");
  if (options.action === "add") {
    io.out(`Trusted ${await setTrust(host, { home, folder, trusted: true, signal })}`);
    return 0;
  }
  const removed = await setTrust(host, { home, folder, trusted: undefined, signal });
  io.out(`No longer listed: ${removed}`);
  const above = await findTrust(host, { home, folder, signal });
  if (above?.trusted) io.out(`It is still trusted because of ${above.folder}`);
  return 0;
}
