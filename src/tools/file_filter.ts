/**
 * Asks another program, where there is one, which of many files are worth reading: ripgrep, or for a plain text the `grep` of the system. It only saves
 * time: what matches is decided by our own search, so results are the same without it.
 */

import type { Host } from "../host.ts";
import type { SearchPattern } from "./search_pattern.ts";

const RIPGREP_OPTIONS = [
  ...["--no-config", "--no-messages", "--color=never", "--no-ignore", "--hidden", "--text"],
  ...["--encoding=none", "--files-with-matches", "--null"],
];
/** A program that does not know one of them says so with its exit code. */
const GREP_OPTIONS = [
  ...["--no-messages", "--color=never", "--text", "--files-with-matches", "--null"],
  "--fixed-strings",
];

/** What finds the files with a pattern: the beginning of its command line, to which the files are added. */
export type FileFilter = readonly [string, ...string[]];

/** The filter for a pattern; `undefined` when every file has to be read. */
export async function findFilter(
  host: Host,
  { ripgrep, plain, regExp }: SearchPattern,
): Promise<FileFilter | undefined> {
  if (ripgrep !== undefined) {
    const program = await host.processes?.find("rg");
    if (program !== undefined) return [program, ...RIPGREP_OPTIONS, "-e", ripgrep, "--"];
  }
  if (plain === undefined) return undefined;
  const program = await host.processes?.find("grep");
  if (program === undefined) return undefined;
  const options = regExp.ignoreCase ? [...GREP_OPTIONS, "--ignore-case"] : GREP_OPTIONS;
  return [program, ...options, "-e", plain, "--"];
}

/**
 * Those of `files` (absolute paths) that may hold a line which matches; all of them when the filter cannot tell. Throws `signal.reason`,
 * with the program ended.
 */
export async function mayMatch(
  files: readonly string[],
  options: { host: Host; filter: FileFilter; folder: string; signal: AbortSignal },
): Promise<ReadonlySet<string>> {
  const { host, filter, folder, signal } = options;
  signal.throwIfAborted();
  const all = new Set(files);
  try {
    await using child = host.processes!.start({
      argv: [...filter, ...files],
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
