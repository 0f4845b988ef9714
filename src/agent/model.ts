/**
 * Model: something that answers a conversation in pieces. Knows no file, no wire and no retry: a request either streams to its end
 * or throws a `ModelError`.
 */

import type { JsonObject, Message, Price, ToolCall, Usage } from "./message.ts";

/**
 * The levels of thinking, from none to most.
 *
 * @example
 * ```ts
 * import { THINKING_LEVELS } from "@weir/weir";
 *
 * if (!THINKING_LEVELS.includes("high")) throw new Error("there is a level high");
 * ```
 */
export const THINKING_LEVELS: readonly ["off", "minimal", "low", "medium", "high", "xhigh", "max"] =
  ["off", "minimal", "low", "medium", "high", "xhigh", "max"];
/** How hard a model thinks. */
export type ThinkingLevel = typeof THINKING_LEVELS[number];

/** A tool as a model is told about it. */
export interface ToolSpec {
  /** What calls name. */
  readonly name: string;
  /** What the model reads of it. */
  readonly description: string;
  /** JSON Schema of the arguments: an object without extra properties. */
  readonly parameters: JsonObject;
}

/** What a model is asked. */
export interface ModelRequest {
  /** Who the model is and where it works. */
  readonly systemPrompt: string;
  /** Every call has its result and every result its call. */
  readonly messages: readonly Message[];
  /** What the model may call. */
  readonly tools: readonly ToolSpec[];
  /** `undefined`: as the model likes. */
  readonly thinkingLevel: ThinkingLevel | undefined;
  /** The conversation, for endpoints that keep caches per key. */
  readonly sessionId: string;
}

/** `index` is the place of the block in the reply's content, counted from 0. Every block has one start and, unless the stream broke, one end. */
export type ModelEvent =
  | { readonly type: "text_start"; readonly index: number }
  | { readonly type: "text_delta"; readonly index: number; readonly delta: string }
  | { readonly type: "text_end"; readonly index: number; readonly text: string }
  | { readonly type: "thinking_start"; readonly index: number }
  | { readonly type: "thinking_delta"; readonly index: number; readonly delta: string }
  | { readonly type: "thinking_end"; readonly index: number; readonly text: string }
  | {
    readonly type: "tool_input_start";
    readonly index: number;
    readonly id: string;
    readonly name: string;
  }
  | { readonly type: "tool_input_delta"; readonly index: number; readonly delta: string }
  | { readonly type: "tool_input_end"; readonly index: number; readonly call: ToolCall };

/** How a reply ended. */
export interface ModelReplyEnd {
  /** `length`: it was cut by its limit. */
  readonly stopReason: "stop" | "length" | "toolUse";
  /** The endpoint's own word. */
  /** As the endpoint says it; `refusal` for a reply that the endpoint marks as one. */
  readonly rawStopReason: string | undefined;
  /** The model that the endpoint says answered; `undefined` when it does not say. */
  readonly model: string | undefined;
  /** The endpoint's own id of the reply. */
  readonly responseId: string | undefined;
  /** `undefined` when the endpoint does not count. */
  readonly usage: Usage | undefined;
}

/**
 * Called for each piece of a reply, in order. A returned promise asks the model to wait before it takes more from the endpoint;
 * `undefined` means go on, without a turn of the event loop.
 */
export type ModelSink = (event: ModelEvent) => Promise<void> | undefined;

/** What is known of a model; `undefined` where nothing is. */
export interface ModelInfo {
  /** Tokens of a request and its reply together. */
  readonly contextWindow: number | undefined;
  /** Tokens of a reply. */
  readonly maxOutputTokens: number | undefined;
  /** Whether it can think before it answers. */
  readonly reasoning: boolean | undefined;
  /** What messages may hold. */
  readonly input: readonly ("text" | "image")[];
  /** What its tokens cost. */
  readonly price: Price | undefined;
  /** Levels of thinking that it has beside the usual ones. */
  readonly thinkingLevels?: readonly ThinkingLevel[] | undefined;
}

/** What keeps a model from being asked: none is chosen, or its key is not known. */
export type ModelLack =
  | { readonly kind: "model" }
  | { readonly kind: "key"; readonly provider: string; readonly variable: string };

/** Something that answers a conversation in pieces. */
export interface Model {
  /** Name of the provider in the configuration. */
  readonly provider: string;
  /** As the endpoint knows it, without the provider. */
  readonly id: string;
  /** Which interface it is asked through. */
  readonly api: "chat" | "responses" | "demo";
  /** What is known of it. */
  readonly info: ModelInfo;
  /** Where it is asked; absent for one that needs no network. */
  readonly baseUrl?: string;
  /** Given by what stands in for a model that cannot be asked. */
  readonly lack?: ModelLack;
  /**
   * Asks for one reply and gives its pieces to `sink`. Throws `ModelError` when the endpoint fails, and `signal.reason` when aborted,
   * in both cases with nothing left running. Never retries.
   */
  reply(
    request: ModelRequest,
    options: { signal: AbortSignal; sink: ModelSink },
  ): Promise<ModelReplyEnd>;
  /** The ids that the endpoint lists, each once, in its order. Throws `ModelError` with the reasons joined by `, `. */
  listModels(options: { signal: AbortSignal }): Promise<string[]>;
}
