/**
 * Message: what the conversation is made of, in memory. Knows no file and no wire format; `session/entry.ts` maps it to the session
 * format, dialects to theirs.
 */

export type JsonValue = null | boolean | number | string | JsonValue[] | {
  [key: string]: JsonValue;
};
/** An object of JSON. */
export type JsonObject = { [key: string]: JsonValue };

/** Text. */
export interface TextBlock {
  /** Tells blocks apart. */
  readonly type: "text";
  /** As it was written. */
  text: string;
}

/** What a model thought before it answered. */
export interface ThinkingBlock {
  /** Tells blocks apart. */
  readonly type: "thinking";
  /** As the endpoint shows it. */
  thinking: string;
}

/** An image. */
export interface ImageBlock {
  /** Tells blocks apart. */
  readonly type: "image";
  /** Base64. */
  readonly data: string;
  /** Such as `image/png`. */
  readonly mimeType: string;
  /** Its name, for people. */
  readonly filename?: string;
  /** Of the decoded bytes, in hexadecimal; computed when somebody asks. */
  sha256?: string;
}

/** A call that the model wants made. */
export interface ToolCall {
  /** Tells blocks apart. */
  readonly type: "toolCall";
  /** Unique in the conversation; the result carries it too. */
  readonly id: string;
  /** Of the tool. */
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
  /** All of the reply, thinking included. */
  readonly outputTokens: number;
  /** Part of `inputTokens`. */
  readonly cacheReadTokens?: number;
  /** Part of `inputTokens`. */
  readonly cacheWriteTokens?: number;
  /** Part of `outputTokens`. */
  readonly reasoningTokens?: number;
}

/** US$ per million tokens. */
export interface Price {
  /** What no cache had. */
  readonly input: number;
  /** What was written. */
  readonly output: number;
  /** What a cache had. */
  readonly cacheRead?: number;
  /** What was put into a cache. */
  readonly cacheWrite?: number;
}

/** What one model call cost. Stored and sent as it is. */
export interface Receipt {
  /** The model that answered. */
  readonly model: string;
  /** `""` when no price is known. */
  readonly currency: "USD" | "";
  /** `null` when no price is known. */
  readonly amount: number | null;
  /** What was counted, by price. */
  readonly tokens: {
    readonly input_miss: number;
    readonly input_hit: number;
    readonly input_write: number;
    readonly input_write_1h: number;
    readonly output: number;
  };
  /** US$ per million tokens that were used for `amount`. */
  readonly rates: Readonly<Record<string, number>>;
  /** Name of the provider. */
  readonly provider: string;
}

/** What the model was told. */
export interface UserMessage {
  /** Tells messages apart. */
  readonly role: "user";
  /** In the order in which the model reads it. */
  readonly content: readonly (TextBlock | ImageBlock)[];
  /** Milliseconds since 1970, as everywhere. */
  readonly timestamp: number;
  /** The message as it was sent, when `content` has more. */
  readonly display?: string;
  /** Made by Weir, not by a person. */
  readonly internal?: "job_notice";
}

/** How a reply ended. */
export type StopReason = "stop" | "length" | "toolUse" | "error" | "aborted";

/** What a model replied. */
export interface AssistantMessage {
  /** Tells messages apart. */
  readonly role: "assistant";
  /** In the order in which it came. */
  readonly content: readonly (TextBlock | ThinkingBlock | ToolCall)[];
  /** `chat`, `responses` or `demo`. */
  readonly api: string;
  /** Name of the provider. */
  readonly provider: string;
  /** The model that answered. */
  readonly model: string;
  /** The model that was asked. */
  readonly requestModel: string;
  /** Absent when the endpoint reported nothing. */
  readonly usage?: Usage;
  /** Absent when no usage was reported. */
  readonly receipt?: Receipt;
  /** How it ended. */
  readonly stopReason: StopReason;
  /** When it began. */
  readonly timestamp: number;
  /** With `error`: one line about it. */
  readonly errorMessage?: string;
  /** The endpoint's own id. */
  readonly responseId?: string;
  /** The endpoint's own word for how it ended. */
  readonly rawStopReason?: string;
  /** How hard the model was asked to think. */
  readonly thinkingLevel?: string;
  /** From the request to the end. */
  readonly durationMs?: number;
}

/** What came of a call. */
export interface ToolResultMessage {
  /** Tells messages apart. */
  readonly role: "toolResult";
  /** Id of the call. */
  readonly toolCallId: string;
  /** Name that the call used. */
  readonly toolName: string;
  /** What the model reads. */
  readonly content: readonly (TextBlock | ImageBlock)[];
  /** Whether the call failed. */
  readonly isError: boolean;
  /** When it ended. */
  readonly timestamp: number;
  /** For clients, never for the model. */
  readonly details?: JsonObject;
  /** The call itself was malformed. */
  readonly recoverable?: boolean;
  /** How long the tool ran. */
  readonly durationMs?: number;
}

/** One message of a conversation. */
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
