/**
 * From a path as the model gave it to a place on the machine. Refuses credential files although approvals are decided before a tool
 * runs: a second lock on the same door. Whether the path is inside the workspace is not its business.
 */

import type { ToolContext } from "../agent/tool.ts";
import { HostError } from "../errors.ts";
import type { FileInfo } from "../host.ts";
import { cannot, ToolFailure } from "./tool_failure.ts";

/** A path without symlinks and what is there. */
export interface FoundPath {
  readonly path: string;
  /** `undefined` when nothing is there. */
  readonly info: FileInfo | undefined;
}

type PathContext = Pick<ToolContext, "host" | "workspace" | "isCredentialFile">;

/**
 * Takes `given` relative to the workspace (`~` means nothing special) and resolves symlinks, also in the parents of something that
 * does not exist yet. Throws `ToolFailure` for a symlink to nothing and, with `refuseCredentials`, for a credential file.
 */
export async function findPath(
  given: string,
  options: { action: string; context: PathContext; refuseCredentials: boolean },
): Promise<FoundPath> {
  const { action, context, refuseCredentials } = options;
  const { host } = context;
  const absolute = host.paths.resolve(context.workspace, given);
  const refuse = (path: string) => {
    if (!refuseCredentials || !context.isCredentialFile(path)) return;
    throw new ToolFailure(`Denied by approval policy: ${given} is a credential file`);
  };
  refuse(given);
  refuse(absolute);
  const missing: string[] = [];
  let existing = absolute;
  for (;;) {
    const real = await realPathOf(existing, context);
    if (real !== undefined) {
      const path = missing.length === 0 ? real : host.paths.join(real, ...missing);
      refuse(path);
      return { path, info: missing.length === 0 ? await host.files.stat(real) : undefined };
    }
    if ((await host.files.lstat(existing))?.kind === "symlink") {
      throw cannot(action, given, "it leads through a symlink to nothing, use the real path");
    }
    const parent = host.paths.dirname(existing);
    if (parent === existing) return { path: absolute, info: undefined };
    missing.unshift(host.paths.basename(existing));
    existing = parent;
  }
}

async function realPathOf(path: string, { host }: PathContext): Promise<string | undefined> {
  try {
    return await host.files.realPath(path);
  } catch (error) {
    if (error instanceof HostError && error.code === "not_found") return undefined;
    throw error;
  }
}
