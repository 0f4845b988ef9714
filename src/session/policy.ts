/**
 * Policy: in what sessions differ by dialect. A plain object that each dialect supplies; code outside the dialects asks the policy, never
 * which dialect it serves.
 */

import type { TurnTexts } from "../agent/run_tools.ts";
import type { MentionStyle } from "./attachments.ts";

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
  /** What `steer` and `follow_up` do while nothing runs. */
  readonly queueWhileIdle: "start" | "refuse";
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
  readonly emptyAnswer: "fail" | "ask_again";
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
}
