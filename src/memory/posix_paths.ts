/**
 * Path arithmetic with `/`, for hosts that have no system to ask. Imports only the host's interface.
 */

import type { HostPaths } from "../host.ts";

/** POSIX paths; same results as `node:path/posix` for absolute bases. */
export const posixPaths: HostPaths = {
  separator: "/",
  isAbsolute: (path) => path.startsWith("/"),
  resolve: (base, path) => normalize(path.startsWith("/") ? path : `/${base}/${path}`),
  join,
  dirname,
  basename: (path) => withoutSlashes(path).replace(/^.*\//s, ""),
  relative,
};

/** An absolute path without `.`, `..` and doubled slashes. */
function normalize(path: string): string {
  return "/" + parts(path, { absolute: true }).join("/");
}

function join(...pieces: string[]): string {
  const joined = pieces.filter((piece) => piece !== "").join("/");
  if (joined === "") return ".";
  const absolute = joined.startsWith("/");
  const kept = parts(joined, { absolute }).join("/");
  const end = joined.endsWith("/") && kept !== "" ? "/" : "";
  return (absolute ? "/" : "") + kept + end || ".";
}

function dirname(path: string): string {
  const trimmed = withoutSlashes(path);
  const at = trimmed.lastIndexOf("/");
  if (at === -1) return path.startsWith("/") ? "/" : ".";
  return withoutSlashes(trimmed.slice(0, at)) || "/";
}

function relative(from: string, to: string): string {
  const start = parts(from, { absolute: true });
  const end = parts(to, { absolute: true });
  let same = 0;
  while (same < start.length && same < end.length && start[same] === end[same]) same++;
  return [...start.slice(same).map(() => ".."), ...end.slice(same)].join("/");
}

function parts(path: string, options: { absolute: boolean }): string[] {
  const kept: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") kept.push(part);
    else if (kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else if (!options.absolute) kept.push(part);
  }
  return kept;
}

function withoutSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === "/") end--;
  return path.slice(0, end);
}
