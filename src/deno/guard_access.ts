/**
 * Keeps packages from what Deno would ask a terminal about: connections to hosts and variables of the environment that this process may
 * not have. Knows no package.
 */

import { HostError } from "../errors.ts";
import { hasAll, mayConnect, readEnvironment } from "./permissions.ts";

/** From now on `fetch` refuses by itself what Deno would refuse, and Node's `process.env` holds only what may be read. */
export function guardAccess(): void {
  if (!hasAll("net")) {
    const { fetch } = globalThis;
    globalThis.fetch = async (input, init) => {
      const { protocol, host } = new URL(input instanceof Request ? input.url : input);
      if (/^https?:$/.test(protocol)) demandConnection(withPort(host, protocol));
      return await fetch(input, init);
    };
  }
  if (!hasAll("env")) {
    const { process } = globalThis as unknown as { process: object };
    Object.defineProperty(process, "env", { value: readEnvironment(), configurable: true });
  }
}

/** `host` of a URL with its port, also when that is the protocol's own. */
export function withPort(host: string, protocol: string): string {
  if (/:\d+$/.test(host)) return host;
  return `${host}:${protocol === "https:" ? 443 : 80}`;
}

function demandConnection(host: string): void {
  if (mayConnect(host)) return;
  throw new HostError("permission", `no permission to connect, start with --allow-net=${host}`, {
    path: host,
  });
}
