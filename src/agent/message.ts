/**
 * Message: what the conversation is made of, in memory. Knows no file and no wire format; `session/entry.ts` maps it to the session
 * format, dialects to theirs.
 */

export type JsonValue = null | boolean | number | string | JsonValue[] | {
  [key: string]: JsonValue;
};
export type JsonObject = { [key: string]: JsonValue };

export interface TextBlock {
  readonly type: "text";
  text: string;
}

export interface ThinkingBlock {
  readonly type: "thinking";
  thinking: string;
}

export interface ImageBlock {
  readonly type: "image";
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
  readonly filename?: string;
  /** Of the decoded bytes, in hexadecimal; computed when somebody asks. */
  sha256?: string;
}

/** A call that the model wants made. */
export interface ToolCall {
  readonly type: "toolCall";
  readonly id: string;
  readonly name: string;
  /** `{}` when the model's text was not a JSON object. */
  readonly arguments: JsonObject;
  /** The text as received, only when it was not a JSON object. */
  readonly rawArguments?: string;
  /** Why `rawArguments` could not be used. */
  readonly argumentsError?: string;
}

/** Tokens of one model call as the endpoint counted them; an absent key was not reported. */
export interface Usage {
  /** All of the request, what came from the cache included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  /** Part of `outputTokens`. */
  readonly reasoningTokens?: number;
}

/** US$ per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/** What one model call cost. Stored and sent as it is. */
export interface Receipt {
  readonly model: string;
  /** `""` when no price is known. */
  readonly currency: "USD" | "";
  readonly amount: number | null;
  readonly tokens: {
    readonly input_miss: number;
    readonly input_hit: number;
    readonly input_write: number;
    readonly input_write_1h: number;
    readonly output: number;
  };
  readonly rates: Readonly<Record<string, number>>;
  readonly provider: string;
}

export interface UserMessage {
  readonly role: "user";
  readonly content: readonly (TextBlock | ImageBlock)[];
  /** Milliseconds since 1970, as everywhere. */
  readonly timestamp: number;
  /** The message as it was sent, when `content` has more. */
  readonly display?: string;
  /** Made by Weir, not by a person. */
  readonly internal?: "job_notice";
  /** The message as the session format has it, where it has a role of its own there; `content` is what the model reads. */
  readonly foreign?: JsonObject;
  /** Not sent to the model. */
  readonly isPrivate?: boolean;
}

export type StopReason = "stop" | "length" | "toolUse" | "error" | "aborted";

export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: readonly (TextBlock | ThinkingBlock | ToolCall)[];
  /** `chat`, `responses` or `demo`. */
  readonly api: string;
  readonly provider: string;
  /** The model that answered. */
  readonly model: string;
  /** The model that was asked. */
  readonly requestModel: string;
  /** Absent when the endpoint reported nothing. */
  readonly usage?: Usage;
  readonly receipt?: Receipt;
  readonly stopReason: StopReason;
  readonly timestamp: number;
  readonly errorMessage?: string;
  readonly responseId?: string;
  readonly rawStopReason?: string;
  readonly thinkingLevel?: string;
  readonly durationMs?: number;
}

export interface ToolResultMessage {
  readonly role: "toolResult";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: readonly (TextBlock | ImageBlock)[];
  readonly isError: boolean;
  readonly timestamp: number;
  readonly details?: JsonObject;
  /** The call itself was malformed. */
  readonly recoverable?: boolean;
  readonly durationMs?: number;
}

export type Message = UserMessage | AssistantMessage | ToolResultMessage;

/** The text blocks joined. */
export function textOf(message: Message): string {
  let text = "";
  for (const block of message.content) if (block.type === "text") text += block.text;
  return text;
}

/** The calls of a reply, in order. */
export function toolCallsOf(message: AssistantMessage): ToolCall[] {
  return message.content.filter((block) => block.type === "toolCall");
}

/** Whether a reply was given up in the middle; such a reply is kept but never sent to the model. */
export function isPartial(message: AssistantMessage): boolean {
  return message.stopReason === "error" || message.stopReason === "aborted";
}
