/** How sessions behave for clients of this dialect. */

import { WHOLE_FILE_MENTIONS } from "../../session/attachments.ts";
import type { SessionPolicy } from "../../session/policy.ts";

export const ACP_POLICY: SessionPolicy = {
  abortClearsQueues: true,
  queuesAfterFailure: "hold",
  followUps: "turns",
  queueWhileIdle: "refuse",
  deliveryModes: { steering: "all", followUp: "one-at-a-time", fromConfiguration: false },
  approvals: "ask",
  allowRunsAlwaysAsking: false,
  untrusted: "skip",
  unknownProvider: "default",
  missingModel: "fail_turns",
  nothingToContinue: "start_new",
  questionRefusal: undefined,
  emptyAnswer: "fail",
  lengthCut: "answer",
  endOfInput: "interrupt",
  settleAfterBatch: false,
  jobTurns: false,
  noticeSource: "weir-jobs",
  exitCodeIsError: true,
  mentions: WHOLE_FILE_MENTIONS,
  expandDelivered: false,
  texts: {
    unknownTool: (name) => `tool is not available: ${name}`,
    badArguments: (name, problem) => `${name} was called with invalid arguments: ${problem}`,
    interrupted: () => "Interrupted",
  },
};
