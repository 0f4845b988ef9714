/**
 * Everything a client can ask, in neutral words, and what it gets back. Dialects decode their lines to these and encode the results; no
 * wire name is known here.
 */

import type { ImageBlock, JsonObject, Message, Usage, UserMessage } from "../agent/message.ts";
import type { Model, ThinkingLevel } from "../agent/model.ts";
import type { CommandOutput } from "../agent/tool.ts";
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
  /** As the file has it, when it was read from one; the members that Weir has no use for are only there. */
  readonly raw?: JsonObject;
}

/** Why a connection is over. */
export type EndCause =
  | "input"
  /** The input has ended, and what was accepted took too long. */
  | "overdue"
  | "shutdown"
  | "client_gone"
  | "signal";

/** How a connection ended. */
export interface HubEnd {
  /** What ended it first. */
  readonly cause: EndCause;
  /** Whether every turn of the process went well. */
  readonly success: boolean;
  /** Whether the last turn ended with an answer; false when there was none. */
  readonly answered: boolean;
  /** Whether the last reply was cut off by its length limit. */
  readonly isCutOff?: boolean;
}

/** What to do with a prompt that comes while a turn runs; `unknown`: the client said something that means nothing. */
export type WhileBusy = "steer" | "follow_up" | "refuse" | "unknown";

/** What a message has beside its text. */
export interface MessageExtras {
  /** Mentions are looked for from this character of the text on; 0 when absent. */
  readonly mentionsFrom?: number;
  /** Put before the text, with a blank line between, where the model reads it; not part of what was sent. */
  readonly files?: string;
  readonly images?: readonly ImageBlock[];
  /** The whole message, in the place of all that: nothing is added to it, and the text is only what is shown of it. */
  readonly content?: UserMessage["content"];
}

export type Command =
  | {
    readonly type: "prompt";
    readonly message: string;
    readonly whileBusy: WhileBusy;
    readonly extras?: MessageExtras;
  }
  | {
    readonly type: "steer" | "follow_up";
    readonly message: string;
    readonly extras?: MessageExtras;
  }
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
  | { readonly type: "cancel_retry" }
  /** What the client says to an `approval_request`; one that nobody waits for changes nothing. */
  | {
    readonly type: "answer_request";
    readonly id: string;
    readonly answer: "once" | "session" | "no";
  }
  /** The conversation as the model is sent it, and what of the client's own is not sent. */
  | { readonly type: "get_context" }
  | { readonly type: "list_configured_models" }
  | { readonly type: "select_model"; readonly provider: string; readonly id: string }
  | { readonly type: "cycle_model" }
  | { readonly type: "select_thinking"; readonly level: ThinkingLevel }
  | { readonly type: "cycle_thinking" }
  | { readonly type: "list_thinking_levels" }
  | { readonly type: "set_switch"; readonly name: SwitchName; readonly enabled: boolean }
  | {
    readonly type: "run_command";
    readonly command: string;
    /** Not sent to the model. */
    readonly isPrivate: boolean;
  }
  | { readonly type: "stop_commands" }
  | { readonly type: "compact"; readonly instructions: string | undefined }
  | { readonly type: "replace_session"; readonly by: SessionReplacement }
  | { readonly type: "list_fork_points" }
  | { readonly type: "list_entries"; readonly since: string | undefined }
  | { readonly type: "get_tree" }
  | { readonly type: "get_file_stats" }
  | { readonly type: "get_last_text" }
  | { readonly type: "list_extension_commands" }
  /** Of the wire only: the encoder sees the response and changes what it writes. */
  | { readonly type: "set_detail"; readonly detail: "standard" | "full" };

export type CommandType = Command["type"];

/** Settings that are on or off. */
export type SwitchName = "auto_compaction" | "auto_retry";

/** What takes the place of the session. */
export type SessionReplacement =
  | { readonly kind: "new"; readonly parentSession: string | undefined }
  /** The one in a file; relative to the workspace. */
  | { readonly kind: "file"; readonly path: string }
  /** A new one that ends before a message of the person. */
  | { readonly kind: "fork"; readonly entryId: string }
  /** A new one with everything up to the last entry. */
  | { readonly kind: "clone" };

/** An entry with those that follow it. */
export interface EntryNode {
  readonly entry: JsonObject;
  readonly children: EntryNode[];
  label?: string;
  labelTimestamp?: string;
}

/** How a command of the client ended. */
export interface CommandRun {
  readonly output: CommandOutput;
  /** `undefined` when it was stopped. */
  readonly exitCode: number | undefined;
}

/** Counts and sums over all entries of a session, all branches included. */
export interface FileStats {
  readonly path: string | undefined;
  readonly sessionId: string;
  readonly userMessages: number;
  readonly assistantMessages: number;
  readonly toolCalls: number;
  readonly toolResults: number;
  readonly totalMessages: number;
  /** Without those from or into a cache. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** US$. */
  readonly cost: number;
  /** `tokens` is `undefined` when nothing was counted since the last compaction; absent without a model. */
  readonly context:
    | { readonly tokens: number | undefined; readonly window: number | undefined }
    | undefined;
}

/** What a compaction did. */
export interface CompactionReport {
  /** What the model is sent in the place of the older messages. */
  readonly summary: string;
  /** The first message that is still sent. */
  readonly firstKeptId: string;
  /** Of the conversation before. */
  readonly tokensBefore: number;
  /** Of the conversation now, about. */
  readonly tokensAfter: number;
  /** Of the requests for the summary; `undefined` when the endpoint reported nothing. */
  readonly usage: Usage | undefined;
  /** The files that calls of the older messages have named. */
  readonly files: { readonly read: readonly string[]; readonly modified: readonly string[] };
}

/** The last summary and the messages that it does not cover. */
export interface ConversationContext {
  readonly summary:
    | { readonly text: string; readonly tokensBefore: number; readonly timestamp: number }
    | undefined;
  readonly messages: readonly StoredMessage[];
}

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
  /** The model in use; without a name when none is set up. */
  readonly activeModel: Model;
  /** Absolute path of the file, whether it exists yet or not; `undefined` for a session that is not stored. */
  readonly path: string | undefined;
  /** `undefined` without a name of its own. */
  readonly ownName: string | undefined;
  readonly compacting: boolean;
  readonly autoCompaction: boolean;
  /** Messages that the model is sent, a summary counted as one. */
  readonly contextCount: number;
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
  cancel_retry: undefined;
  answer_request: undefined;
  get_context: ConversationContext;
  list_configured_models: { readonly models: readonly Model[] };
  select_model: { readonly model: Model };
  /** `undefined` when there is no other one. `isScoped`: the choice was narrowed when the program was started. */
  cycle_model:
    | { readonly model: Model; readonly level: ThinkingLevel; readonly isScoped: boolean }
    | undefined;
  select_thinking: undefined;
  /** `undefined` for a model that does not think. */
  cycle_thinking: { readonly level: ThinkingLevel } | undefined;
  list_thinking_levels: { readonly levels: readonly ThinkingLevel[] };
  set_switch: undefined;
  run_command: CommandRun;
  stop_commands: undefined;
  compact: CompactionReport;
  /** `text`: of the message that a fork ends before. */
  replace_session: { readonly text: string | undefined };
  list_fork_points: { readonly messages: readonly { id: string; text: string }[] };
  list_entries: { readonly entries: readonly JsonObject[]; readonly leafId: string | null };
  get_tree: { readonly roots: readonly EntryNode[]; readonly leafId: string | null };
  get_file_stats: FileStats;
  get_last_text: { readonly text: string | undefined };
  list_extension_commands: undefined;
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
