/**
 * A host whose text files are the client's where the client has them: what is unsaved in an editor is read, and what is written goes through
 * it. Everything else is the machine's. Knows no wire.
 */

import type { Host, HostFiles } from "../host.ts";
import { SNIFF_BYTES, sniffContent } from "../tools/sniff_content.ts";
import type { ClientHelp } from "./client_help.ts";

/** The host for one call of a tool that reads or writes whole text files; `host` itself when the client can do neither. */
export function withClientFiles(
  host: Host,
  options: { client: ClientHelp | undefined; signal: AbortSignal },
): Host {
  const { client, signal } = options;
  if (client?.readText === undefined && client?.writeText === undefined) return host;
  return { ...host, files: overlay(host.files, { client, signal }) };
}

/** The text with the line ends and the byte order mark of the text that it replaces. */
export function likeBase(text: string, base: string): string {
  const hasPairs = base.includes("\r\n") && !/(?<!\r)\n/.test(base);
  const lines = hasPairs && !text.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text;
  return base.startsWith("\uFEFF") && !lines.startsWith("\uFEFF") ? `\uFEFF${lines}` : lines;
}

function overlay(
  files: HostFiles,
  { client, signal }: { client: ClientHelp; signal: AbortSignal },
): HostFiles {
  const readText = async (path: string): Promise<string | undefined> =>
    client.readText === undefined || !await isText(files, path, signal)
      ? undefined
      : await client.readText(path, signal);
  return {
    stat: (path) => files.stat(path),
    lstat: (path) => files.lstat(path),
    realPath: (path) => files.realPath(path),
    readLink: (path) => files.readLink(path),
    makeTempFolder: (prefix) => files.makeTempFolder(prefix),
    readFolder: (path) => files.readFolder(path),
    makeFolder: (path, options) => files.makeFolder(path, options),
    remove: (path, options) => files.remove(path, options),
    openAppend: (path, options) => files.openAppend(path, options),
    lock: (path) => files.lock(path),
    read: async (path, options) => {
      const text = await readText(path);
      if (text === undefined) return await files.read(path, options);
      const bytes = new TextEncoder().encode(text);
      return options.limit === undefined ? bytes : bytes.subarray(0, options.limit);
    },
    openRead: async (path, options) => {
      const text = await readText(path);
      if (text === undefined) return await files.openRead(path, options);
      return new Blob([new TextEncoder().encode(text).subarray(options.start ?? 0)]).stream();
    },
    replace: async (path, bytes, options) => {
      if (client.writeText === undefined) return await files.replace(path, bytes, options);
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
      const isTaken = await client.writeText(path, text, signal);
      if (!isTaken) await files.replace(path, bytes, options);
    },
  };
}

/** Images and other binary files are never asked for. */
async function isText(files: HostFiles, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    const head = await files.read(path, { signal, limit: SNIFF_BYTES });
    return sniffContent(head, { isWhole: head.length < SNIFF_BYTES }) === "text";
  } catch {
    signal.throwIfAborted();
    return false;
  }
}
