/** Which conversation the options of the command line mean. Opens nothing. */

import type { RunCommandLine } from "../cli/command_line.ts";
import type { SessionChoice } from "../session/open_session.ts";
import type { StartOptions } from "./start_agent.ts";

/** `canKeep`: whether conversations can be read and written where they are kept. */
export function chooseSession(
  { options }: RunCommandLine,
  { dialect: { policy }, canKeep }: { dialect: StartOptions["dialect"]; canKeep: boolean },
): SessionChoice {
  const nameOf = (text: string): { isPath?: boolean; match?: "start" } => {
    if (policy.sessionNames !== "files_and_id_starts") return {};
    return /[/\\]|\.jsonl$/.test(text) ? { isPath: true } : { match: "start" };
  };
  const isNew = options.fork === undefined && options.session === undefined && !options.continue;
  if (options.noSession || (isNew && !canKeep)) {
    return {
      kind: "memory",
      ...(options.sessionId === undefined ? {} : { id: options.sessionId }),
    };
  }
  if (options.fork !== undefined) {
    return {
      kind: "fork",
      text: options.fork,
      ...nameOf(options.fork),
      ...(options.sessionId === undefined ? {} : { id: options.sessionId }),
    };
  }
  if (options.sessionId !== undefined) return { kind: "id", id: options.sessionId };
  if (options.session !== undefined) {
    const { isPath, match } = nameOf(options.session);
    if (isPath) return { kind: "path", path: options.session };
    return { kind: "find", text: options.session, ...(match && { match }) };
  }
  if (!options.continue) return { kind: "new" };
  return { kind: "continue", orNew: policy.nothingToContinue === "start_new" };
}
