/**
 * One step's model request: from the conversation to a complete reply, with retries. Stores nothing; `run_turn.ts` does.
 */

import { ModelError } from "../errors.ts";
import type { AgentEvent } from "./agent_event.ts";
import type { AssistantMessage } from "./message.ts";
import type { Model, ModelReplyEnd, ModelRequest } from "./model.ts";
import { createReceipt } from "./receipt.ts";
import { ReplyBuilder } from "./reply_builder.ts";
import { pause, retryDelayMs, retryLimit } from "./retry.ts";

export interface StepOptions {
  readonly model: Model;
  readonly request: ModelRequest;
  /** The id that the reply will be stored under. */
  readonly replyId: string;
  readonly signal: AbortSignal;
  emit(event: AgentEvent): Promise<void> | undefined;
}

/** How a request ended. `broken`: after its first piece; `message` holds what came. */
export type StepResult =
  | {
    readonly kind: "complete";
    readonly message: AssistantMessage;
    /** The model that the endpoint says answered; `undefined` when it does not say. */
    readonly reportedModel: string | undefined;
  }
  | { readonly kind: "broken"; readonly message: AssistantMessage; readonly error: ModelError }
  | { readonly kind: "failed"; readonly error: ModelError }
  | { readonly kind: "aborted"; readonly message: AssistantMessage };

/** Makes the request until it answers, breaks off or fails for good. Throws only what is a fault of ours. */
export async function runStep(options: StepOptions): Promise<StepResult> {
  for (let attempt = 1;; attempt++) {
    const result = await tryOnce(options);
    if (result.kind !== "failed") return result;
    const limit = retryLimit(result.error);
    if (attempt > limit) return result;
    const { message, kind } = result.error;
    const delayMs = retryDelayMs(result.error, { attempt, random: Math.random() });
    await options.emit({ type: "retry", attempt, limit, delayMs, error: message, kind });
    try {
      await pause(delayMs, options.signal);
    } catch {
      return {
        kind: "aborted",
        message: createReply(options, new ReplyBuilder(), { stopReason: "aborted" }),
      };
    }
  }
}

async function tryOnce(options: StepOptions): Promise<StepResult> {
  const { model, request, signal } = options;
  const reply = new ReplyBuilder();
  const startedAt = Date.now();
  try {
    const end = await model.reply(request, {
      signal,
      sink: (event) => {
        if (!reply.begun) options.emit({ type: "reply_start", id: options.replyId });
        reply.add(event);
        return options.emit(event);
      },
    });
    // A reply without any piece is still a reply, and clients see its start.
    if (!reply.begun) options.emit({ type: "reply_start", id: options.replyId });
    const message = createReply(options, reply, { end, startedAt });
    return { kind: "complete", message, reportedModel: end.model };
  } catch (error) {
    if (signal.aborted) {
      return { kind: "aborted", message: createReply(options, reply, { stopReason: "aborted" }) };
    }
    if (!(error instanceof ModelError)) throw error;
    if (!reply.begun) return { kind: "failed", error };
    const message = createReply(options, reply, {
      stopReason: "error",
      errorMessage: error.message,
    });
    return { kind: "broken", message, error };
  }
}

type ReplyEnd =
  | { end: ModelReplyEnd; startedAt: number }
  | { stopReason: "aborted" | "error"; errorMessage?: string };

function createReply(
  options: StepOptions,
  reply: ReplyBuilder,
  ending: ReplyEnd,
): AssistantMessage {
  const { model, request } = options;
  const common = {
    role: "assistant",
    api: model.api,
    provider: model.provider,
    requestModel: model.id,
    timestamp: Date.now(),
    ...(request.thinkingLevel === undefined ? {} : { thinkingLevel: request.thinkingLevel }),
  } as const;
  if (!("end" in ending)) {
    return { ...common, ...ending, content: reply.partial(), model: model.id };
  }
  const { end, startedAt } = ending;
  const answering = end.model ?? model.id;
  return {
    ...common,
    content: reply.complete(),
    model: answering,
    stopReason: end.stopReason,
    durationMs: Math.max(1, Date.now() - startedAt),
    ...(end.rawStopReason === undefined ? {} : { rawStopReason: end.rawStopReason }),
    ...(end.responseId === undefined ? {} : { responseId: end.responseId }),
    ...(end.usage === undefined ? {} : {
      usage: end.usage,
      receipt: createReceipt({
        usage: end.usage,
        model: model.id,
        provider: model.provider,
        price: model.info.price,
      }),
    }),
  };
}
