/**
 * What a scripted model says, in a form that both OpenAI APIs can carry. It knows neither wire
 * format; `_chat_reply.ts` and `_responses_reply.ts` do.
 */

/** Tokens as an OpenAI endpoint counts them: `input` includes `cacheRead` and `cacheWrite`. */
export interface ReplyUsage {
  input: number;
  output: number;
  /** Default 0; `null` (Chat Completions) reports nothing about a cache. */
  cacheRead?: number | null;
  cacheWrite?: number;
  reasoning?: number;
}

/** One call of a tool; `args` as a string is sent as it is, valid JSON or not. */
export interface ReplyToolCall {
  /** Default: an id that is unique in the server. */
  id?: string;
  name: string;
  args: Record<string, unknown> | string;
}

/** Holds the stream after `after` pieces until `gate` settles. */
export interface PieceGate {
  after: number;
  gate: Promise<unknown>;
}

/**
 * One scripted answer. A piece is one streamed delta: of thinking, of text, a fragment of a call's
 * arguments (in that order), or one chunk of `raw`.
 */
export interface Reply {
  /** A string is one piece. */
  text?: string | readonly string[];
  /** Repeats `text` (then a string) this many times, generated while it is sent. */
  pieces?: number;
  thinking?: string | readonly string[];
  toolCalls?: readonly ReplyToolCall[];
  /** Default `{ input: 10, output: 5 }`; `null` reports none. */
  usage?: ReplyUsage | null;
  /**
   * The finish reason; default `stop`, or `tool_calls` with calls. In the Responses API `length` and
   * `content_filter` end with `response.incomplete`, everything else with `response.completed`.
   */
  finish?: string | null;
  /** The model that claims to have answered; default: the requested one. */
  model?: string;

  /** Answers with this HTTP status and `body` instead of a reply. */
  status?: number;
  /** With `status`: an object is sent as JSON, a string as HTML or plain text. */
  body?: unknown;
  /** More response headers, for every kind of answer. */
  headers?: Record<string, string>;

  /** Waited for before the answer begins. */
  gate?: Promise<unknown>;
  /** Milliseconds before the answer begins. */
  delayMs?: number;
  /** Milliseconds before each piece. */
  pieceDelayMs?: number;
  pieceGate?: PieceGate | readonly PieceGate[];
  /** Sends this many pieces, then nothing more until the client goes. */
  stallAfter?: number;
  /** Sends this many pieces, then destroys the connection. */
  cutAfter?: number;
  /** Destroys the connection without any answer. */
  drop?: boolean;
  /** The exact bytes of the body, chunk by chunk, with status 200. */
  raw?: string | Uint8Array | readonly (string | Uint8Array)[];
  /** Sent as an error inside the stream after the pieces; the stream then ends. */
  errorInStream?: Record<string, unknown>;
  /** Responses API: which event carries `errorInStream`; default `error`. */
  errorEvent?: "error" | "response.failed";

  /**
   * Chat Completions: where usage goes. Default: a last chunk without choices, if the request asked
   * for usage. In the Responses API only `none` has a meaning.
   */
  usageIn?: "last-chunk-without-choices" | "last-choice" | "none";
  /** Chat Completions: which field carries thinking; default `reasoning_content`. */
  thinkingField?: "reasoning_content" | "reasoning";
  /** Chat Completions: begins with a chunk whose `choices` is empty. */
  emptyChoicesFirst?: boolean;
  /** Chat Completions: `content: null` wherever a delta has no text. */
  nullContent?: boolean;
  /** Sends the end (finish reason, or the last event) twice. */
  finishTwice?: boolean;
  /** The stream just ends: no finish reason, no usage, no `[DONE]`, no last event. */
  noFinish?: boolean;
  /** Chat Completions: the call's id in each of its fragments, not only in the first. */
  toolIdRepeated?: boolean;
  /** Fragments of several calls alternate, and the last call begins. */
  toolFragmentsInterleaved?: boolean;
  /** Lines of the event stream end with CRLF. */
  crlf?: boolean;
  /** A comment line before each event. */
  comments?: boolean;
  /** Body chunks end inside every character that has several bytes. */
  splitUtf8?: boolean;
}

/** One event of a reply's stream, before it becomes bytes. */
export interface ReplyFrame {
  /** The name on the `event:` line; none in Chat Completions. */
  event?: string;
  /** A string is the text of the `data:` line; bytes are sent as they are. */
  data: object | string | Uint8Array;
  /** Whether this frame counts as a piece. */
  piece: boolean;
}

/** What the renderers need to know besides the reply. */
export interface ReplyContext {
  /** The model that the client asked for. */
  model: string;
  /** Whether a Chat Completions client asked for usage in the stream. */
  includeUsage: boolean;
  /** Unique in the server; ids are made from it. */
  serial: number;
}

/** The reply's usage with the default filled in; `null` reports none. */
export function replyUsage(reply: Reply): ReplyUsage | null {
  if (reply.usageIn === "none") return null;
  return reply.usage === undefined ? { input: 10, output: 5 } : reply.usage;
}

/** The streamed pieces of a text, lazily when `pieces` repeats it. */
export function* textPieces(
  text: string | readonly string[] | undefined,
  pieces = 1,
): Generator<string> {
  if (typeof text !== "string") return yield* text ?? [];
  for (let n = 0; n < pieces; n++) yield text;
}

/** The whole text of the reply. */
export function wholeText(text: string | readonly string[] | undefined, pieces = 1): string {
  return typeof text === "string" ? text.repeat(pieces) : (text ?? []).join("");
}

/** A call with its id and the argument text cut into fragments, never inside a character. */
export interface PreparedCall {
  id: string;
  name: string;
  args: string;
  fragments: string[];
}

/** Gives each call its id and its fragments (at least two when the text allows it). */
export function prepareCalls(reply: Reply, context: ReplyContext): PreparedCall[] {
  return (reply.toolCalls ?? []).map((call, index) => {
    const args = typeof call.args === "string" ? call.args : JSON.stringify(call.args);
    const id = call.id ?? `call_${context.serial}_${index}`;
    return { id, name: call.name, args, fragments: splitText(args) };
  });
}

/** All fragments in the order they are sent, as `[index of the call, fragment]`. */
export function* orderFragments(
  calls: readonly PreparedCall[],
  interleaved: boolean,
): Generator<[number, string]> {
  if (!interleaved) {
    for (const [index, call] of calls.entries()) {
      for (const fragment of call.fragments) yield [index, fragment];
    }
    return;
  }
  const rounds = Math.max(0, ...calls.map((call) => call.fragments.length));
  for (let round = 0; round < rounds; round++) {
    for (let index = calls.length - 1; index >= 0; index--) {
      const fragment = calls[index].fragments[round];
      if (fragment !== undefined) yield [index, fragment];
    }
  }
}

function splitText(text: string): string[] {
  const size = Math.min(Math.max(Math.ceil(text.length / 4), 1), 65_536);
  const parts: string[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + size, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last < 0xdc00) end++;
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts.length > 0 ? parts : [""];
}
