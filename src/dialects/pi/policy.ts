/** How sessions behave for clients of this dialect. */

import type { CommandOutput, CommandReport, CommandReportEnd } from "../../agent/tool.ts";
import { NO_MENTIONS } from "../../session/attachments.ts";
import type { SessionPolicy } from "../../session/policy.ts";

export const PI_POLICY: SessionPolicy = {
  abortClearsQueues: false,
  queuesAfterFailure: "hold",
  followUps: "steps",
  queueWhileIdle: "wait",
  deliveryModes: {
    steering: "one-at-a-time",
    followUp: "one-at-a-time",
    fromConfiguration: true,
  },
  approvals: "allow",
  allowRunsAlwaysAsking: true,
  untrusted: "skip",
  unknownProvider: "refuse",
  unknownModel: "refuse",
  missingModel: "fail_turns",
  nothingToContinue: "start_new",
  questionRefusal: undefined,
  toolsOnRequest: ["question"],
  emptyAnswer: "accept",
  lengthCut: "answer",
  endOfInput: "finish",
  settleAfterBatch: false,
  jobTurns: false,
  noticeSource: "background-jobs",
  exitCodeIsError: true,
  mentions: NO_MENTIONS,
  expandDelivered: false,
  failures: "told",
  sendsPartial: true,
  announceCalls: "first",
  output: "snapshots",
  describeCommand,
  asksByEvents: true,
  queueNewsFirst: true,
  keepsEntries: true,
  recordsSettings: "at_once",
  compactionSize: "tokens",
  exportName: (stem) => `weir-session-${stem}.html`,
  sessionNames: "files_and_id_starts",
  sessionFolderVariable: "PI_CODING_AGENT_SESSION_DIR",
  endWaitVariable: "WEIR_EOF_WAIT",
  dropOutputAfterMs: 500,
  lateCommands: {
    late: new Set(["abort", "run_command", "compact", "export_html", "replace_session"]),
    replacing: new Set(["replace_session"]),
    passing: new Set(["abort", "stop_commands", "cancel_retry", "answer_request"]),
  },
  lackText: (lack) =>
    lack.kind === "model"
      ? "No model selected. Set one with --model, set_model or config.jsonc."
      : `No API key found for ${lack.provider}. Set ${lack.variable} or apiKey in config.jsonc.`,
  texts: {
    unknownTool: (name) => `Tool ${name} not found`,
    badArguments: (name, problem, { isJson }) =>
      `${isJson ? "Validation failed" : "Invalid arguments"} for tool "${name}": ${problem}`,
    interrupted: ({ begun, partial }) => {
      if (!begun) return "Not run: aborted";
      return partial === ""
        ? "Command aborted"
        : `${partial.replace(/\n$/, "")}\n\nCommand aborted`;
    },
    imageNote: (model) => `[image omitted: ${model} reads text only]`,
    abortedReply: "Request was aborted",
    failedReply: ({ status, message, detail }) => {
      if (status === undefined) return message;
      if (detail !== undefined) return `${status}: ${detail}`;
      return `${status}: ${message.startsWith(`${status} `) ? message.slice(4) : message}`;
    },
    cutOffCall: "Not run: the answer was cut off by its length limit",
  },
};

function describeCommand(end: CommandReportEnd, output: CommandOutput): CommandReport {
  const text = output.text === "" ? "(no output)" : output.text;
  const status = describeEnd(end);
  return status === undefined
    ? { text, isError: false }
    : { text: `${text.replace(/\n$/, "")}\n\n${status}`, isError: true };
}

function describeEnd(end: CommandReportEnd): string | undefined {
  switch (end.kind) {
    case "timeout":
      return `Command timed out after ${end.timeoutMs / 1000} seconds`;
    case "output limit":
      return "Command ended: output limit";
    case "output unavailable":
      return `Command ended: output unavailable (${end.problem})`;
    case "exited":
      return end.code === 0 ? undefined : `Command exited with code ${end.code}`;
  }
}
