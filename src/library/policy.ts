/** How sessions behave for a program that holds them itself. */

import { WHOLE_FILE_MENTIONS } from "../session/attachments.ts";
import type { SessionPolicy } from "../session/policy.ts";

/** Nothing waits for ever: an abort drops what waits, and after a failed turn the next message is taken. */
export const LIBRARY_POLICY: SessionPolicy = {
  abortClearsQueues: true,
  queuesAfterFailure: "start",
  followUps: "turns",
  queueWhileIdle: "refuse",
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
  noticeSource: "weir-jobs",
  exitCodeIsError: false,
  mentions: WHOLE_FILE_MENTIONS,
  expandDelivered: true,
  texts: {
    unknownTool: (name) => `There is no tool named ${name}`,
    badArguments: (name, problem) => `${name} was called with invalid arguments: ${problem}`,
    interrupted: () => "Interrupted",
  },
};
