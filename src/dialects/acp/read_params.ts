/** The parameters of each request, checked. Errors name the path; values are not repeated. Knows no session. */

import { paramError } from "./rpc.ts";

export type Json = Readonly<Record<string, unknown>>;

/** `params` itself; absent ones are an empty object. */
export function readParams(params: unknown): Json {
  if (params === undefined || params === null) return {};
  if (typeof params !== "object" || Array.isArray(params)) {
    throw paramError("", "must be an object");
  }
  return params as Json;
}

export function readText(params: Json, key: string, path = key): string {
  const value = params[key];
  if (typeof value !== "string") throw paramError(path, "must be a string");
  return value;
}

export function readOptionalText(params: Json, key: string): string | undefined {
  const value = params[key] ?? undefined;
  if (value === undefined) return undefined;
  return readText(params, key);
}

export function readObject(value: unknown, path: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw paramError(path, "must be an object");
  }
  return value as Json;
}

export function readList(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw paramError(path, "must be an array");
  return value;
}

/** What a client says that it can do; everything else is unsupported. */
export interface ClientAbilities {
  readonly readTextFile: boolean;
  readonly writeTextFile: boolean;
  readonly form: boolean;
  readonly notices: boolean;
  readonly compaction: boolean;
  readonly terminalAuth: boolean;
}

/** The client's abilities from the parameters of `initialize`. */
export function readInitialize(params: Json): ClientAbilities {
  const version = params.protocolVersion;
  if (!Number.isInteger(version) || Number(version) < 0 || Number(version) > 65_535) {
    throw paramError("protocolVersion", "must be an integer from 0 to 65535");
  }
  const all = asObject(params.clientCapabilities);
  const files = asObject(all.fs);
  const session = asObject(all.session);
  const isObject = (value: unknown) => typeof value === "object" && value !== null;
  return {
    readTextFile: files.readTextFile === true,
    writeTextFile: files.writeTextFile === true,
    form: isObject(asObject(all.elicitation).form),
    notices: isObject(session.notices),
    compaction: isObject(session.compaction),
    terminalAuth: asObject(all.auth).terminal === true,
  };
}

function asObject(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Json : {};
}

/** An MCP server of the client. */
export type ServerParams =
  | {
    readonly command: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** The servers by name; a later one of the same name wins. */
export function readServers(
  params: Json,
  options: { required: boolean },
): Readonly<Record<string, ServerParams>> {
  const { mcpServers } = params;
  if (mcpServers === undefined && options.required) {
    throw paramError("mcpServers", "must be an array");
  }
  const servers: [string, ServerParams][] = [];
  for (const [i, value] of readList(mcpServers ?? [], "mcpServers").entries()) {
    const path = `mcpServers[${i}]`;
    const server = readObject(value, path);
    const type = server.type ?? undefined;
    if (type !== undefined && type !== "http" && type !== "stdio") {
      throw paramError(`${path}.type`, 'must be "http", or absent for a program');
    }
    const name = readText(server, "name", `${path}.name`);
    if (name === "") throw paramError(`${path}.name`, "must not be empty");
    servers.push([name, type === "http" ? readHttp(server, path) : readProgram(server, path)]);
  }
  return Object.fromEntries(servers);
}

function readHttp(server: Json, path: string): ServerParams {
  const url = readText(server, "url", `${path}.url`);
  const protocol = URL.parse(url)?.protocol;
  if (protocol !== "http:" && protocol !== "https:") {
    throw paramError(`${path}.url`, "must be an address that begins with http:// or https://");
  }
  return { url, headers: readPairs(server.headers, `${path}.headers`) };
}

function readProgram(server: Json, path: string): ServerParams {
  const command = readText(server, "command", `${path}.command`);
  if (command === "") throw paramError(`${path}.command`, "must not be empty");
  const args = readList(server.args, `${path}.args`).map((value, i) => {
    if (typeof value !== "string") throw paramError(`${path}.args[${i}]`, "must be a string");
    return value;
  });
  return { command, args, env: readPairs(server.env, `${path}.env`) };
}

function readPairs(value: unknown, path: string): Readonly<Record<string, string>> {
  const pairs = readList(value, path).map((item, i): [string, string] => {
    const at = `${path}[${i}]`;
    const pair = readObject(item, at);
    return [readText(pair, "name", `${at}.name`), readText(pair, "value", `${at}.value`)];
  });
  return Object.fromEntries(pairs);
}

/** More folders are not supported; an empty list of them is fine. */
export function refuseMoreFolders(params: Json): void {
  const folders = params.additionalDirectories ?? [];
  if (!Array.isArray(folders) || folders.length > 0) {
    throw paramError("additionalDirectories", "must be empty: only cwd is worked in");
  }
}
