/**
 * Hooks: the places where a turn asks its owner. Approvals, steering, notices, compaction and extensions all come in here, so that the loop
 * knows none of them.
 */

import type { ModelError } from "../errors.ts";
import type { NotRunCause } from "./agent_event.ts";
import type { JsonObject, ToolCall, ToolResultMessage } from "./message.ts";
import type { TurnResult } from "./run_turn.ts";
import type { Tool } from "./tool.ts";

/** What is decided about a call before it runs; `asked`: somebody is asked, and calls that only read need not wait for the answer. */
export type CallDecision =
  | CallVerdict
  /** `answer` may reject like the hook itself. */
  | { readonly run: "asked"; readonly answer: Promise<CallVerdict> };

/** The last word about a call. */
export type CallVerdict =
  | { readonly run: true }
  | {
    readonly run: false;
    readonly cause: NotRunCause;
    /** What the model reads. */
    readonly text: string;
    /** Given when the call would have had to ask: what clients are told. */
    readonly reason?: string;
  };

/** Another try. */
export interface RetryPlan {
  readonly delayMs: number;
  /** The most tries. */
  readonly limit: number;
  /** Aborted when the client wants no more of it. */
  readonly signal: AbortSignal;
}

export interface TurnHooks {
  /**
   * Called before each model request, also the first: adds waiting messages to the conversation, makes room in it. `afterAnswer` is true
   * when the model has just answered and the turn goes on only because of what waits.
   */
  beforeRequest(at: { readonly afterAnswer: boolean; readonly signal: AbortSignal }): Promise<void>;
  /**
   * Called when the model has answered, with what the turn would end with. Returns whether the turn goes on because messages wait for it.
   * With `false` the owner has taken the turn as ended in this very moment, so that nothing can be queued in between.
   */
  goesOn(result: TurnResult): boolean;
  /** Resolves when the turn may end: what it stored is on the disk. Called before `goesOn`. */
  beforeEnd(): Promise<void>;
  /** Decides whether a call runs. Called for calls with a known tool and good arguments, in call order. */
  beforeCall(
    call: ToolCall,
    tool: Tool,
    args: JsonObject,
    signal: AbortSignal,
  ): Promise<CallDecision>;
  /** Sees each result before it is stored, and may replace it. */
  afterCall(call: ToolCall, result: ToolResultMessage): Promise<ToolResultMessage>;
  /** Whether `makeRoom` has anything to take out; without this hook it is simply tried. */
  mayMakeRoom?(): boolean;
  /** Whether a request that failed is made again, and when. Asked where failures are told; `attempt` counts from 1. */
  planRetry?(error: ModelError, attempt: number): RetryPlan | undefined;
  /** The endpoint said that the conversation is too long. Returns whether something was taken out, so that another request makes sense. */
  makeRoom(signal: AbortSignal): Promise<boolean>;
}
