/** How sessions behave for clients of this dialect. */

import { WHOLE_FILE_MENTIONS } from "../../session/attachments.ts";
import type { SessionPolicy } from "../../session/policy.ts";

export const CIRCLE_POLICY: SessionPolicy = {
  abortClearsQueues: true,
  queuesAfterFailure: "hold",
  followUps: "turns",
  queueWhileIdle: "start",
  deliveryModes: { steering: "all", followUp: "one-at-a-time", fromConfiguration: false },
  approvals: "deny",
  allowRunsAlwaysAsking: false,
  untrusted: "refuse",
  unknownProvider: "default",
  missingModel: "refuse",
  nothingToContinue: "refuse",
  questionRefusal: undefined,
  emptyAnswer: "fail",
  lengthCut: "answer",
  endOfInput: "finish",
  settleAfterBatch: false,
  jobTurns: true,
  noticeSource: "circle-jobs",
  exitCodeIsError: false,
  mentions: WHOLE_FILE_MENTIONS,
  expandDelivered: true,
  texts: {
    unknownTool: (name) => `tool is not available: ${name}`,
    badArguments: (name, problem) => `${name} was called with invalid arguments: ${problem}`,
    interrupted: () => "Interrupted",
  },
};
