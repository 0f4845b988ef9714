/**
 * One turn: model requests and tool runs until the model has answered, the turn is stopped, or a request fails for good. Knows no file,
 * no queue and no wire: what waits, what is allowed and what is kept is decided by its owner, through hooks and the conversation.
 */

import { type ModelError, TurnLimitError } from "../errors.ts";
import type { AgentEvent } from "./agent_event.ts";
import type { Conversation } from "./conversation.ts";
import type { RetryPlan, TurnHooks } from "./hook.ts";
import {
  type AssistantMessage,
  isPartial,
  type Message,
  textOf,
  toolCallsOf,
  type Usage,
} from "./message.ts";
import type { Model, ThinkingLevel } from "./model.ts";
import { pause } from "./retry.ts";
import { runStep, type StepResult } from "./run_step.ts";
import { runTools, type TurnTexts, type WatchOutput } from "./run_tools.ts";
import type { Tool, ToolContext } from "./tool.ts";
import { addUsage, NO_USAGE } from "./usage.ts";

/** What a model request is made with; asked for anew before each one. */
export interface TurnSetting {
  readonly model: Model;
  readonly thinkingLevel: ThinkingLevel | undefined;
  readonly systemPrompt: string;
  readonly tools: ReadonlyMap<string, Tool>;
}

export interface TurnOptions {
  readonly sessionId: string;
  readonly conversation: Conversation;
  readonly hooks: TurnHooks;
  readonly texts: TurnTexts;
  readonly exitCodeIsError: boolean;
  /** `each` when absent. */
  readonly announceCalls?: "first" | "each" | undefined;
  readonly readsWhileAsked?: boolean | undefined;
  readonly watchOutput?: WatchOutput | undefined;
  /** Failed requests are made again without a word, or each is stored and told and the owner plans another one. `hidden` when absent. */
  readonly failures?: "hidden" | "told" | undefined;
  readonly emptyAnswer: "fail" | "ask_again" | "accept";
  readonly lengthCut: "answer" | "go_on";
  /** Model requests in this turn before it fails with `TurnLimitError`; `undefined` for no limit. */
  readonly maxRequests?: number | undefined;
  readonly toolContext: Omit<ToolContext, "callId" | "signal" | "onOutput">;
  readonly signal: AbortSignal;
  setting(): Promise<TurnSetting>;
  /** Emits an event; a returned promise asks to wait before more is produced. */
  emit(event: AgentEvent): Promise<void> | undefined;
}

export type TurnResult =
  & { readonly usage: Usage; readonly durationMs: number }
  & (
    | { readonly outcome: "answered"; readonly answer: string; readonly model: string | undefined }
    | { readonly outcome: "aborted" }
    /** `cause`: what was thrown, where it was that. */
    | { readonly outcome: "failed"; readonly error: string; readonly cause?: unknown }
  );

/** The text of the failure of a reply that has neither text nor calls. */
export const NO_ANSWER = "model ended without an answer";
const STOPPED_EMPTY = "The model stopped without a user-facing answer.";
const STOPPED_LENGTH = "Stopped after repeated output-token limits.";
const MAX_LENGTH_CUTS = 8;

/** Added to one request, never stored or shown, after an answer that was empty. */
const EMPTY_ANSWER_REMINDER =
  "Your last reply had no text. Tell the person now, in a sentence or more, what you found or did.";

/** Runs the turn whose opening message is already in the conversation. Throws only what is a fault of ours. */
export async function runTurn(options: TurnOptions): Promise<TurnResult> {
  return await new TurnRun(options).run();
}

class TurnRun {
  readonly #options: TurnOptions;
  readonly #startedAt = Date.now();
  #usage = NO_USAGE;
  #step = -1;
  #setting: TurnSetting | undefined;
  #repeatedAfterBreak = false;
  #madeRoom = false;
  #emptyAnswers = 0;
  #lengthCuts = 0;
  #reminder: string | undefined;
  /** Failed requests in a row. */
  #failures = 0;
  /** Whether clients that are told everything still wait for a reply of this turn. */
  #owesReply = true;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  async run(): Promise<TurnResult> {
    const { hooks, signal } = this.#options;
    let afterAnswer = false;
    const { maxRequests = Infinity } = this.#options;
    try {
      for (let requests = 0;; requests++) {
        if (requests >= maxRequests) {
          const error = `Stopped after ${maxRequests} model requests in one turn`;
          return this.#end({ outcome: "failed", error, cause: new TurnLimitError(error) });
        }
        await hooks.beforeRequest({ afterAnswer, signal });
        signal.throwIfAborted();
        const next = await this.#runStep();
        this.#owesReply = next.kind !== "end";
        if (next.kind === "end") return this.#end(next.result);
        afterAnswer = next.kind === "answered";
        if (next.kind !== "answered") continue;
        this.#owesReply = false;
        await hooks.beforeEnd();
        signal.throwIfAborted();
        const result = this.#end(next.result);
        if (!hooks.goesOn(result)) return result;
        this.#owesReply = true;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      if (this.#owesReply) await this.#tellEmptyReply();
      return this.#end({ outcome: "aborted" });
    }
  }

