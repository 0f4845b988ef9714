/**
 * What the sessions of a process have in common: the machine, the folder, the model in use, what is allowed. One object, which commands
 * change.
 */

import type { ExtensionHooks } from "../agent/extension_hooks.ts";
import type { Model, ThinkingLevel } from "../agent/model.ts";
import type { Tool } from "../agent/tool.ts";
import type { Host } from "../host.ts";
import type { SwitchName } from "./command.ts";
import type { ClientHelp } from "./client_help.ts";
import type { StoredEntry } from "./entry.ts";
import type { SessionStore } from "./find_session.ts";
import type { Journal } from "./journal.ts";
import type { ApprovalMode, DeliveryMode, SessionPolicy } from "./policy.ts";

/** Which tools the main agent is offered. Names are the tools' own, not aliases. */
export interface ToolChoice {
  /** Only these; `undefined` for all. */
  readonly only: readonly string[] | undefined;
  readonly exclude: readonly string[];
}

export interface PromptChoice {
  /** Takes the place of the built-in system prompt. */
  readonly system: string | undefined;
  /** Added at its end. */
  readonly append: readonly string[];
  /** Whether `AGENTS.md` and its like are read. */
  readonly contextFiles: boolean;
}

/** A journal with what was in it. */
export interface OpenedSession {
  readonly journal: Journal;
  readonly entries: readonly StoredEntry[];
  /** In file order, with the branches that were left; the same as `entries` when absent. */
  readonly allEntries?: readonly StoredEntry[];
}

/** When and how often failed requests are made again. */
export interface RetrySettings {
  readonly maxRetries: number;
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
}

/** Tokens that are left free in the window, and tokens of the newest messages that a compaction keeps. */
export interface CompactionSettings {
  readonly reserveTokens: number;
  readonly keepRecentTokens: number;
}

/** What holds where no configuration says otherwise. */
export const USUAL_SETTINGS: Pick<
  Settings,
  "autoCompaction" | "autoRetry" | "retry" | "compaction" | "askTimeoutSeconds" | "modelScope"
> = {
  autoCompaction: true,
  autoRetry: true,
  retry: { maxRetries: 3, baseDelayMs: 2000, maxDelayMs: 60_000 },
  compaction: { reserveTokens: 16_384, keepRecentTokens: 20_000 },
  askTimeoutSeconds: 600,
  modelScope: undefined,
};

/** What a conversation records of them. */
export function settingOf(
  settings: Settings,
): { provider: string; model: string; thinkingLevel: string } {
  const { model, thinkingLevel } = settings;
  return { provider: model.provider, model: model.id, thinkingLevel: thinkingLevel ?? "off" };
}

export interface Settings {
  readonly host: Host;
  readonly policy: SessionPolicy;
  /** Real absolute path of the folder that the agent works in; that of the session where sessions have one of their own. */
  workspace: string;
  /** Absolute path of Weir's own folder. */
  readonly home: string;
  readonly tools: ToolChoice;
  /** Tools of MCP servers and extensions. */
  readonly moreTools: readonly Tool[];
  /** Absent without extensions. */
  readonly extensions?: ExtensionHooks;
  /** Stops the servers that `moreTools` come from; nothing of them runs when it resolves. Safe to call twice. */
  stopServers?(): Promise<void>;
  readonly prompt: PromptChoice;
  /** Asked for each call. */
  approvals: ApprovalMode;
  /** Model requests that one turn may make; `undefined` for no limit. */
  readonly maxTurnRequests?: number | undefined;
  /** What the client itself does for this session; absent where it only watches. */
  client?: ClientHelp | undefined;
  /** Patterns of file names with secrets, added to the built-in ones. */
  readonly credentialPatterns: readonly string[];
  /** Whether a path, as given or resolved, names a file with secrets that no tool may open. */
  isCredentialFile(path: string): boolean;
  /** Environment variables that child processes may have although they look like secrets. */
  readonly allowedVariables: readonly string[];
  /** Environment variables that hold the providers' keys. */
  readonly secretVariables: readonly string[];
  /** Takes keys and what looks like one out of a text. */
  redact(text: string): string;
  /** Asked when a request is made; throws `ModelError` with what to do when there is no usable one. */
  model: Model;
  thinkingLevel: ThinkingLevel | undefined;
  steeringMode: DeliveryMode;
  followUpMode: DeliveryMode;
  autoCompaction: boolean;
  autoRetry: boolean;
  readonly retry: RetrySettings;
  readonly compaction: CompactionSettings;
  /** Seconds that a question to the client stays open; 0: without end. */
  readonly askTimeoutSeconds: number;
  /** What the command line says that a session's own records do not change. */
  readonly fixed: { readonly model: boolean; readonly thinking: boolean };
  /** Names of the models that a client may go through; `undefined`: all. */
  readonly modelScope: readonly string[] | undefined;
  /** Where sessions are stored. */
  readonly store: SessionStore;
  /** Whether sessions are kept in memory only. */
  readonly isTemporary: boolean;
  /** The models of the configuration whose provider has a key, and the one in use when it is the built-in one. */
  configuredModels(): readonly Model[];
  /** Writes a switch to the configuration. Throws `StartError` when it cannot be written. */
  saveSwitch(name: SwitchName, enabled: boolean): Promise<void>;
  /** Finds the model that a client names. Throws `RequestError`. */
  resolveModel(name: string, current: Model): Promise<Model>;
  /** Writes a delivery mode to the configuration. */
  saveDeliveryMode(queue: "steer" | "follow_up", mode: DeliveryMode): Promise<void>;
  /** A new, empty session in the same place as the first one. */
  openSession(): Promise<OpenedSession>;
  /** A private folder for logs of this process, made on first use. */
  outputFolder(): Promise<string>;
  /** Removes the folder for logs when it was a temporary one. */
  removeOutput(): Promise<void>;
}
