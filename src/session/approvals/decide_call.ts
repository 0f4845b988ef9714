/** From the class of a call and the mode of the process to what happens with it, with the texts that the model and the client get. */

import type { CallDecision } from "../../agent/hook.ts";
import type { JsonObject } from "../../agent/message.ts";
import type { Settings } from "../settings.ts";
import { classifyCall } from "./classify_call.ts";

/** Decides in the modes `deny` and `allow`. Nobody is asked: silence means no. */
export async function decideCall(
  call: { name: string; args: JsonObject },
  options: { settings: Settings },
): Promise<CallDecision> {
  const { settings } = options;
  const classified = await classifyCall(call, {
    host: settings.host,
    workspace: settings.workspace,
    credentialPatterns: settings.credentialPatterns,
    isCredentialFile: settings.isCredentialFile,
  });
  const allows = settings.approvals === "allow";
  switch (classified.class) {
    case "free":
      return { run: true };
    case "refused":
      return {
        run: false,
        cause: "refused",
        text: `Denied by approval policy: ${classified.reason}`,
      };
    case "alwaysAsks":
      if (allows && settings.policy.allowRunsAlwaysAsking) return { run: true };
      return {
        run: false,
        cause: "always_asks",
        text: "not run: this operation always asks",
        reason: classified.reason,
      };
    case "asks":
      if (allows) return { run: true };
      return {
        run: false,
        cause: "asks",
        text: "not run: needs --yolo or approval",
        reason: classified.reason,
      };
  }
}
