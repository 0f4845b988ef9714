/** Changes of one file, one after another: subagents and conversations of one process work at the same time. Knows no tool. */

const last = new Map<string, Promise<void>>();

/**
 * Runs `change` when every earlier change of the file at `path` (without symlinks) is over, however it ended. Settles as `change` does. Other
 * processes are not kept out.
 */
export async function changeInTurn<T>(path: string, change: () => Promise<T>): Promise<T> {
  const before = last.get(path);
  const { promise: over, resolve } = Promise.withResolvers<void>();
  last.set(path, over);
  try {
    await before;
    return await change();
  } finally {
    resolve();
    if (last.get(path) === over) last.delete(path);
  }
}
