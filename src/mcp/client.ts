/**
 * MCP servers as sources of tools. Starts them all at the same time, gives up those that do not answer, and stops them. Knows no
 * configuration file, no approval and no session.
 */

import type { JsonObject } from "../agent/message.ts";
import { errorOutcome, type Tool } from "../agent/tool.ts";
import { createToolName } from "../agent/tool_name.ts";
import { errorText } from "../errors.ts";
import type { Host } from "../host.ts";
import type { McpConnection } from "./connection.ts";
import type { ServerConfig } from "./server_config.ts";
import { toOutcome } from "./tool_content.ts";

/** What a server may take until it has told its tools. */
export const SERVER_TIMEOUT_MS = 30_000;
const MAX_REASON_LENGTH = 300;

export interface ConnectServersOptions {
  /** By name, which is the first part of the names of its tools. */
  readonly servers: Readonly<Record<string, ServerConfig>>;
  readonly host: Host;
  /** Where programs are started. */
  readonly folder: string;
  /** What programs get; a server's `env` comes on top. */
  readonly environment: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  /** Takes one line for people. */
  warn(line: string): void;
}

/** Tools of all servers that answered. Disposing stops the servers; nothing of them runs when it resolves. */
export interface McpServers extends AsyncDisposable {
  readonly tools: readonly Tool[];
}

/**
 * Connects to all servers at the same time. One that fails or does not answer in time is one line through `warn` and stopped; the
 * others go on. Throws only `signal.reason`; every server is stopped then.
 */
export async function connectMcpServers(options: ConnectServersOptions): Promise<McpServers> {
  const entries = Object.entries(options.servers);
  if (entries.length === 0) return { tools: [], [Symbol.asyncDispose]: () => Promise.resolve() };
  options.signal.throwIfAborted();
  const attempts = await Promise.all(
    entries.map(async ([name, server]) => ({
      name,
      connection: await tryToConnect(name, server, options),
    })),
  );
  const connected = attempts.filter((attempt): attempt is ConnectedServer =>
    attempt.connection !== undefined
  );
  const dispose = async () => {
    await Promise.all(connected.map(({ connection }) => connection[Symbol.asyncDispose]()));
  };
  if (options.signal.aborted) {
    await dispose();
    throw options.signal.reason;
  }
  return { tools: createTools(connected), [Symbol.asyncDispose]: dispose };
}

interface ConnectedServer {
  readonly name: string;
  readonly connection: McpConnection;
}

async function tryToConnect(
  name: string,
  server: ServerConfig,
  options: ConnectServersOptions,
): Promise<McpConnection | undefined> {
  const { host, folder, environment, signal, warn } = options;
  const timeoutMs = options.timeoutMs ?? SERVER_TIMEOUT_MS;
  // Not `AbortSignal.timeout`, which would keep the process for the whole time.
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new Error("no answer in time")), timeoutMs);
  try {
    const { connect } = await import("./connection.ts");
    return await connect(server, {
      host,
      folder,
      environment,
      signal: AbortSignal.any([signal, timeout.signal]),
      onJunk: () =>
        warn(
          `weir: MCP server ${name} writes lines that are no messages to stdout; they are ignored`,
        ),
    });
  } catch (error) {
    if (signal.aborted) return undefined;
    const reason = timeout.signal.aborted
      ? `no answer within ${timeoutMs / 1000} s`
      : oneLine(error);
    warn(`weir: MCP server ${name} does not start: ${reason}`);
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

function createTools(servers: readonly ConnectedServer[]): Tool[] {
  const taken = new Set<string>();
  return servers.flatMap(({ name: server, connection }) =>
    connection.tools.map((tool): Tool => {
      const name = createToolName({ source: server, name: tool.name, taken });
      taken.add(name);
      return {
        name,
        description: tool.description ?? tool.title ?? tool.name,
        parameters: toParameters(tool.inputSchema),
        // The server knows its schema best, and its complaint is a result for the model.
        parse: (args) => ({ ok: true, value: args }),
        run: async (args, { signal }) => {
          try {
            return toOutcome(await connection.call(tool.name, args as JsonObject, { signal }));
          } catch (error) {
            signal.throwIfAborted();
            return errorOutcome(`Cannot run ${name}: ${errorText(error)}`);
          }
        },
      };
    })
  );
}

/** Endpoints differ in what they accept: all take a schema with `properties` and without `$schema`. */
function toParameters({ $schema: _, ...schema }: JsonObject): JsonObject {
  return { properties: {}, ...schema };
}

function oneLine(error: unknown): string {
  const text = errorText(error).replace(/\s+/g, " ").trim();
  return text.length <= MAX_REASON_LENGTH ? text : `${text.slice(0, MAX_REASON_LENGTH)}…`;
}
