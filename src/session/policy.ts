/**
 * Policy: in what sessions differ by dialect. A plain object that each dialect supplies; code outside the dialects asks the policy, never
 * which dialect it serves.
 */

import type { TurnTexts } from "../agent/run_tools.ts";
import type { ModelLack } from "../agent/model.ts";
import type { ToolContext } from "../agent/tool.ts";
import type { MentionStyle } from "./attachments.ts";
import type { CommandType } from "./command.ts";

export type ApprovalMode = "deny" | "ask" | "allow";
/** How many waiting messages a delivery takes. */
export type DeliveryMode = "all" | "one-at-a-time";

export interface SessionPolicy {
  /** Whether stopping a turn also drops the messages that wait. */
  readonly abortClearsQueues: boolean;
  /** What happens to waiting messages when a turn failed or was stopped: they wait for the next prompt, or open a turn at once. */
  readonly queuesAfterFailure: "hold" | "start";
  /** Whether a follow-up opens a turn of its own or adds steps to the turn that runs. */
  readonly followUps: "turns" | "steps";
  /** What `steer` and `follow_up` do while nothing runs: start a turn, fail, or wait for the next prompt. */
  readonly queueWhileIdle: "start" | "refuse" | "wait";
  /** How many waiting messages a delivery takes, and whether the configuration may say otherwise. */
  readonly deliveryModes: {
    readonly steering: DeliveryMode;
    readonly followUp: DeliveryMode;
    readonly fromConfiguration: boolean;
  };
  readonly approvals: ApprovalMode;
  /** Whether calls that always ask run in mode `allow`. */
  readonly allowRunsAlwaysAsking: boolean;
  /** An untrusted folder: the program does not start, or it starts without the folder's own resources. */
  readonly untrusted: "refuse" | "skip";
  /** `--model` with a provider that is not configured: it is a model of the default provider, or the program does not start. */
  readonly unknownProvider: "default" | "refuse";
  /** No model, or no key for it: the program does not start, or each turn fails and says what to set. */
  readonly missingModel: "refuse" | "fail_turns";
  /** Going on with the newest conversation where there is none: an error, or a new one. */
  readonly nothingToContinue: "refuse" | "start_new";
  /** What the tool `question` fails with; `undefined` where it tells the model to put its questions into the answer. */
  readonly questionRefusal: string | undefined;
  /** A reply with neither text nor calls: the turn fails, or the model is asked once more. */
  readonly emptyAnswer: "fail" | "ask_again" | "accept";
  /** A reply without calls that was cut by its length limit: it is the answer, or the model goes on (8 times in a row at most). */
  readonly lengthCut: "answer" | "go_on";
  /** When the input ends: accepted work is finished, or stopped. */
  readonly endOfInput: "finish" | "interrupt";
  /** Whether the end of a turn is taken note of only after all commands of the same read are handled. */
  readonly settleAfterBatch: boolean;
  /** Whether jobs that end while nothing runs start a turn. */
  readonly jobTurns: boolean;
  /** Names the source of notices of jobs to the model. */
  readonly noticeSource: string;
  /** Whether a command that ends with a code other than 0 is a failed call. */
  readonly exitCodeIsError: boolean;
  readonly mentions: MentionStyle;
  /** Whether messages delivered inside a turn have their mentions expanded too. */
  readonly expandDelivered: boolean;
  readonly texts: TurnTexts;
  /** Failed requests: made again without a word (the default), or each told and stored, with a pause that the client can end. */
  readonly failures?: "hidden" | "told";
  /** Whether the model is sent the text of replies that were given up; default: they are left out. */
  readonly sendsPartial?: boolean;
  /** Whether all calls of a reply are announced before the first runs; default: each when it is taken up. */
  readonly announceCalls?: "first" | "each";
  /** Whether calls that only read run while the client is asked about an earlier one; default: calls keep their order. */
  readonly readsWhileAsked?: boolean;
  /** Whether clients are shown pieces of a command's output (the default) or all of it now and then. */
  readonly output?: "pieces" | "snapshots";
  /** How results of commands read, where not as usual. */
  readonly describeCommand?: ToolContext["describeCommand"];
  /** `--model` with a name that its provider does not list: asked all the same (the default), or the program does not start. */
  readonly unknownModel?: "ask" | "refuse";
  /** Why a prompt is refused when there is no model to ask; without it the turn fails. */
  readonly lackText?: (lack: ModelLack) => string;
  /** How a session is named on the command line: by the end of its id (the default), or by its file or the start of its id. */
  readonly sessionNames?: "id_ends" | "files_and_id_starts";
  /** Variable with the folder of sessions, where the command line names none. */
  readonly sessionFolderVariable?: string;
  /** Tools that are offered only when `--tools` names them. */
  readonly toolsOnRequest?: readonly string[];
  /** Name of an exported page by that of the session's file, and nothing is exported of an empty conversation; default: the id, always. */
  readonly exportName?: (stem: string) => string;
  /** Whether clients are asked about calls by events and answer with commands. */
  readonly asksByEvents?: boolean;
  /** Whether a change of the queues is told before the command that made it is answered. */
  readonly queueNewsFirst?: boolean;
  /** Whether clients are shown the stored entries, with all branches, so that they are kept in memory. */
  readonly keepsEntries?: boolean;
  /** Whether the setting is stored with the start of a conversation and with each change, or with the next message. */
  readonly recordsSettings?: "at_once" | "with_messages";
  /** When a conversation is full, and what is kept of it: shares of the window (the default), or the configured numbers of tokens. */
  readonly compactionSize?: "shares" | "tokens";
  /** Commands that others need not wait for; without it each command waits for the one before it. */
  readonly lateCommands?: {
    /** Answered when they are done; others go on meanwhile. */
    readonly late: ReadonlySet<CommandType>;
    /** Those of them that lead to another session: what comes behind them waits. */
    readonly replacing: ReadonlySet<CommandType>;
    /** What does not wait for those. */
    readonly passing: ReadonlySet<CommandType>;
  };
  /** Variable with the seconds that accepted work may take after the end of the input; without it there is no limit. */
  readonly endWaitVariable?: string;
  /** What cannot be written is dropped so long after a signal; without it writing is waited for. */
  readonly dropOutputAfterMs?: number;
}
