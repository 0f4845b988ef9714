/** What the loop's owner asks of extensions. Knows no module: `src/extensions/` makes one object of all that are loaded. */

import type { ToolCall, ToolResultMessage } from "./message.ts";
import type { ModelRequest } from "./model.ts";

/** The conversation that a hook is called for. */
export interface ExtensionSession {
  readonly id: string;
  /** Real absolute path of the folder that the agent works in. */
  readonly workspace: string;
}

/** Never throws: a hook that fails or takes too long is one line on stderr, and the work goes on as if there were none. */
export interface ExtensionHooks {
  /** The text of a refusal, which the model reads, or `undefined`. */
  beforeCall(call: ToolCall, signal: AbortSignal): Promise<string | undefined>;
  /** The result, or what takes its place. */
  afterCall(call: ToolCall, result: ToolResultMessage): Promise<ToolResultMessage>;
  /** The request, or one with more text in it. Waits for the hooks at the start of its session. */
  beforeRequest(request: ModelRequest, signal: AbortSignal): Promise<ModelRequest>;
  /** Runs the hooks, once for each id. */
  sessionStart(session: ExtensionSession): Promise<void>;
  /** Runs the hooks once for a session that was started. */
  sessionEnd(session: ExtensionSession): Promise<void>;
}
