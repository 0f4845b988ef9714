/**
 * What does not work because of the flags that Deno was started with, in lines for people. Decides nothing: who meets a limit finds it in
 * the host.
 */

import type { LimitedUse } from "../host.ts";
import { withPort } from "./guard_access.ts";
import { hasAll, mayConnect, mayUse } from "./permissions.ts";

/** A line per flag that is missing, with what does not work without it; none with all of them. */
export function describeLimits(
  use: LimitedUse,
  { canRun }: { canRun: boolean },
): string[] {
  const { folder, endpoints } = use;
  return [
    ...folder === undefined ? [] : describePlaces({ ...use, folder }, canRun),
    ...endpoints === undefined ? [] : describeNetwork(endpoints),
  ];
}

function describePlaces(use: LimitedUse & { folder: string }, canRun: boolean): string[] {
  const { folder, home } = use;
  const lines: string[] = [];
  if (!hasAll("env")) lines.push(missing("env", describeEnvironment(home)));
  const places = [
    { kind: "read", path: folder, effect: "the agent has no tools for files" },
    {
      kind: "read",
      path: home,
      effect: "there are no settings, no folder is trusted, and the conversation is not kept",
    },
    {
      kind: "write",
      path: folder,
      effect: "the agent cannot change files, unless its commands do",
    },
    {
      kind: "write",
      path: home,
      effect: "the conversation is not kept, nor is long output, and there are no background jobs",
    },
  ] as const;
  for (const { kind, path, effect } of places) {
    if (path !== undefined && !mayUse(kind, path)) lines.push(missing(`${kind}=${path}`, effect));
  }
  if (!canRun) {
    lines.push(missing("run=bash", "the agent has no bash tool, it cannot run commands"));
  }
  return lines;
}

function describeEnvironment(home: string | undefined): string {
  const few = "OPENAI_API_KEY and other variables are not seen, commands get hardly any";
  return home === undefined
    ? `${few}, and without HOME there are no settings and the conversation is not kept`
    : few;
}

function describeNetwork(endpoints: readonly string[]): string[] {
  const hosts = endpoints.filter((url) => URL.canParse(url)).map((url) => {
    const { host, protocol } = new URL(url);
    return withPort(host, protocol);
  });
  if (hosts.length === 0 || hosts.some(mayConnect)) return [];
  return [missing(`net=${hosts[0]}`, "the model there cannot be reached")];
}

function missing(flag: string, effect: string): string {
  return `--allow-${flag} is missing: ${effect}`;
}
