/**
 * What `--extensions` starts: the MCP servers of the user's configuration and the extensions of the home and of a trusted workspace.
 * Both are loaded only here, because most runs want neither.
 */

import type { ExtensionHooks } from "../agent/extension_hooks.ts";
import type { Tool } from "../agent/tool.ts";
import type { Config } from "../config/config.ts";
import type { Host } from "../host.ts";
import type { SeatServer } from "../session/seats.ts";
import { childEnvironment } from "../tools/child_environment.ts";

export interface StartExtensionsOptions {
  readonly host: Host;
  readonly config: Config;
  readonly home: string;
  readonly workspace: string;
  /** Whether the workspace's own extensions may run. */
  readonly trusted: boolean;
  /** Environment variables that no server gets unless its configuration says so. */
  readonly secretVariables: readonly string[];
  readonly signal: AbortSignal;
  /** The servers, in the place of those of the configuration. */
  readonly servers?: Readonly<Record<string, SeatServer>>;
  /** What a server may take until it has told its tools. */
  readonly serverTimeoutMs?: number;
  /** Whether modules are loaded; true when absent. */
  readonly modules?: boolean;
}

export interface StartedExtensions {
  readonly moreTools: readonly Tool[];
  readonly extensions?: ExtensionHooks;
  stopServers(): Promise<void>;
}

/** What fails is one line on stderr each. Throws only `signal.reason`; no server runs then. */
export async function startExtensions(options: StartExtensionsOptions): Promise<StartedExtensions> {
  const { host, config, home, workspace, trusted, signal } = options;
  const { connectMcpServers } = await import("../mcp/client.ts");
  const warn = (line: string) => host.warn(line);
  const all = host.processes?.environment() ?? {};
  const environment = childEnvironment(all, {
    allowed: config.pass_environment,
    secrets: options.secretVariables,
  });
  const servers = await connectMcpServers({
    servers: options.servers ?? config.mcp.servers,
    ...(options.serverTimeoutMs === undefined ? {} : { timeoutMs: options.serverTimeoutMs }),
    host,
    folder: workspace,
    environment,
    signal,
    warn,
  });
  const stopServers = async () => await servers[Symbol.asyncDispose]();
  if (options.modules === false) return { moreTools: servers.tools, stopServers };
  try {
    // What a module starts inherits the environment of the process, which only this can keep from it.
    host.processes?.hideVariables(Object.keys(all).filter((name) => !(name in environment)));
    const { loadExtensions } = await import("../extensions/load.ts");
    const folders = [host.paths.join(home, "extensions")];
    if (trusted) folders.push(host.paths.join(workspace, ".weir", "extensions"));
    const taken = new Set(servers.tools.map(({ name }) => name));
    const { tools, hooks } = await loadExtensions({
      host,
      folders,
      workspace,
      taken,
      signal,
      warn,
    });
    return {
      moreTools: [...servers.tools, ...tools],
      extensions: hooks,
      stopServers,
    };
  } catch (error) {
    await stopServers();
    throw error;
  }
}
