/** From the class of a call and the mode to what happens with it, with the texts that the model and the client get. */

import type { CallDecision, CallVerdict } from "../../agent/hook.ts";
import type { JsonObject, ToolCall } from "../../agent/message.ts";
import type { CallAsker } from "../client_help.ts";
import type { Settings } from "../settings.ts";
import { type CallClass, classifyCall } from "./classify_call.ts";

export interface DecideOptions {
  readonly settings: Settings;
  /** The subagent that makes the call. */
  readonly asker?: CallAsker | undefined;
  readonly signal: AbortSignal;
}

/**
 * Decides by the mode, and where it says so by the client, whose answer is part of the result; it rejects with `signal.reason` when aborted.
 * Where nobody can be asked, silence means no.
 */
export async function decideCall(
  call: ToolCall,
  args: JsonObject,
  options: DecideOptions,
): Promise<CallDecision> {
  const { settings } = options;
  const classified = await classify(call, args, settings);
  if (classified.class === "free") return { run: true };
  if (classified.class === "refused") {
    const text = `Denied by approval policy: ${classified.reason}`;
    return { run: false, cause: "refused", text };
  }
  const allows = settings.approvals === "allow";
  const always = classified.class === "alwaysAsks";
  if (allows && (!always || settings.policy.allowRunsAlwaysAsking)) return { run: true };
  const refusal: CallVerdict = {
    run: false,
    cause: always ? "always_asks" : "asks",
    text: always ? "not run: this operation always asks" : "not run: needs --yolo or approval",
    reason: classified.reason,
  };
  if (settings.approvals === "deny" || settings.client?.askApproval === undefined) return refusal;
  const answer = askClient({ call, args, classified }, options);
  return { run: "asked", answer: answer.then((verdict) => verdict ?? refusal) };
}

function classify(call: ToolCall, args: JsonObject, settings: Settings): Promise<CallClass> {
  return classifyCall({ name: call.name, args }, {
    host: settings.host,
    workspace: settings.workspace,
    credentialPatterns: settings.credentialPatterns,
    isCredentialFile: settings.isCredentialFile,
  });
}

/** A person takes time to answer, and a symlink may lead elsewhere meanwhile: the answer holds for what was asked. */
function isStillAsked(asked: CallClass, now: CallClass): boolean {
  if (asked.class === "free" || now.class === "free") return asked.class === now.class;
  return asked.class === now.class && asked.outside === now.outside;
}

async function askClient(
  { call, args, classified }: {
    call: ToolCall;
    args: JsonObject;
    classified: CallClass & { class: "asks" | "alwaysAsks" | "refused" };
  },
  { settings, asker, signal }: DecideOptions,
): Promise<CallVerdict | undefined> {
  const always = classified.class === "alwaysAsks";
  const { reason, outside = false } = classified;
  const answer = await settings.client?.askApproval?.(
    { call, args, always, reason, outside, asker },
    signal,
  );
  if (answer === undefined) return undefined;
  signal.throwIfAborted();
  if (answer.allowed && isStillAsked(classified, await classify(call, args, settings))) {
    return { run: true };
  }
  if (answer.allowed) {
    const text = "not run: the path leads elsewhere than when it was allowed, ask again";
    return { run: false, cause: "asks", text };
  }
  return { run: false, cause: always ? "always_asks" : "asks", text: answer.text };
}
