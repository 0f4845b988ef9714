/** Where long output of a run is kept. Makes nothing before it is wanted. */

import { HostError } from "../errors.ts";
import type { Host } from "../host.ts";
import { removeOldOutput } from "../session/remove_old_output.ts";
import type { Settings } from "../session/settings.ts";

/** `undefined` where this process may not make one: then the home has to do. */
async function makeTempFolder(host: Host): Promise<string | undefined> {
  try {
    return await host.files.makeTempFolder("weir-");
  } catch (error) {
    if (error instanceof HostError && error.code === "permission") return undefined;
    throw error;
  }
}

/** `<home>/jobs/<pid>-<ms>-<8 hex>`, or a folder outside the home, which is removed at the end, when nothing may be kept. */
export function createOutputFolder(
  host: Host,
  { home, temporary }: { home: string; temporary: boolean },
): Pick<Settings, "outputFolder" | "removeOutput"> {
  let made: Promise<string> | undefined;
  const make = async () => {
    if (temporary) {
      const folder = await makeTempFolder(host);
      if (folder !== undefined) return folder;
    }
    const parent = host.paths.join(home, "jobs");
    await removeOldOutput(host, parent);
    const random = crypto.getRandomValues(new Uint32Array(1))[0]!.toString(16).padStart(8, "0");
    const folder = host.paths.join(parent, `${host.pid}-${Date.now()}-${random}`);
    await host.files.makeFolder(folder, { mode: 0o700 });
    return folder;
  };
  return {
    outputFolder: async () => {
      made ??= make().catch((error) => {
        // A disk that is full now may have room later.
        made = undefined;
        throw error;
      });
      const folder = await made;
      // Somebody may have removed it to make room.
      await host.files.makeFolder(folder, { mode: 0o700 });
      return folder;
    },
    removeOutput: async () => {
      if (temporary && made !== undefined) await host.files.remove(await made, { recursive: true });
    },
  };
}
