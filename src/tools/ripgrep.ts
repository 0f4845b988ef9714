/**
 * Asks ripgrep, where it is installed, which of many files are worth reading. It only saves time: what matches is decided by our own
 * search, so results are the same without it.
 */

import type { Host } from "../host.ts";

const OPTIONS = [
  ...["--no-config", "--no-messages", "--color=never", "--no-ignore", "--hidden", "--text"],
  ...["--encoding=none", "--files-with-matches", "--null"],
];

/** Finds ripgrep once; the result is what `mayMatch` needs. */
export async function findRipgrep(host: Host): Promise<string | undefined> {
  return await host.processes?.find("rg");
}

/**
 * Those of `files` (absolute paths) that may hold a line which matches; all of them when ripgrep cannot tell. Throws `signal.reason`,
 * with ripgrep ended.
 */
export async function mayMatch(
  files: readonly string[],
  options: { host: Host; ripgrep: string; pattern: string; folder: string; signal: AbortSignal },
): Promise<ReadonlySet<string>> {
  const { host, ripgrep, pattern, folder, signal } = options;
  signal.throwIfAborted();
  const all = new Set(files);
  try {
    await using child = host.processes!.start({
      argv: [ripgrep, ...OPTIONS, "-e", pattern, "--", ...files],
      folder,
      environment: {},
      stderr: "discard",
    });
    const stop = () => void child.stop({ graceMs: 0 });
    signal.addEventListener("abort", stop, { once: true });
    try {
      const text = await new Response(child.output).text();
      signal.throwIfAborted();
      const { code } = await child.exited;
      // 1: nothing found. Anything else is a pattern or a file that it cannot cope with.
      if (code !== 0 && code !== 1) return all;
      const found = new Set(text.split("\0"));
      // A name that is no text is not told as we know it.
      return text.includes("\ufffd") ? all : found;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  } catch {
    signal.throwIfAborted();
    return all;
  }
}
