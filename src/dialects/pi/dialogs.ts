/** What clients are asked and how they answer. Knows no question but the one about a call. */

import { visibleText } from "../../agent/visible_text.ts";
import type { ApprovalRequest } from "../../session/client_help.ts";
import type { SessionEvent } from "../../session/event.ts";

type Json = Record<string, unknown>;

/** The type of an answer. */
export const ANSWER = "extension_ui_response";
export const ALLOW = "Allow";
export const ALLOW_FOR_SESSION = "Allow for this session";
const DENY = "Deny";

/** The dialog about a call. */
export function encodeApproval(
  { id, request, timeoutMs }: SessionEvent & { type: "approval_request" },
): Json {
  const options = request.always ? [ALLOW, DENY] : [ALLOW, ALLOW_FOR_SESSION, DENY];
  return {
    type: "extension_ui_request",
    id,
    method: "select",
    title: `Allow ${request.call.name}?\n${visibleText(subjectOf(request))}`,
    options,
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
    toolCallId: request.call.id,
  };
}

/** What a person has to see of a call: the command, the path, or all its arguments. */
function subjectOf({ call, args }: ApprovalRequest): string {
  const { command, path } = args;
  if (call.name === "bash" && typeof command === "string") return command;
  if ((call.name === "write" || call.name === "edit") && typeof path === "string") return path;
  return JSON.stringify(args);
}
