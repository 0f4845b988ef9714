/**
 * One connected MCP server: its tools, and calls of them. Knows no other server and no name that a model sees.
 */

import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type {
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { fetchWithinOrigin } from "../agent/fetch_within_origin.ts";
import type { JsonObject } from "../agent/message.ts";
import { errorText } from "../errors.ts";
import type { Host } from "../host.ts";
import { version } from "../version.ts";
import { ProcessTransport } from "./process_transport.ts";
import type { ServerConfig } from "./server_config.ts";
import type { CallAnswer } from "./tool_content.ts";

/** A call without a sign of life for this long is given up. */
const CALL_TIMEOUT_MS = 600_000;
/** What a server over HTTP may take to hear that its session is over. */
const FAREWELL_MS = 1000;
const MAX_TOOL_PAGES = 100;

type Sdk = typeof import("./mcp_sdk.ts");

/** A tool as the server tells of it. */
export interface ServerTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** JSON Schema of an object. */
  readonly inputSchema: JsonObject;
}

export interface ConnectOptions {
  readonly host: Host;
  readonly folder: string;
  /** What a program gets; the configuration's `env` comes on top. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends the attempt; the connection does not depend on it once it stands. */
  readonly signal: AbortSignal;
  onJunk(): void;
}

/** A server that has told its tools. The caller disposes it. */
export class McpConnection implements AsyncDisposable {
  readonly tools: readonly ServerTool[];
  readonly #sdk: Sdk;
  readonly #client: Client;
  readonly #link: Link;

  constructor(options: { client: Client; link: Link; tools: readonly ServerTool[]; sdk: Sdk }) {
    this.#sdk = options.sdk;
    this.#client = options.client;
    this.#link = options.link;
    this.tools = options.tools;
  }

  /** Has the server run a tool. Throws `signal.reason` when aborted, which the server is told, and an error in words otherwise. */
  async call(
    name: string,
    args: JsonObject,
    { signal }: { signal: AbortSignal },
  ): Promise<CallAnswer> {
    signal.throwIfAborted();
    try {
      return await this.#client.request(
        { method: "tools/call", params: { name, arguments: args } },
        this.#sdk.CallToolResultSchema,
        {
          signal,
          timeout: CALL_TIMEOUT_MS,
          resetTimeoutOnProgress: true,
          // Progress is not shown, but asking for it keeps a long call alive.
          onprogress: () => {},
        },
      );
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(this.#link.problem(error), { cause: error });
    }
  }

  /** Resolves when nothing of a server that is a program runs any more. Safe to call twice. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#link.close();
  }
}

/** Connects and asks for the tools. Throws why it cannot, in words, or `signal.reason`; nothing of the server runs then. */
export async function connect(
  server: ServerConfig,
  options: ConnectOptions,
): Promise<McpConnection> {
  const { signal } = options;
  signal.throwIfAborted();
  const sdk = await import("./mcp_sdk.ts");
  const client = new sdk.Client({ name: "weir", version });
  const link = "url" in server
    ? new HttpLink(server, sdk)
    : new ProgramLink(server, { ...options, sdk });
  try {
    const work = client.connect(withRevision(link.transport), { signal, timeout: NO_TIMEOUT_MS })
      .then(() => listTools(client, { signal, sdk }));
    return new McpConnection({ client, link, sdk, tools: await untilAbort(work, signal) });
  } catch (error) {
    await link.close();
    signal.throwIfAborted();
    throw new Error(link.problem(error), { cause: error });
  }
}

/** The revision of the protocol that servers are asked for; they may answer with another one that the SDK knows. */
const REVISION = "2025-06-18";

/** The transport, with the revision in the place of the newest one, which the SDK asks for. */
function withRevision(transport: Transport): Transport {
  const send = transport.send.bind(transport);
  transport.send = (message: JSONRPCMessage, options?: TransportSendOptions) => {
    if (!("method" in message) || message.method !== "initialize") return send(message, options);
    return send({ ...message, params: { ...message.params, protocolVersion: REVISION } }, options);
  };
  return transport;
}

/** The longest time that a timer knows: the signal is what ends the wait. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

async function listTools(
  client: Client,
  { signal, sdk }: { signal: AbortSignal; sdk: Sdk },
): Promise<ServerTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const tools: ServerTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_TOOL_PAGES; page++) {
    // Not `client.listTools`: it compiles a schema that nobody uses for every tool.
    const result = await client.request(
      { method: "tools/list", ...(cursor === undefined ? {} : { params: { cursor } }) },
      sdk.ListToolsResultSchema,
      { signal, timeout: NO_TIMEOUT_MS },
    );
    tools.push(...result.tools);
    cursor = result.nextCursor;
    if (!cursor) break;
  }
  return tools;
}

/** Rejects with `signal.reason` as soon as it aborts, whatever the work waits for. */
async function untilAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
    work.catch(() => {});
  }
}

/** What differs between a program and an address. */
interface Link {
  readonly transport: Transport;
  /** Why something failed, in words. */
  problem(error: unknown): string;
  close(): Promise<void>;
}

class ProgramLink implements Link {
  readonly transport: ProcessTransport;

  constructor(
    server: Extract<ServerConfig, { command: string }>,
    options: ConnectOptions & { sdk: Sdk },
  ) {
    this.transport = new ProcessTransport({
      host: options.host,
      argv: [server.command, ...server.args],
      folder: options.folder,
      environment: { ...options.environment, ...server.env },
      messageSchema: options.sdk.JSONRPCMessageSchema,
      onJunk: options.onJunk,
    });
  }

  problem(error: unknown): string {
    const { end, errorTail } = this.transport;
    if (end === undefined) return errorText(error);
    const last = errorTail.trimEnd().split("\n").at(-1)?.trim();
    const how = end.signal === undefined ? `exit code ${end.code}` : end.signal;
    return `the server has ended (${how})${last ? `: ${last}` : ""}`;
  }

  async close(): Promise<void> {
    await this.transport.close();
  }
}

class HttpLink implements Link {
  readonly transport: Transport;
  readonly #http: StreamableHTTPClientTransport;
  #closing: Promise<void> | undefined;

  constructor(server: Extract<ServerConfig, { url: string }>, sdk: Sdk) {
    this.#http = new sdk.StreamableHTTPClientTransport(new URL(server.url), {
      fetch: (url: string | URL, init?: RequestInit) => fetchWithinOrigin(fetch, url, init),
      requestInit: { headers: { ...server.headers } },
    });
    this.transport = this.#http as Transport;
  }

  problem(error: unknown): string {
    return errorText(error);
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    if (this.#http.sessionId !== undefined) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>((resolve) => timer = setTimeout(resolve, FAREWELL_MS));
      // A server that is gone or slow needs no farewell; closing cancels the request.
      await Promise.race([this.#http.terminateSession().catch(() => {}), late]);
      clearTimeout(timer);
    }
    await this.#http.close();
  }
}
