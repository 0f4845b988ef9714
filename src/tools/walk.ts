/**
 * Walks a folder for the tools that search. Knows `.gitignore`; refuses to know what is searched for.
 *
 * Honoured are the `.gitignore` files in the folder, below it, and above it up to the root of the repository (without a repository: up
 * to the workspace). `.git` is always left out, other hidden names are not. Git's global and per-clone ignore files are not read.
 * Symlinks are named and not followed.
 */

import type { FolderEntry, Host } from "../host.ts";
import { Gitignore, type IgnoreFactory, isIgnored } from "./gitignore.ts";

/** Something below the folder that is walked. */
export interface WalkEntry {
  readonly kind: FolderEntry["kind"];
  /** Relative to the folder that is walked, with `/`. */
  readonly path: string;
}

const MAX_RULES_BYTES = 1 << 20;

/**
 * Everything below `folder` that is not ignored, sorted by path, bytewise. Folders come before what they hold. A folder that cannot be
 * read counts as empty, except for the first, whose `HostError` is thrown. Holds the names of one folder per level. Throws
 * `signal.reason`.
 */
export async function* walk(
  folder: string,
  options: { host: Host; workspace: string; signal: AbortSignal },
): AsyncGenerator<WalkEntry> {
  const { signal } = options;
  const { default: create } = await import("ignore");
  const walker = new Walker(folder, { ...options, create });
  const open: OpenFolder[] = [await walker.open("", await walker.rulesAbove())];
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const entry = last.entries.pop();
    if (entry === undefined) {
      open.pop();
      continue;
    }
    const path = last.path + entry.name;
    const isFolder = entry.kind === "folder";
    if (isIgnored(isFolder ? `${path}/` : path, last.rules)) continue;
    yield { kind: entry.kind, path };
    if (!isFolder) continue;
    try {
      open.push(await walker.open(`${path}/`, last.rules));
    } catch {
      signal.throwIfAborted();
    }
  }
}

/**
 * The direct entries of `folder` that `walk` would give, in no special order. Throws the `HostError` of a folder that cannot be read, and
 * `signal.reason`.
 */
export async function listUnignored(
  folder: string,
  options: { host: Host; workspace: string; signal: AbortSignal },
): Promise<FolderEntry[]> {
  const { default: create } = await import("ignore");
  const walker = new Walker(folder, { ...options, create });
  const { entries, rules } = await walker.open("", await walker.rulesAbove());
  return entries.filter(({ name, kind }) =>
    !isIgnored(kind === "folder" ? `${name}/` : name, rules)
  );
}

interface OpenFolder {
  /** `""` or ending with `/`. */
  readonly path: string;
  /** In reverse order, so that the next is at the end. */
  readonly entries: FolderEntry[];
  readonly rules: readonly Gitignore[];
}

class Walker {
  readonly #root: string;
  readonly #host: Host;
  readonly #workspace: string;
  readonly #signal: AbortSignal;
  readonly #create: IgnoreFactory;

  constructor(
    root: string,
    options: { host: Host; workspace: string; signal: AbortSignal; create: IgnoreFactory },
  ) {
    this.#root = root;
    this.#host = options.host;
    this.#workspace = options.workspace;
    this.#signal = options.signal;
    this.#create = options.create;
  }

  async open(path: string, rules: readonly Gitignore[]): Promise<OpenFolder> {
    this.#signal.throwIfAborted();
    const folder = this.#host.paths.join(this.#root, path);
    const entries: FolderEntry[] = [];
    for await (const entry of this.#host.files.readFolder(folder)) {
      if (entry.name !== ".git") entries.push(entry);
    }
    entries.sort((a, b) => compareBytes(sortName(b), sortName(a)));
    // Rules that ignore a folder which is walked all the same would ignore all that it holds.
    const kept = rules.filter((file) => path === "" || file.verdict(path) !== true);
    if (entries.some((entry) => entry.name === ".gitignore" && entry.kind === "file")) {
      const text = await this.#readRules(folder);
      kept.push(new Gitignore(text, { create: this.#create, above: "", below: path }));
    }
    return { path, entries, rules: kept };
  }

  /** The rules of the folders above, outermost first. */
  async rulesAbove(): Promise<Gitignore[]> {
    const { paths } = this.#host;
    const above: Gitignore[] = [];
    const top = await this.#topFolder();
    let below = "";
    for (let folder = this.#root; folder !== top; folder = paths.dirname(folder)) {
      below = `${paths.basename(folder)}/${below}`;
      const text = await this.#readRules(paths.dirname(folder));
      if (text === "") continue;
      const rules = new Gitignore(text, { create: this.#create, above: below, below: "" });
      // Who names an ignored folder wants to see into it.
      if (rules.verdict("") !== true) above.unshift(rules);
    }
    return above;
  }

  async #topFolder(): Promise<string> {
    const { paths, files } = this.#host;
    for (let folder = this.#root;; folder = paths.dirname(folder)) {
      this.#signal.throwIfAborted();
      if (await files.lstat(paths.join(folder, ".git")).catch(() => undefined)) return folder;
      if (paths.dirname(folder) === folder) break;
    }
    const inside = paths.relative(this.#workspace, this.#root);
    const isInside = inside !== ".." && !inside.startsWith(`..${paths.separator}`) &&
      !paths.isAbsolute(inside);
    return isInside ? this.#workspace : this.#root;
  }

  async #readRules(folder: string): Promise<string> {
    const path = this.#host.paths.join(folder, ".gitignore");
    try {
      if ((await this.#host.files.lstat(path))?.kind !== "file") return "";
      const bytes = await this.#host.files.read(path, {
        signal: this.#signal,
        limit: MAX_RULES_BYTES,
      });
      return new TextDecoder().decode(bytes);
    } catch {
      this.#signal.throwIfAborted();
      return "";
    }
  }
}

/** Sorts a folder where its content goes. */
function sortName(entry: FolderEntry): string {
  return entry.kind === "folder" ? `${entry.name}/` : entry.name;
}

/** The order of the UTF-8 bytes. Differs from that of JavaScript's strings only after U+D7FF. */
function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (x !== y) return byteOrder(x) - byteOrder(y);
  }
  return a.length - b.length;
}

/** Halves of characters beyond U+FFFF go behind all others. */
function byteOrder(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
