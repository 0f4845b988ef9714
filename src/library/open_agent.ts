/**
 * From the options of a program that uses Weir as a library to the settings and the conversation of a hub. Reads no configuration, no
 * command line and no environment: what is not in the options is not there.
 */

import { createCredentialCheck } from "../session/approvals/credential_files.ts";
import { redact } from "../agent/redact.ts";
import type { Model, ThinkingLevel } from "../agent/model.ts";
import type { Tool } from "../agent/tool.ts";
import { BUILT_IN_TOOL_NAMES, isToolName } from "../agent/tool_name.ts";
import { RequestError, StartError } from "../errors.ts";
import type { Host } from "../host.ts";
import { createMemoryHost } from "../memory/memory_host.ts";
import { openConversation } from "../session/open_session.ts";
import type { SessionPolicy } from "../session/policy.ts";
import { type OpenedSession, type Settings, USUAL_SETTINGS } from "../session/settings.ts";

/** What an agent works with. Only `model` has to be given. */
export interface AgentOptions {
  /** What answers. */
  readonly model: Model;
  /** The machine; without one it has a memory of its own and no processes. */
  readonly host?: Host;
  /** Absolute path of the folder that the agent works in, by default `/workspace`. It has to exist on a `host` that is given. */
  readonly workspace?: string;
  /**
   * Added to the built-in tools, whose names they cannot have. Calls of them count as ones that change something.
   */
  readonly tools?: readonly Tool[];
  /** Names of the tools that the model is offered, in place of all of them. */
  readonly onlyTools?: readonly string[];
  /** What becomes of calls that change something: not run (`deny`, the default), or run (`allow`), except for those that destroy. */
  readonly approvals?: "deny" | "allow";
  /** Takes the place of the built-in system prompt. */
  readonly systemPrompt?: string;
  /** How hard the model thinks; by default as it likes. */
  readonly thinkingLevel?: ThinkingLevel;
  /** Absolute path of the folder that conversations are saved under; without one they are kept in memory. */
  readonly home?: string;
  /** The conversation to go on with, or the id of a new one. Letters, digits, `.`, `_` and `-`. */
  readonly sessionId?: string;
}

export interface OpenedAgent {
  readonly settings: Settings;
  readonly opened: OpenedSession;
}

const DEFAULT_WORKSPACE = "/workspace";

/** Throws `StartError` when the folder or the conversation cannot be opened or a tool cannot be added. The caller disposes the journal. */
export async function openAgent(
  options: AgentOptions,
  { policy, signal }: { policy: SessionPolicy; signal: AbortSignal },
): Promise<OpenedAgent> {
  checkTools(options.tools ?? []);
  const host = options.host ?? createMemoryHost();
  const workspace = await openWorkspace(host, options);
  const home = options.home ?? host.paths.join(host.homeFolder, ".weir");
  const isSaved = options.home !== undefined;
  const open = (id: string | undefined) =>
    openConversation(host, {
      home,
      workspace,
      signal,
      choice: isSaved
        ? id === undefined ? { kind: "new" } : { kind: "id", id }
        : { kind: "memory", ...(id !== undefined && { id }) },
    });
  const { steering, followUp } = policy.deliveryModes;
  const settings: Settings = {
    host,
    home,
    workspace,
    policy,
    tools: { only: options.onlyTools, exclude: [] },
    moreTools: options.tools ?? [],
    prompt: { system: options.systemPrompt, append: [], contextFiles: true },
    approvals: options.approvals ?? "deny",
    credentialPatterns: [],
    isCredentialFile: createCredentialCheck({ patterns: [], ownFiles: [] }),
    allowedVariables: [],
    secretVariables: [],
    redact: (text) => redact(text, []),
    model: options.model,
    thinkingLevel: options.thinkingLevel,
    steeringMode: steering,
    followUpMode: followUp,
    resolveModel: (name, current) =>
      name === current.id || name === `${current.provider}/${current.id}`
        ? Promise.resolve(current)
        : Promise.reject(new RequestError("invalid", `Unknown model: ${name}`)),
    ...USUAL_SETTINGS,
    fixed: { model: true, thinking: true },
    store: { home, workspace },
    isTemporary: !isSaved,
    configuredModels: () => [options.model],
    saveDeliveryMode: () => Promise.resolve(),
    saveSwitch: () => Promise.resolve(),
    openSession: () => open(undefined),
    ...createOutputFolder(host),
  };
  return { settings, opened: await open(options.sessionId) };
}

/** Approvals know tools by their names. */
function checkTools(tools: readonly Tool[]): void {
  const taken = new Set(BUILT_IN_TOOL_NAMES);
  for (const { name } of tools) {
    if (!isToolName(name) || taken.has(name)) {
      const why = taken.has(name) ? "the name is taken" : "that is no name";
      throw new StartError(
        "usage",
        `Cannot add the tool "${name}": ${why}, use another one of letters, digits, _ and -`,
      );
    }
    taken.add(name);
  }
}

async function openWorkspace(host: Host, options: AgentOptions): Promise<string> {
  const workspace = host.paths.resolve("/", options.workspace ?? DEFAULT_WORKSPACE);
  if (options.host === undefined) await host.files.makeFolder(workspace);
  const info = await host.files.stat(workspace);
  if (info?.kind === "folder") return await host.files.realPath(workspace);
  throw new StartError(
    "folder",
    `Cannot work in "${workspace}": the host has no such folder, give the path of one as workspace`,
  );
}

/** A folder that is made on first use and removed at the end. */
function createOutputFolder(host: Host): Pick<Settings, "outputFolder" | "removeOutput"> {
  let made: Promise<string> | undefined;
  return {
    outputFolder: () => made ??= host.files.makeTempFolder("weir-"),
    removeOutput: async () => {
      if (made !== undefined) await host.files.remove(await made, { recursive: true });
    },
  };
}
