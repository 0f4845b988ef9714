/**
 * What a client can do itself for a session of its own: give and take files that it has open, be asked about calls, answer questions.
 * Interfaces only; a dialect whose protocol has requests of that kind implements them. Knows no wire.
 */

import type { JsonObject, ToolCall } from "../agent/message.ts";
import type { Question } from "../tools/question.ts";

/** The subagent that makes a call. */
export interface CallAsker {
  /** Of its conversation. */
  readonly id: string;
  /** `general` or `explore`. */
  readonly name: string;
}

/** A call that needs somebody's yes. */
export interface ApprovalRequest {
  /** The call as the model made it. */
  readonly call: ToolCall;
  /** Its arguments. */
  readonly args: JsonObject;
  /** It is asked about in every mode that asks at all, and no earlier yes holds for it. */
  readonly always: boolean;
  /** Why it has to be asked about. */
  readonly reason: string;
  /** It changes a file outside the workspace. */
  readonly outside: boolean;
  /** `undefined`: the main agent. */
  readonly asker: CallAsker | undefined;
}

/** `text` is what the model reads. */
export type ApprovalAnswer =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly text: string };

/** Each member is absent where the client cannot do it. All end early when `signal` aborts. */
export interface ClientHelp {
  /** Asks about a call; `undefined`: there is nobody to ask. */
  askApproval?(
    request: ApprovalRequest,
    signal: AbortSignal,
  ): Promise<ApprovalAnswer | undefined>;
  /** The text of a file as the client has it; `undefined`: what is on the disk counts. Never throws but `signal.reason`. */
  readText?(path: string, signal: AbortSignal): Promise<string | undefined>;
  /** Writes a file; false: it is to be written to the disk. Throws with the client's words when it did not. */
  writeText?(path: string, text: string, signal: AbortSignal): Promise<boolean>;
  /** The text of the result of a `question` call. Never throws but `signal.reason`. */
  answerQuestions?(
    questions: readonly Question[],
    options: { callId: string; signal: AbortSignal },
  ): Promise<string>;
}
