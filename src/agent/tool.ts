/**
 * Tool: something the model can have done. Knows the host, but no session, approval or wire.
 */

import type { Host } from "../host.ts";
import type { ImageBlock, JsonObject, TextBlock } from "./message.ts";
import type { ToolSpec } from "./model.ts";

/** What a tool may use while it runs. */
export interface ToolContext {
  /** The machine that the tool works on. */
  readonly host: Host;
  /** Real absolute path of the folder that the agent works in. */
  readonly workspace: string;
  /** Id of the call. */
  readonly callId: string;
  /** Aborted when the turn is stopped: the tool ends within a second and leaves nothing running. */
  readonly signal: AbortSignal;
  /** Tells what a command writes, as it comes. A returned promise asks to wait before reading more. */
  onOutput(delta: string): Promise<void> | undefined;
  /** Whether a path (as given, or resolved) names a file with secrets that no tool may open. */
  isCredentialFile(path: string): boolean;
  /** A private folder for logs, made on first use. */
  outputFolder(): Promise<string>;
  /** Names of environment variables that child processes may have although they look like secrets. */
  readonly allowedVariables: readonly string[];
  /** Names of environment variables that hold the providers' keys. */
  readonly secretVariables: readonly string[];
  /** Takes the place of the usual words for how a command ended. */
  readonly describeCommand?: (end: CommandReportEnd, output: CommandOutput) => CommandReport;
  /** Absent where nothing can run in the background. */
  readonly jobs?: ToolJobs;
}

/** What a call has produced so far. */
export interface ToolSnapshot {
  /** Everything so far, or the end of it. */
  readonly content: readonly TextBlock[];
  /** `truncated` when something is left out. */
  readonly details?: JsonObject;
}

/** How the result of a command reads. */
export interface CommandReport {
  /** What the model reads. */
  readonly text: string;
  /** Whether it counts as a failure. */
  readonly isError: boolean;
}

/** How a command in the foreground ended, for those who describe it. */
export type CommandReportEnd =
  | CommandEnd
  | { readonly kind: "timeout"; readonly code: number; readonly timeoutMs: number };

/** How a command ended. `code` is its exit code, 128 + number after a signal. */
export type CommandEnd =
  /** `leftRunning`: the command itself ended, something that it started did not. `signal`: what ended it, if one did. */
  | {
    readonly kind: "exited";
    readonly code: number;
    readonly leftRunning: boolean;
    readonly signal?: string;
  }
  | { readonly kind: "output limit"; readonly code: number }
  /** Its output could not be kept; `problem` says why. */
  | { readonly kind: "output unavailable"; readonly problem: string; readonly code: number };

/** What a command has written so far. */
export interface CommandOutput {
  /** All of it, or its last lines. */
  readonly text: string;
  /** Whether `text` is not all of it. */
  readonly truncated: boolean;
  /** The file that has everything; `undefined` as long as there is none. */
  readonly logPath: string | undefined;
  /** Of all that was written. */
  readonly totalBytes: number;
}

/** A shell command that runs. Disposing stops it. */
export interface RunningCommand extends AsyncDisposable {
  /** As it was given to the shell. */
  readonly command: string;
  /** Once the command itself has ended and its output is read. Never rejects. */
  readonly ended: Promise<CommandEnd>;
  /** What it has written up to now. */
  snapshot(): CommandOutput;
  /** Makes the file that gets everything it writes, from the first byte on, and gives its path. Throws `HostError`. */
  openLog(): Promise<string>;
  /** Resolves when nothing of it runs any more. Throws `signal.reason`. */
  waitForTree(options: { signal: AbortSignal }): Promise<void>;
  /** SIGTERM to everything it started, then SIGKILL; resolves when nothing of it runs. */
  stop(options: { graceMs: number }): Promise<void>;
}

/** Where commands go on that outlive their call. */
export interface ToolJobs {
  /** Why no command may be started in the background now. */
  refusal(): string | undefined;
  /**
   * Takes a command over, which the job then owns, and gives the line that tells of it. `shell` was started in or moved to the
   * background; `adopted` has ended itself but not what it started.
   */
  add(
    command: RunningCommand,
    options: { kind: "shell" | "adopted"; timeoutMs: number | undefined },
  ): Promise<string>;
  /** Tells of a foreground command until disposed; `moveToBackground` makes its call end and come to `add`. */
  foreground(command: RunningCommand, options: { moveToBackground: () => void }): Disposable;
  /** Resolves when the next job of this conversation ends; throws `signal.reason`. */
  nextEnd(options: { signal: AbortSignal }): Promise<void>;
}

