/**
 * What a turn tells while it runs, in the order in which it happens. Neutral: no wire names. A session adds its own events to these
 * (`session/event.ts`); dialects encode both.
 */

import type {
  AssistantMessage,
  JsonObject,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from "./message.ts";
import type { ModelEvent } from "./model.ts";

/** Where a user message came from. */
export type MessageOrigin = "prompt" | "steer" | "follow_up" | "notice";

/** Why a call was not carried out as asked. */
export type NotRunCause =
  | "unknown_tool"
  | "bad_arguments"
  | "asks"
  | "always_asks"
  | "refused"
  | "interrupted";

/** What a turn tells while it runs. */
export type AgentEvent =
  | { readonly type: "step_start"; readonly step: number; readonly model: string }
  /** The reply of this step has begun; pieces follow. `id` is what the message will be stored under. */
  | { readonly type: "reply_start"; readonly id: string }
  | ModelEvent
  /** A complete reply, stored. `reportedModel` is the model that the endpoint says answered, if it says. */
  | {
    readonly type: "reply_end";
    readonly id: string;
    readonly message: AssistantMessage;
    readonly reportedModel: string | undefined;
  }
  /** A reply that broke off; `message` is stored when it has text. `again`: the step is tried once more. */
  | {
    readonly type: "reply_broken";
    readonly id: string;
    readonly message: AssistantMessage;
    readonly again: boolean;
  }
  /** A request failed before its first piece and is made again after a pause. */
  | {
    readonly type: "retry";
    readonly attempt: number;
    readonly limit: number;
    readonly delayMs: number;
    readonly error: string;
    readonly kind: string;
  }
  /** A call is taken up, before anything else happens for it. In a parallel group all come first. */
  | { readonly type: "call_start"; readonly call: ToolCall }
  /** A call that would have had to ask and is not run; its `call_end` follows. */
  | {
    readonly type: "call_not_run";
    readonly call: ToolCall;
    readonly reason: string;
  }
  /** A call really begins to run. */
  | { readonly type: "tool_start"; readonly call: ToolCall; readonly args: JsonObject }
  | {
    readonly type: "tool_output";
    readonly callId: string;
    readonly name: string;
    readonly delta: string;
  }
  /** The result of a call, stored. `begun` is false for calls that an abort kept from being taken up. */
  | {
    readonly type: "call_end";
    readonly id: string;
    readonly call: ToolCall;
    readonly message: ToolResultMessage;
    readonly begun: boolean;
    readonly cause: NotRunCause | undefined;
  }
  | {
    readonly type: "step_end";
    readonly step: number;
    readonly message: AssistantMessage;
    readonly reportedModel: string | undefined;
    /** Since the `step_start`. */
    readonly durationMs: number;
  }
  /** A user message was added to the conversation, stored. `text` is what was sent. */
  | {
    readonly type: "user_message";
    readonly id: string;
    readonly message: UserMessage;
    readonly text: string;
    readonly origin: MessageOrigin;
    /** The id of the command that brought it, as the client gave it. */
    readonly requestId: unknown;
  }
  /** The model stopped in a way that counts as a failure, although the turn is not over by it. */
  | { readonly type: "soft_stop"; readonly text: string }
  | { readonly type: "diagnostic"; readonly level: "warning" | "error"; readonly text: string };
