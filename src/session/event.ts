/**
 * Everything a client can hear, in neutral words: what turns tell (`agent/agent_event.ts`) and what sessions add. Dialects encode it.
 */

import type { AgentEvent, MessageOrigin } from "../agent/agent_event.ts";
import type { JsonObject, JsonValue, Usage, UserMessage } from "../agent/message.ts";
import type { ApprovalRequest } from "./client_help.ts";
import type { CompactionReport, EndCause } from "./command.ts";
import type { JobRecord } from "./job_record.ts";

/** How many messages wait. */
export interface QueueDepths {
  /** For the running turn. */
  readonly steering: number;
  /** For turns of their own. */
  readonly followUp: number;
}

/** The message that opens a turn. */
export interface TurnOpening {
  /** Id of the message. */
  readonly id: string;
  /** As the model reads it. */
  readonly message: UserMessage;
  /** As it was sent. */
  readonly text: string;
  /** How it came. */
  readonly origin: MessageOrigin;
  /** The id of the command that brought it, as the client gave it. */
  readonly requestId: unknown;
}

/** What happens in a session, in the order in which it happens. */
export type SessionEvent =
  | AgentEvent
  /** A turn begins; `turn` counts them in this process from 1. Without `opening` finished jobs started it. */
  | {
    readonly type: "turn_start";
    readonly turn: number;
    readonly opening: TurnOpening | undefined;
    /** The message could not be stored: the turn ends at once. */
    readonly unsaved?: boolean;
  }
  /** A turn is over. `usage` is the sum of its replies; `durationMs` is the time since its `turn_start`. */
  | ({
    readonly type: "turn_end";
    readonly turn: number;
    readonly usage: Usage;
    readonly durationMs: number;
  } & TurnOutcome)
  /** Nothing more runs on its own. */
  | { readonly type: "settled"; readonly aborted: boolean }
  | ({
    readonly type: "queue_change";
    readonly action: "enqueue" | "dequeue";
    readonly queue: "steer" | "follow_up";
    readonly text: string;
    readonly requestId: unknown;
    /** All that waits now; only for clients that are told of changes at once. */
    readonly waiting?: WaitingTexts;
  } & QueueDepths)
  | { readonly type: "queue_clear" }
  /** The client has ended the pause before another try. */
  | { readonly type: "retry_cancelled" }
  | ({ readonly type: "compaction"; readonly trigger: CompactionTrigger } & CompactionPhase)
  /** A request for a summary that failed and is made again. */
  | ({ readonly type: "summary_retry"; readonly trigger: CompactionTrigger } & SummaryRetryPhase)
  /** The client is asked about a call; it answers with the command `answer_request`. Without `timeoutMs` the question stays open. */
  | {
    readonly type: "approval_request";
    readonly id: string;
    readonly request: ApprovalRequest;
    readonly timeoutMs: number | undefined;
  }
  /** What a command of the client has written. */
  | { readonly type: "command_output"; readonly requestId: unknown; readonly delta: string }
  | { readonly type: "thinking_change"; readonly level: string }
  | {
    readonly type: "job_change";
    readonly change: "started" | "updated" | "ended";
    readonly job: JobRecord;
  }
  | { readonly type: "subagent"; readonly tags: SubagentTags; readonly event: SubagentEvent }
  | { readonly type: "plan_change"; readonly items: readonly JsonValue[] }
  | { readonly type: "name_change"; readonly name: string }
  /** The first event of a session. `workspace` is absolute; `model` is the id in use. */
  | {
    readonly type: "session_open";
    readonly workspace: string;
    readonly model: string;
    /** The first line of its file. */
    readonly header: JsonObject;
  }
  /** The last event of a session. `jobsStopped`: how many jobs had to be stopped for it. `success`: no turn failed. */
  | {
    readonly type: "session_close";
    readonly jobsStopped: number;
    readonly success: boolean;
    readonly cause: EndCause;
  };

/** The texts that wait, oldest first. */
export interface WaitingTexts {
  /** For the turn that runs. */
  readonly steering: readonly string[];
  /** For its end. */
  readonly followUp: readonly string[];
}

/** How a request for a summary that failed goes on. */
export type SummaryRetryPhase =
  | {
    readonly phase: "scheduled";
    readonly attempt: number;
    readonly limit: number;
    readonly delayMs: number;
    readonly error: string;
  }
  | { readonly phase: "started" }
  | { readonly phase: "finished" };

/** How a turn ended. */
export type TurnOutcome =
  /** `model`: the one that the endpoint says gave the answer, if it says. */
  | { readonly outcome: "answered"; readonly answer: string; readonly model: string | undefined }
  | { readonly outcome: "aborted" }
  /** `cause`: what was thrown, where it was that. */
  | { readonly outcome: "failed"; readonly error: string; readonly cause?: unknown };

/** Why a conversation is made shorter: it is nearly full, the endpoint refused it, or a person asked. */
export type CompactionTrigger = "auto" | "overflow" | "manual";

/** Which subagent an event is of. */
export interface SubagentTags {
  /** Id of the subagent's conversation, unique in the process. */
  readonly subagent: string;
  /** Its kind: `general` or `explore`. */
  readonly name: string;
  /** The background job that it runs in, if any. */
  readonly jobId: string | undefined;
  /** The call whose result its answer is; `undefined` for one in the background. */
  readonly callId?: string | undefined;
}

/** What a subagent tells. */
export type SubagentEvent =
  | AgentEvent
  | { readonly type: "subagent_start"; readonly message: string }
  | { readonly type: "subagent_end"; readonly answer: string; readonly usage: Usage }
  | { readonly type: "subagent_error"; readonly message: string; readonly interrupted: boolean };

/** How far a compaction is. */
export type CompactionPhase =
  | {
    readonly phase: "start";
    readonly tokensBefore: number;
    readonly summarized: number;
    readonly kept: number;
  }
  | { readonly phase: "saving" }
  | { readonly phase: "saved"; readonly file: string }
  | { readonly phase: "summarizing" }
  | { readonly phase: "chunks"; readonly chunks: number }
  | { readonly phase: "summarized"; readonly chunks: number }
  | {
    readonly phase: "done";
    readonly tokensBefore: number;
    readonly tokensAfter: number;
    readonly summarized: number;
    readonly kept: number;
    readonly file: string;
    readonly seconds: number;
    readonly report: CompactionReport;
  }
  | { readonly phase: "aborted" }
  | { readonly phase: "error"; readonly message: string };
