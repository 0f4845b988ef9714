/**
 * What an extension is and what it can do: the contract with modules that are not part of Weir. Types only.
 *
 * An extension is a module whose default export is a function; it is called once, before the first command is read, and what it has
 * registered when it returns (or when its promise resolves) is what it does.
 */

/** The default export of an extension. A throw or a rejection leaves the extension out, with one line on stderr. */
export type Extension = (weir: ExtensionApi) => void | Promise<void>;

/** What an extension can ask for while its function runs; later calls of everything but `log` throw. */
export interface ExtensionApi {
  /** Version of Weir. */
  readonly version: string;
  /** Absolute path of the folder that the agent works in. */
  readonly workspace: string;
  /**
   * Offers a tool to the model. Calls of it ask for approval like every tool that may change something. Throws when the name is taken
   * or is not one (letters, digits, `_` and `-`, at most 64).
   */
  addTool(tool: ExtensionTool): void;
  /** Looks at calls of all tools, of Weir's own, of MCP servers and of extensions, subagents' calls included. */
  onToolCall(hook: ToolCallHook): void;
  /** Called before each request to the model, each new try of one included; what it returns is added to that request only. */
  onModelRequest(hook: (request: RequestView) => MaybePromise<RequestAddition | undefined>): void;
  /** Called when a conversation is opened; its first turn waits for it. */
  onSessionStart(hook: (session: SessionView) => MaybePromise<void>): void;
  /** Called when a conversation is closed, at the latest when the program ends. */
  onSessionEnd(hook: (session: SessionView) => MaybePromise<void>): void;
  /** Writes one line to stderr, with the extension's name before it. */
  log(text: string): void;
}

/** What may be given at once or later. */
export type MaybePromise<T> = T | Promise<T>;

/** JSON as it is passed to and from extensions. */
export type JsonRecord = { readonly [key: string]: unknown };

/** A tool as an extension offers it. */
export interface ExtensionTool {
  /** Letters, digits, `_` and `-`, at most 64; not one that is taken. */
  readonly name: string;
  /** What the model is told about it. */
  readonly description: string;
  /** JSON Schema of an object; without it the tool takes no arguments. Arguments are checked against it before `run` is called. */
  readonly parameters?: JsonRecord;
  /** Runs a call. A throw is an error result with the error's message. Has to end soon after `signal` aborts. */
  run(args: JsonRecord, context: ToolRunContext): MaybePromise<string | ToolAnswer>;
}

/** What a tool may use while it runs. */
export interface ToolRunContext {
  /** Id of the call. */
  readonly callId: string;
  /** Absolute path of the folder that the agent works in. */
  readonly workspace: string;
  /** Aborted when the turn is stopped. */
  readonly signal: AbortSignal;
}

/** What came of a call. */
export interface ToolAnswer {
  /** What the model reads. */
  readonly text: string;
  /** Whether the call failed. */
  readonly isError?: boolean;
}

/** What looks at calls. */
export interface ToolCallHook {
  /** Called before a call is decided about; a text refuses the call, and the model reads it. */
  before?(call: CallView): MaybePromise<string | undefined>;
  /** Called with what the model would read, also when the call was not run; an answer takes its place. */
  after?(call: CallView, result: ResultView): MaybePromise<ToolAnswer | undefined>;
}

/** A call as hooks see it: a copy. */
export interface CallView {
  /** Id of the call. */
  readonly id: string;
  /** Name of the tool. */
  readonly tool: string;
  /** As the model gave them. */
  readonly arguments: JsonRecord;
}

/** A result as hooks see it: a copy. */
export interface ResultView {
  /** The text blocks of the result joined. */
  readonly text: string;
  /** Whether the call failed. */
  readonly isError: boolean;
}

/** A request as hooks see it: a copy. */
export interface RequestView {
  /** Id of the conversation. */
  readonly sessionId: string;
  /** Who the model is and where it works. */
  readonly systemPrompt: string;
  /** The text of each message, oldest first. */
  readonly messages: readonly { readonly role: string; readonly text: string }[];
}

/** What is added to one request. */
export interface RequestAddition {
  /** Added to the end of the system prompt. */
  readonly systemPrompt?: string;
  /** Added behind the messages as one of the user. */
  readonly message?: string;
}

/** Which conversation it is. */
export interface SessionView {
  /** Id of the conversation. */
  readonly id: string;
  /** Absolute path of the folder that the agent works in. */
  readonly workspace: string;
}
