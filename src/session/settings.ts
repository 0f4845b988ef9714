/**
 * What the sessions of a process have in common: the machine, the folder, the model in use, what is allowed. One object, which commands
 * change.
 */

import type { ExtensionHooks } from "../agent/extension_hooks.ts";
import type { Model, ThinkingLevel } from "../agent/model.ts";
import type { Tool } from "../agent/tool.ts";
import type { Host } from "../host.ts";
import type { StoredEntry } from "./entry.ts";
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
}

export interface Settings {
  readonly host: Host;
  readonly policy: SessionPolicy;
  /** Real absolute path of the folder that the agent works in. */
  readonly workspace: string;
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
  readonly approvals: ApprovalMode;
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
