/**
 * Where a search begins, and how what it finds is named. Knows paths only.
 */

import type { ToolContext } from "../agent/tool.ts";
import type { FileInfo, Host } from "../host.ts";

/** The start of a search. */
export interface SearchRoot {
  /** Absolute. */
  readonly path: string;
  /** Whether something below, or the root itself (`""`), is a credential file, also by its path without symlinks. */
  isCredentialFile(relative: string): boolean;
  readonly kind: FileInfo["kind"];
  /** Path of something below, relative to the root, as the model is told: relative to the workspace where it is inside. */
  name(relative: string): string;
  /** The absolute path of something below. */
  resolve(relative: string): string;
}

/** Looks where `path` (default: the workspace) leads, or says why it does not. */
export async function openSearchRoot(
  path: string | undefined,
  context: ToolContext,
): Promise<SearchRoot | { readonly problem: string }> {
  const { host, workspace } = context;
  const { paths } = host;
  const asked = paths.resolve(workspace, path ?? ".");
  const odd = { problem: `path: ${path} is neither a file nor a folder` };
  const first = await host.files.stat(asked);
  if (first === undefined) return { problem: `path: ${path} does not exist` };
  // What is a pipe or a device has no real path.
  if (first.kind !== "file" && first.kind !== "folder") return odd;
  const real = await host.files.realPath(asked);
  const info = await host.files.lstat(real);
  if (info?.kind !== "file" && info?.kind !== "folder") return odd;
  const shown = shownRoot(host, { workspace, asked });
  const sep = paths.separator;
  return {
    path: real,
    kind: info.kind,
    name(relative) {
      const name = sep === "/" ? relative : relative.replaceAll("/", sep);
      if (shown === "" || name === "") return shown || name;
      return shown.endsWith(sep) ? shown + name : shown + sep + name;
    },
    isCredentialFile: (relative) =>
      [asked, real].some((root) =>
        context.isCredentialFile(relative === "" ? root : paths.join(root, relative))
      ),
    resolve: (relative) => relative === "" ? real : paths.join(real, relative),
  };
}

function shownRoot(host: Host, options: { workspace: string; asked: string }): string {
  const { paths } = host;
  const relative = paths.relative(options.workspace, options.asked);
  const isOutside = relative === ".." || relative.startsWith(`..${paths.separator}`) ||
    paths.isAbsolute(relative);
  return isOutside ? options.asked : relative;
}