  #end(result: StepEnd): TurnResult {
    return { ...result, usage: this.#usage, durationMs: Math.max(1, Date.now() - this.#startedAt) };
  }

  async #runStep(): Promise<NextStep> {
    const { emit, conversation, signal } = this.#options;
    const setting = await this.#options.setting();
    const step = ++this.#step;
    const startedAt = Date.now();
    const replyId = conversation.reserveId();
    const { id: model, provider, api } = setting.model;
    const { thinkingLevel } = setting;
    this.#setting = setting;
    await emit({ type: "step_start", step, model, provider, api, thinkingLevel });
    const result = await runStep({
      model: setting.model,
      retries: this.#options.failures !== "told",
      replyId,
      signal,
      emit,
      request: {
        systemPrompt: setting.systemPrompt,
        messages: this.#shown(this.#requestMessages(), setting.model),
        tools: [...setting.tools.values()].map(({ name, description, parameters }) => ({
          name,
          description,
          parameters,
        })),
        thinkingLevel,
        sessionId: this.#options.sessionId,
      },
    });
    if (this.#options.failures === "told" && result.kind !== "complete") {
      return await this.#onToldFailure(replyId, result);
    }
    if (result.kind === "failed") return await this.#onFailure(result.error);
    if (result.kind !== "complete") return await this.#onBroken(replyId, result);
    this.#repeatedAfterBreak = false;
    this.#failures = 0;
    const { message, reportedModel } = result;
    this.#usage = addUsage(this.#usage, message.usage);
    conversation.append(message, { id: replyId });
    await emit({ type: "reply_end", id: replyId, message, reportedModel });
    const calls = toolCallsOf(message);
    if (calls.length > 0) {
      await runTools(calls, {
        tools: setting.tools,
        conversation,
        hooks: this.#options.hooks,
        texts: this.#options.texts,
        exitCodeIsError: this.#options.exitCodeIsError,
        announceCalls: this.#options.announceCalls ?? "each",
        readsWhileAsked: this.#options.readsWhileAsked,
        watchOutput: this.#options.watchOutput,
        refusal: message.stopReason === "length" ? this.#options.texts.cutOffCall : undefined,
        signal,
        context: this.#options.toolContext,
        emit,
      });
      if (signal.aborted && this.#options.failures !== "told") {
        return { kind: "end", result: { outcome: "aborted" } };
      }
    }
    await emit({
      type: "step_end",
      step,
      message,
      reportedModel,
      durationMs: Math.max(1, Date.now() - startedAt),
    });
    if (calls.length > 0 && signal.aborted) {
      await this.#tellEmptyReply();
      return { kind: "end", result: { outcome: "aborted" } };
    }
    if (calls.length > 0) {
      this.#emptyAnswers = 0;
      this.#lengthCuts = 0;
      return { kind: "next" };
    }
    return await this.#onAnswer(message, reportedModel);
  }

  /** The messages with words in the place of images that the model cannot see, where the owner has words for that. */
  #shown(messages: readonly Message[], model: Model): readonly Message[] {
    const note = this.#options.texts.imageNote?.(model.id);
    if (note === undefined || model.info.input.includes("image")) return messages;
    return messages.map((message) => {
      if (message.role === "assistant") return message;
      if (message.content.every((block) => block.type !== "image")) return message;
      const content = message.content.map((block) =>
        block.type === "image" ? { type: "text" as const, text: note } : block
      );
      return { ...message, content };
    });
  }

  #requestMessages() {
    const messages = this.#options.conversation.requestMessages();
    const reminder = this.#reminder;
    this.#reminder = undefined;
    if (reminder === undefined) return messages;
    return [...messages, {
      role: "user" as const,
      content: [{ type: "text" as const, text: reminder }],
      timestamp: Date.now(),
    }];
  }

  async #onAnswer(message: AssistantMessage, model: string | undefined): Promise<NextStep> {
    const { lengthCut, emptyAnswer, emit } = this.#options;
    const answer = textOf(message);
    const result = { outcome: "answered", answer, model } as const;
    if (message.stopReason === "length" && lengthCut === "go_on") {
      if (++this.#lengthCuts < MAX_LENGTH_CUTS) return { kind: "next" };
      this.#lengthCuts = 0;
      await emit({ type: "soft_stop", text: STOPPED_LENGTH });
      await emit({
        type: "diagnostic",
        level: "warning",
        text: "Stopped after repeated output-token limits; ask the agent to continue.",
      });
      return { kind: "end", result };
    }
    this.#lengthCuts = 0;
    if (answer !== "" || emptyAnswer === "accept") {
      this.#emptyAnswers = 0;
      return { kind: "answered", result };
    }
    if (emptyAnswer === "fail") {
      return { kind: "end", result: { outcome: "failed", error: NO_ANSWER } };
    }
    if (++this.#emptyAnswers === 1) {
      await emit({
        type: "diagnostic",
        level: "warning",
        text: "The model returned no user-facing answer; asking it to finish…",
      });
      this.#reminder = EMPTY_ANSWER_REMINDER;
      return { kind: "next" };
    }
    this.#emptyAnswers = 0;
    await emit({ type: "soft_stop", text: STOPPED_EMPTY });
    return { kind: "answered", result };
  }

  /** A request that never gave a piece. */
  async #onFailure(error: ModelError): Promise<NextStep> {
    if (error.kind === "overflow" && !this.#madeRoom) {
      this.#madeRoom = true;
      if (await this.#options.hooks.makeRoom(this.#options.signal)) return { kind: "next" };
    }
    this.#options.signal.throwIfAborted();
    return { kind: "end", result: { outcome: "failed", error: error.message, cause: error } };
  }

  /** Stores and tells a reply that came to nothing, and makes the request again when the owner has a plan for that. */
  async #onToldFailure(
    id: string,
    result: Exclude<StepResult, { kind: "complete" }>,
  ): Promise<NextStep> {
    const { hooks, texts, signal } = this.#options;
    if (result.kind === "aborted") {
      await this.#tellBrokenReply(id, result.message, { again: false });
      return { kind: "end", result: { outcome: "aborted" } };
    }
    const error = texts.failedReply?.(result.error) ?? result.error.message;
    const message = { ...result.message, errorMessage: error };
    const failed = { kind: "end", result: { outcome: "failed", error } } as const;
    if (result.error.kind === "overflow") {
      const again = !this.#madeRoom && (hooks.mayMakeRoom?.() ?? true);
      this.#madeRoom = true;
      await this.#tellBrokenReply(id, message, { again });
      return again && await hooks.makeRoom(signal) ? { kind: "next" } : failed;
    }
    const attempt = ++this.#failures;
    const plan = hooks.planRetry?.(result.error, attempt);
    await this.#tellBrokenReply(id, message, { again: plan !== undefined });
    if (plan === undefined) return failed;
    return await this.#waitForRetry(id, { plan, attempt, error, kind: result.error.kind });
  }

  async #waitForRetry(
    id: string,
    { plan, attempt, error, kind }: {
      plan: RetryPlan;
      attempt: number;
      error: string;
      kind: string;
    },
  ): Promise<NextStep> {
    const { conversation, emit, signal } = this.#options;
    const { delayMs, limit } = plan;
    await emit({ type: "retry", attempt, limit, delayMs, error, kind });
    if (conversation.omit !== undefined) {
      await emit({ type: "reply_omitted", id, entry: conversation.omit(id) });
    }
    try {
      await pause(delayMs, AbortSignal.any([signal, plan.signal]));
      return { kind: "next" };
    } catch {
      if (signal.aborted) return { kind: "end", result: { outcome: "aborted" } };
      return { kind: "end", result: { outcome: "failed", error: "Retry cancelled" } };
    }
  }

  async #tellBrokenReply(
    id: string,
    message: AssistantMessage,
    { again }: { again: boolean },
  ): Promise<void> {
    const { conversation, emit, texts } = this.#options;
    const told = message.stopReason === "aborted" && texts.abortedReply !== undefined
      ? { ...message, errorMessage: texts.abortedReply }
      : message;
    conversation.append(told, { id });
    await emit({ type: "reply_broken", id, message: told, again });
  }

  /** For clients that are told everything, a turn that is stopped between two replies ends with an empty one. */
  async #tellEmptyReply(): Promise<void> {
    if (this.#options.failures !== "told") return;
    this.#owesReply = false;
    const { model, thinkingLevel } = this.#setting ?? await this.#options.setting();
    await this.#tellBrokenReply(this.#options.conversation.reserveId(), {
      role: "assistant",
      content: [],
      api: model.api,
      provider: model.provider,
      model: model.id,
      requestModel: model.id,
      stopReason: "aborted",
      timestamp: Date.now(),
      ...(thinkingLevel === undefined ? {} : { thinkingLevel }),
    }, { again: false });
  }

  /** A reply that broke off: its text stays in the conversation, marked as cut, and the step is tried once more. */
  async #onBroken(
    id: string,
    result: { kind: "broken"; message: AssistantMessage; error: ModelError } | {
      kind: "aborted";
      message: AssistantMessage;
    },
  ): Promise<NextStep> {
    const { conversation, emit } = this.#options;
    const { message } = result;
    const again = result.kind === "broken" && !this.#repeatedAfterBreak;
    if (isPartial(message) && message.content.length > 0) conversation.append(message, { id });
    await emit({ type: "reply_broken", id, message, again });
    if (result.kind === "aborted") return { kind: "end", result: { outcome: "aborted" } };
    if (!again) {
      const { error } = result;
      return { kind: "end", result: { outcome: "failed", error: error.message, cause: error } };
    }
    this.#repeatedAfterBreak = true;
    return { kind: "next" };
  }
}

type StepEnd =
  | { readonly outcome: "answered"; readonly answer: string; readonly model: string | undefined }
  | { readonly outcome: "aborted" }
  | { readonly outcome: "failed"; readonly error: string; readonly cause?: unknown };

/** What follows a step: another one (`next`), maybe another one, or the end. */
type NextStep =
  | { readonly kind: "next" }
  | { readonly kind: "answered"; readonly result: StepEnd }
  | { readonly kind: "end"; readonly result: StepEnd };
