/**
 * Everything a client can ask, in neutral words, and what it gets back. Dialects decode their lines to these and encode the results; no
 * wire name is known here.
 */

import type { ImageBlock, Message } from "../agent/message.ts";
import type { RequestError } from "../errors.ts";
import type { SessionEvent } from "./event.ts";
import type { JobRecord } from "./job_record.ts";
import type { DeliveryMode } from "./policy.ts";

/** A message of the conversation with its id, which it keeps for ever. */
export interface StoredMessage {
  /** Id of its entry in the session. */
  readonly id: string;
  /** The message itself. */
  readonly message: Message;
}

/** Why a connection is over. */
export type EndCause = "input" | "shutdown" | "client_gone" | "signal";

/** How a connection ended. */
export interface HubEnd {
  /** What ended it first. */
  readonly cause: EndCause;
  /** Whether every turn of the process went well. */
  readonly success: boolean;
}

/** What to do with a prompt that comes while a turn runs. */
export type WhileBusy = "steer" | "follow_up" | "refuse";

/** What a message has beside its text. */
export interface MessageExtras {
  /** Mentions are looked for from this character of the text on; 0 when absent. */
  readonly mentionsFrom?: number;
  /** Put before the text, with a blank line between, where the model reads it; not part of what was sent. */
  readonly files?: string;
  readonly images?: readonly ImageBlock[];
}

export type Command =
  | {
    readonly type: "prompt";
    readonly message: string;
    readonly whileBusy: WhileBusy;
    readonly extras?: MessageExtras;
  }
  | { readonly type: "steer"; readonly message: string }
  | { readonly type: "follow_up"; readonly message: string }
  | { readonly type: "abort" }
  | { readonly type: "interrupt" }
  | { readonly type: "shutdown" }
  | { readonly type: "clear_queue" }
  | { readonly type: "new_session" }
  | { readonly type: "get_state" }
  | { readonly type: "get_messages" }
  | { readonly type: "get_last_answer" }
  | { readonly type: "get_stats" }
  | { readonly type: "set_name"; readonly name: string }
  | { readonly type: "list_models" }
  | { readonly type: "set_model"; readonly model: string }
  | { readonly type: "set_thinking"; readonly level: string }
  | {
    readonly type: "set_delivery_mode";
    readonly queue: "steer" | "follow_up";
    readonly mode: DeliveryMode;
  }
  | { readonly type: "export_html"; readonly outputPath: string | undefined }
  | { readonly type: "list_jobs" }
  | { readonly type: "stop_job"; readonly jobId: string }
  | { readonly type: "move_to_background" }
  /** Of the wire only: the encoder sees the response and changes what it writes. */
  | { readonly type: "set_detail"; readonly detail: "standard" | "full" };

export type CommandType = Command["type"];

/** The state that `get_state` reports. */
export interface SessionState {
  readonly sessionId: string;
  /** `""` when there is none, not even an automatic one. */
  readonly name: string;
  readonly model: string;
  readonly provider: string;
  readonly thinkingLevel: string;
  readonly busy: boolean;
  readonly messageCount: number;
  readonly steering: number;
  readonly followUp: number;
  readonly steeringMode: DeliveryMode;
  readonly followUpMode: DeliveryMode;
}

/** Counts and sums over a whole session, subagents and compactions included where it says so. */
export interface SessionStats {
  readonly sessionId: string;
  readonly userMessages: number;
  readonly assistantMessages: number;
  readonly toolCalls: number;
  readonly toolResults: number;
  readonly totalMessages: number;
  /** All recorded usage, subagents and compactions included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly receipts: ReceiptTotals;
}

export interface ReceiptTotals {
  /** Sum of the amounts in US$; `undefined` when no call was priced. */
  readonly usd: number | undefined;
  /** Model calls that reported usage. */
  readonly calls: number;
  readonly unpricedCalls: number;
}

/** What a command that succeeded gives back, by type. */
export interface CommandResults {
  prompt: { readonly disposition: "started" | "queued" };
  steer: { readonly disposition: "started" | "queued" };
  follow_up: { readonly disposition: "started" | "queued" };
  abort: undefined;
  interrupt: { readonly wasBusy: boolean };
  shutdown: { readonly wasBusy: boolean };
  clear_queue: { readonly steering: readonly string[]; readonly followUp: readonly string[] };
  new_session: { readonly sessionId: string };
  get_state: SessionState;
  get_messages: { readonly messages: readonly StoredMessage[] };
  get_last_answer: { readonly text: string };
  get_stats: SessionStats;
  set_name: undefined;
  list_models: { readonly models: readonly string[] };
  set_model: { readonly provider: string; readonly model: string };
  set_thinking: { readonly level: string };
  set_delivery_mode: undefined;
  export_html: { readonly path: string };
  list_jobs: { readonly jobs: readonly JobRecord[] };
  stop_job: { readonly job: JobRecord };
  move_to_background: { readonly moved: number };
  set_detail: { readonly detail: "standard" | "full" };
}

/** One line of a client: a command, or why it is none. */
export interface Request {
  /** As the client gave it; `undefined` when there was none. */
  readonly id: unknown;
  /** The name that the response carries. */
  readonly name: string;
  readonly command: Command | RequestError;
}

/** The result of a command together with its type, so that an encoder can tell them apart. */
export type CommandResult = {
  [Type in CommandType]: { readonly type: Type; readonly value: CommandResults[Type] };
}[CommandType];

/** What goes out: the answer to a line, or an event of a session. */
export type OutRecord =
  | { readonly kind: "result"; readonly request: Request; readonly result: CommandResult }
  | { readonly kind: "refusal"; readonly request: Request; readonly error: Error }
  | { readonly kind: "event"; readonly sessionId: string; readonly event: SessionEvent };
