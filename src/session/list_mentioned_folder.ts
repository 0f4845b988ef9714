/**
 * The names that a mentioned folder brings into a message. Reads the folder and the `.gitignore` files above it, nothing below it.
 */

import type { FolderEntry, Host } from "../host.ts";
import { listedName } from "../tools/ls.ts";

const LEFT_OUT = new Set([".git", "node_modules"]);
const MAX_RULES_BYTES = 1024 * 1024;

/** Rules of one `.gitignore` file. */
interface Rules {
  readonly folder: string;
  /** Steps from the workspace. */
  readonly depth: number;
  test(path: string): { ignored: boolean; unignored: boolean };
}

interface ListOptions {
  readonly host: Host;
  readonly workspace: string;
  readonly maxNames: number;
  readonly signal: AbortSignal;
}

/**
 * The first `maxNames` direct entries of a folder in the workspace (real path), one a line, sorted, folders with a trailing `/`, without
 * `.git`, `node_modules` and what the `.gitignore` files from the workspace down to the folder exclude.
 */
export async function listMentionedFolder(folder: string, options: ListOptions): Promise<string> {
  const { host, maxNames, signal } = options;
  const folders = foldersTo(folder, options);
  const rules = await readRules(folders, options);
  const isExcluded = folders.some((path, depth) =>
    isIgnored(path, { isFolder: true, rules: rules.filter((file) => file.depth < depth), host })
  );
  if (isExcluded) return "";
  const entries: FolderEntry[] = [];
  for await (const entry of host.files.readFolder(folder)) {
    signal.throwIfAborted();
    if (!LEFT_OUT.has(entry.name)) entries.push(entry);
  }
  entries.sort((a, b) => a.name < b.name ? -1 : 1);
  const names: string[] = [];
  for (const entry of entries) {
    if (names.length === maxNames) break;
    const path = host.paths.join(folder, entry.name);
    const isFolder = entry.kind === "folder";
    if (!isIgnored(path, { isFolder, rules, host })) names.push(listedName(entry));
  }
  return names.join("\n");
}

/** From the workspace down to the folder. */
function foldersTo(folder: string, { host: { paths }, workspace }: ListOptions): string[] {
  const folders = [folder];
  while (folders[0] !== workspace && paths.dirname(folders[0]!) !== folders[0]) {
    folders.unshift(paths.dirname(folders[0]!));
  }
  return folders;
}

async function readRules(folders: readonly string[], options: ListOptions): Promise<Rules[]> {
  const { host: { files, paths, platform }, signal } = options;
  const rules: Rules[] = [];
  for (const [depth, folder] of folders.entries()) {
    const path = paths.join(folder, ".gitignore");
    if ((await files.lstat(path))?.kind !== "file") continue;
    const { default: ignore } = await import("ignore");
    const bytes = await files.read(path, { signal, limit: MAX_RULES_BYTES });
    const ignorecase = platform === "darwin" || platform === "windows";
    const matcher = ignore({ ignorecase }).add(new TextDecoder().decode(bytes));
    rules.push({ folder, depth, test: (path) => matcher.test(path) });
  }
  return rules;
}

/** The deepest file that says something decides, as in Git. */
function isIgnored(
  path: string,
  options: { isFolder: boolean; rules: readonly Rules[]; host: Host },
): boolean {
  const { paths } = options.host;
  for (const { folder, test } of options.rules.toReversed()) {
    const inside = paths.relative(folder, path).replaceAll(paths.separator, "/");
    const { ignored, unignored } = test(options.isFolder ? `${inside}/` : inside);
    if (ignored || unignored) return ignored;
  }
  return false;
}
