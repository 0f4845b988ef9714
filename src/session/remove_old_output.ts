/** Clears the folders with logs that processes left a day ago. */

import type { Host } from "../host.ts";

const KEEP_MS = 24 * 60 * 60 * 1000;

/**
 * Removes folders `<pid>-<ms>-<hex>` in which nothing was written for a day and whose process does not run. Never throws: what cannot be removed now
 * is tried again by the next process.
 */
export async function removeOldOutput(host: Host, parent: string): Promise<void> {
  try {
    for await (const { name, kind } of host.files.readFolder(parent)) {
      const pid = /^(\d+)-\d+-[0-9a-f]{8}$/.exec(name)?.[1];
      if (kind !== "folder" || pid === undefined) continue;
      const path = host.paths.join(parent, name);
      if (await lastWritten(host, path) > Date.now() - KEEP_MS) continue;
      if (host.processes?.isRunning(Number(pid))) continue;
      await host.files.remove(path, { recursive: true });
    }
  } catch {
    // No such folder yet, or not ours to clear.
  }
}

async function lastWritten(host: Host, folder: string): Promise<number> {
  let latest = (await host.files.stat(folder))?.modifiedMs ?? 0;
  for await (const { name } of host.files.readFolder(folder)) {
    const info = await host.files.lstat(host.paths.join(folder, name));
    latest = Math.max(latest, info?.modifiedMs ?? 0);
  }
  return latest;
}
