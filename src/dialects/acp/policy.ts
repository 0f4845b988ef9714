/** How sessions behave for clients of this dialect. */

import type { MentionStyle } from "../../session/attachments.ts";
import type { SessionPolicy } from "../../session/policy.ts";

/** Clients send files as blocks of their own, so no word of a prompt stands for one. */
const NO_MENTIONS: MentionStyle = {
  pattern: /(?!)/g,
  dropsFullStops: false,
  maxTextBytes: 0,
  longText: "left",
  maxFolderNames: 0,
  maxImages: 0,
};

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
  readsWhileAsked: true,
  mentions: NO_MENTIONS,
  expandDelivered: false,
  texts: {
    unknownTool: (name) => `tool is not available: ${name}`,
    badArguments: (name, problem) => `${name} was called with invalid arguments: ${problem}`,
    interrupted: () => "Interrupted",
  },
};
