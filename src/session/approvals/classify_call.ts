/** Classifies a call of any tool: free, asks, always asks, refused. Looks at paths on disk, because a symlink may lead elsewhere. */

import type { JsonObject } from "../../agent/message.ts";
import type { Host } from "../../host.ts";
import { classifyCommand } from "./classify_command.ts";

/** `reason`: for `asks` and `alwaysAsks` what clients are told, for `refused` the whole text after `Denied by approval policy: `. */
export type CallClass =
  | { readonly class: "free" }
  | {
    readonly class: "asks" | "alwaysAsks" | "refused";
    readonly reason: string;
    /** It changes a file outside the workspace. */
    readonly outside?: boolean;
  };

const FREE: CallClass = { class: "free" };
/** Tools that change nothing outside the conversation. */
const FREE_TOOLS = new Set([
  "ls",
  "find",
  "todo",
  "question",
  "task",
  "list_jobs",
  "stop_job",
  "wait_jobs",
]);

export interface ClassifyOptions {
  readonly host: Host;
  readonly workspace: string;
  readonly credentialPatterns: readonly string[];
  isCredentialFile(path: string): boolean;
}

export async function classifyCall(
  call: { name: string; args: JsonObject },
  options: ClassifyOptions,
): Promise<CallClass> {
  const { name, args } = call;
  if (FREE_TOOLS.has(name)) return FREE;
  if (name === "bash") {
    const own = await findOwnFile(String(args.command), options);
    if (own !== undefined) return { class: "refused", reason: `${own} is a credential file` };
    return classifyCommand(String(args.command), {
      credentialPatterns: options.credentialPatterns,
    });
  }
  const isRead = name === "read" || name === "grep";
  const isWrite = name === "write" || name === "edit";
  if (!isRead && !isWrite) return { class: "asks", reason: `${name} can change state` };
  const given = typeof args.path === "string" ? args.path : ".";
  const path = options.host.paths.resolve(options.workspace, given);
  const real = await resolveAsFarAsPossible(options.host, path);
  if ([path, real].some((name) => options.isCredentialFile(name))) {
    return {
      class: "refused",
      reason: `${options.host.paths.basename(path)} is a credential file`,
    };
  }
  if (isRead) return FREE;
  const outside = !isInside(options.host, options.workspace, path) ||
    !isInside(options.host, options.workspace, real);
  const reason = `changes files ${outside ? "outside" : "in"} the workspace`;
  return { class: "asks", reason, outside };
}

/**
 * A word of a command that names, also through symlinks, one of Weir's own files with keys or the environment of a process. Other names are
 * known by their base name alone, and `config.jsonc` is an ordinary name elsewhere. Like all analysis of commands this is a seat belt.
 */
async function findOwnFile(
  command: string,
  options: ClassifyOptions,
): Promise<string | undefined> {
  const { host, workspace } = options;
  for (const word of command.split(/[\s"'`;|&<>()=]+/)) {
    if (!OWN_FILES.some((name) => word.endsWith(name))) continue;
    const expanded = word
      .replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/)/, () => host.homeFolder)
      .replace(/^(?:\$WEIR_HOME|\$\{WEIR_HOME\})(?=\/)/, () => host.getEnv("WEIR_HOME") ?? "");
    const path = host.paths.resolve(workspace, expanded);
    if (options.isCredentialFile(path)) return word;
    if (options.isCredentialFile(await resolveAsFarAsPossible(host, path))) return word;
  }
  return undefined;
}

const OWN_FILES = ["config.jsonc", "/environ"];

function isInside(host: Host, folder: string, path: string): boolean {
  const relative = host.paths.relative(folder, path);
  const { separator } = host.paths;
  return relative !== ".." && !relative.startsWith(`..${separator}`) &&
    !host.paths.isAbsolute(relative);
}

/** The path without symlinks; what does not exist yet is kept as it is behind its nearest existing parent. */
export async function resolveAsFarAsPossible(host: Host, path: string): Promise<string> {
  const rest: string[] = [];
  let existing = path;
  for (let links = 0; links < 40;) {
    try {
      return host.paths.join(await host.files.realPath(existing), ...rest);
    } catch {
      // Nothing there: a dangling symlink still says where a write would go.
      const target = await readDanglingLink(host, existing);
      if (target !== undefined) {
        existing = target;
        links++;
        continue;
      }
      const parent = host.paths.dirname(existing);
      if (parent === existing) return path;
      rest.unshift(host.paths.basename(existing));
      existing = parent;
    }
  }
  return path;
}

async function readDanglingLink(host: Host, path: string): Promise<string | undefined> {
  const info = await host.files.lstat(path).catch(() => undefined);
  if (info?.kind !== "symlink") return undefined;
  return host.paths.resolve(host.paths.dirname(path), await host.files.readLink(path));
}
