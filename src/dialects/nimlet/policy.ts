/** How sessions behave for clients of this dialect. */

import { CUT_FILE_MENTIONS } from "../../session/attachments.ts";
import type { SessionPolicy } from "../../session/policy.ts";

export const NIMLET_POLICY: SessionPolicy = {
  abortClearsQueues: false,
  queuesAfterFailure: "start",
  followUps: "steps",
  queueWhileIdle: "refuse",
  deliveryModes: {
    steering: "one-at-a-time",
    followUp: "one-at-a-time",
    fromConfiguration: true,
  },
  approvals: "allow",
  allowRunsAlwaysAsking: true,
  untrusted: "skip",
  unknownProvider: "refuse",
  missingModel: "fail_turns",
  nothingToContinue: "start_new",
  questionRefusal: "User questions are unavailable in this interface.",
  emptyAnswer: "ask_again",
  lengthCut: "go_on",
  endOfInput: "interrupt",
  settleAfterBatch: true,
  jobTurns: true,
  noticeSource: "background-jobs",
  exitCodeIsError: true,
  mentions: CUT_FILE_MENTIONS,
  expandDelivered: false,
  texts: {
    unknownTool: (name) => `Unknown tool: ${name}`,
    badArguments: (name, problem) => `Invalid arguments for ${name}: ${problem}`,
    interrupted: ({ begun, durationMs, partial }) => {
      if (!begun) return "Interrupted before tool execution.";
      const line = `INTERRUPTED (${durationMs}ms)`;
      return partial === "" ? line : `${line}\n${partial}`;
    },
  },
};