/** What came of a call. A failure is a result too: the model reads it. */
export interface ToolOutcome {
  /** What the model reads. */
  readonly content: readonly (TextBlock | ImageBlock)[];
  /** Whether the call failed. */
  readonly isError: boolean;
  /** For clients, never for the model; `exitCode` of a command, `diff` of an edit. */
  readonly details?: JsonObject;
}

/** Arguments that passed the schema, or what is wrong with them (`path: expected a string`). */
export type ParsedArguments<Arguments> =
  | { readonly ok: true; readonly value: Arguments }
  | { readonly ok: false; readonly problem: string };

/** Something the model can have done. What it gives the model is in the `ToolSpec`. */
export interface Tool<Arguments = unknown> extends ToolSpec {
  /**
   * Neighbouring calls of one reply with the same group run in parallel: `read` for tools that only read, `task` for subagents.
   * Without a group a call runs alone.
   */
  readonly group?: "read" | "task";
  /** Checks arguments against `parameters`. Never throws. */
  parse(args: JsonObject): ParsedArguments<Arguments>;
  /** Runs the call. Throws only `signal.reason`; any other failure is an outcome with `isError`. */
  run(args: Arguments, context: ToolContext): Promise<ToolOutcome>;
}

/**
 * A result of one text.
 *
 * @example A tool of one's own, and a model of one's own that calls it
 * ```ts
 * import { createDemoModel, createSession, type Model, textOutcome, type Tool } from "@weir/weir";
 *
 * const shelf: Tool<{ topic: string }> = {
 *   name: "find_book",
 *   description: "Finds a book on the shelf.",
 *   parameters: {
 *     type: "object",
 *     properties: { topic: { type: "string" } },
 *     required: ["topic"],
 *     additionalProperties: false,
 *   },
 *   parse: ({ topic }) =>
 *     typeof topic === "string"
 *       ? { ok: true, value: { topic } }
 *       : { ok: false, problem: "topic: expected a string" },
 *   run: ({ topic }) => Promise.resolve(textOutcome(`The big book of ${topic}`)),
 * };
 * const model: Model = {
 *   ...createDemoModel(),
 *   async reply({ messages }, { sink }) {
 *     const end = { rawStopReason: undefined, model: undefined, responseId: undefined, usage: undefined };
 *     const last = messages.at(-1);
 *     if (last?.role !== "toolResult") {
 *       const [id, name] = ["call_1", shelf.name];
 *       await sink({ type: "tool_input_start", index: 0, id, name });
 *       const call = { type: "toolCall", id, name, arguments: { topic: "kettles" } } as const;
 *       await sink({ type: "tool_input_end", index: 0, call });
 *       return { ...end, stopReason: "toolUse" };
 *     }
 *     const text = last.content.map((block) => block.type === "text" ? block.text : "").join("");
 *     await sink({ type: "text_start", index: 0 });
 *     await sink({ type: "text_delta", index: 0, delta: text });
 *     await sink({ type: "text_end", index: 0, text });
 *     return { ...end, stopReason: "stop" };
 *   },
 * };
 * // A tool that Weir does not know asks before it runs; here nobody has to be asked.
 * await using session = await createSession({ model, tools: [shelf], approvals: "allow" });
 * const end = await session.prompt("What can I read about kettles?");
 * if (end.outcome !== "answered" || end.answer !== "The big book of kettles") {
 *   throw new Error(JSON.stringify(end));
 * }
 * ```
 */
export function textOutcome(text: string, options?: { details?: JsonObject }): ToolOutcome {
  return { content: [{ type: "text", text }], isError: false, ...options };
}

/**
 * A failure that the model reads.
 *
 * @example
 * ```ts
 * import { errorOutcome } from "@weir/weir";
 *
 * const outcome = errorOutcome("No such shelf", { details: { shelf: "none" } });
 * if (!outcome.isError) throw new Error("a failure is marked as one");
 * ```
 */
export function errorOutcome(text: string, options?: { details?: JsonObject }): ToolOutcome {
  return { content: [{ type: "text", text }], isError: true, ...options };
}
