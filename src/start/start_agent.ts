/**
 * From a command line to the settings and the session of a run: folder, trust, configuration, model, conversation, in the order in which
 * problems are to be told. Reads no input; with `--extensions`, starts them when nothing else can fail any more.
 */

import type { RunCommandLine } from "../cli/command_line.ts";
import {
  addProjectConfig,
  type Config,
  configFile,
  findHome,
  readConfig,
} from "../config/config.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { HostError, RequestError, StartError } from "../errors.ts";
import { accessTo, type Host } from "../host.ts";
import { redact, secretsOf } from "../agent/redact.ts";
import { chooseSession } from "./choose_session.ts";
import { createMissingModel } from "./missing_model.ts";
import { createOutputFolder } from "./output_folder.ts";
import { readPromptChoice } from "./read_prompt_choice.ts";
import type { StartedExtensions, StartExtensionsOptions } from "./start_extensions.ts";
import { openModel } from "./open_model.ts";
import {
  listChoices,
  type ModelChoice,
  resolveModel,
  type ResolveModelOptions,
} from "../config/resolve_model.ts";
import type { SessionStore } from "../session/find_session.ts";
import { nameSession } from "../session/name_session.ts";
import { openConversation } from "../session/open_session.ts";
import {
  type OpenedSession,
  type Settings,
  type ToolChoice,
  USUAL_SETTINGS,
} from "../session/settings.ts";
import { createCredentialCheck } from "../session/approvals/credential_files.ts";
import { isTrusted } from "../config/trust.ts";
import { endpointsOf, warnOfLimits } from "./warn_of_limits.ts";

export interface StartOptions {
  readonly host: Host;
  readonly dialect: Pick<Dialect, "policy" | "toolAliases">;
  readonly commandLine: RunCommandLine;
  /** The folder that relative paths of the command line are meant from. */
  readonly currentFolder: string;
  readonly signal: AbortSignal;
}

export interface StartedAgent {
  readonly settings: Settings;
  readonly opened: OpenedSession;
}

/**
 * Throws `StartError` with the text for the user, or `signal.reason`; nothing is open or runs then. A hub that is made of the result closes
 * the journal and stops the servers; without one the caller calls `discardAgent`.
 */
export async function startAgent(start: StartOptions): Promise<StartedAgent> {
  const { host, dialect, commandLine, currentFolder, signal } = start;
  const { options } = commandLine;
  const home = findHome(host, { currentFolder });
  const given = host.paths.resolve(currentFolder, commandLine.folder ?? ".");
  warnOfLimits(host, { folder: given, home: host.paths.isAbsolute(home) ? home : undefined });
  // Asked for together, because answers take a while; problems are told in their order all the same.
  const folder = resolveFolder(host, given);
  folder.catch(() => {});
  const homeConfig = await readConfig(host, { home, workspace: given, trusted: false, signal });
  const firstTry = tryToResolve(homeConfig, start);
  const mayLackModel = dialect.policy.missingModel === "fail_turns";
  if (firstTry instanceof StartError && firstTry.kind === "not_set_up" && !mayLackModel) {
    throw firstTry;
  }
  const workspace = await folder;
  const trusted = await decideTrust(start, { home, workspace });
  const config = trusted
    ? await addProjectConfig(host, homeConfig, { workspace, signal })
    : homeConfig;
  const choice = config === homeConfig ? firstTry : tryToResolve(config, start);
  if (choice instanceof StartError && !(mayLackModel && isLack(choice))) throw choice;
  checkModelScope(config, start);
  if (!(choice instanceof StartError)) {
    warnOfLimits(host, { endpoints: endpointsOf(choice, { config, host }) });
  }
  const { settings, store } = await createSettings(start, { home, workspace, config, choice });
  const opened = await open(start, store);
  // What a process of this home left running when it was killed is ended by the next one, which does not wait for it.
  if (!options.noSession && canKeep(host, store)) {
    void host.processes?.recordIn(host.paths.join(home, "running"));
  }
  if (!options.extensions) return { settings, opened };
  try {
    const started = await loadExtensions({
      host,
      config,
      home,
      workspace,
      trusted,
      secretVariables: settings.secretVariables,
      signal,
    });
    return { settings: { ...settings, ...started }, opened };
  } catch (error) {
    await opened.journal[Symbol.asyncDispose]();
    throw error;
  }
}

/** Throws `StartError` for a model of the list that there is none of, where unknown models are refused. */
function checkModelScope(config: Config, start: StartOptions): void {
  const { commandLine, commandLine: { options } } = start;
  const isConfigured = (name: string) =>
    Object.entries(config.providers).some(([provider, { models = {} }]) =>
      Object.keys(models).some((id) => name === id || name === `${provider}/${id}`)
    );
  for (const model of options.models ?? []) {
    if (isConfigured(model)) continue;
    const one = { ...commandLine, options: { ...options, model, provider: undefined } };
    const found = tryToResolve(config, { ...start, commandLine: one });
    if (found instanceof StartError && !isLack(found)) throw found;
  }
}

/** What settings are made of besides the command line. */
export interface SettingsPlace {
  readonly home: string;
  readonly workspace: string;
  readonly config: Config;
  readonly choice: ModelChoice | StartError;
}

/** The settings of a session in this place, and where it is stored. Starts and opens nothing. */
export async function createSettings(
  start: StartOptions,
  { home, workspace, config, choice }: SettingsPlace,
): Promise<{ settings: Settings; store: SessionStore }> {
  const { host, dialect, commandLine, currentFolder, signal } = start;
  const { options } = commandLine;
  const { sessionFolderVariable } = dialect.policy;
  const folder = options.sessionDir ??
    ((sessionFolderVariable && host.getEnv(sessionFolderVariable)) || undefined);
  const sessionDir = folder === undefined
    ? {}
    : { sessionDir: host.paths.resolve(currentFolder, folder) };
  const store = { home, workspace, ...sessionDir };
  const settings: Settings = {
    host,
    home,
    workspace,
    policy: dialect.policy,
    tools: chooseNames(commandLine, dialect),
    moreTools: [],
    prompt: await readPromptChoice(start),
    approvals: options.approvals ?? config.approvals ?? dialect.policy.approvals,
    credentialPatterns: config.credential_files,
    isCredentialFile: createCredentialCheck({
      patterns: config.credential_files,
      ownFiles: await ownSecretFiles(host, home),
    }),
    allowedVariables: config.pass_environment,
    secretVariables: keyVariables(config),
    model: choice instanceof StartError ? createMissingModel(choice) : openModel(choice),
    thinkingLevel: options.thinking ?? config.thinking,
    ...deliveryModes(config, dialect),
    resolveModel: (name, current) =>
      Promise.resolve(openModel(resolveNamed(name, current.provider, { config, start }))),
    autoCompaction: config.agent.auto_compaction,
    autoRetry: config.agent.auto_retry,
    retry: overlay(USUAL_SETTINGS.retry, config.retry),
    compaction: overlay(USUAL_SETTINGS.compaction, config.compaction),
    askTimeoutSeconds: config.pi.approvalTimeoutSeconds,
    fixed: { model: options.model !== undefined, thinking: options.thinking !== undefined },
    modelScope: options.models,
    store,
    isTemporary: options.noSession || !canKeep(host, store),
    configuredModels: () => listChoices(config, resolveOptions(start)).map(openModel),
    saveDeliveryMode: (queue, mode) =>
      saveAgentValue(host, {
        home,
        key: queue === "steer" ? "steering_mode" : "follow_up_mode",
        value: mode,
      }),
    saveSwitch: (name, enabled) => saveAgentValue(host, { home, key: name, value: enabled }),
    openSession: () =>
      openConversation(host, {
        ...store,
        choice: { kind: options.noSession || !canKeep(host, store) ? "memory" : "new" },
        signal,
      }),
    redact: createRedact(choice),
    ...createOutputFolder(host, { home, temporary: options.noSession }),
  };
  return { settings, store };
}

/** Closes and stops what was opened and started for an agent that nobody will use. */
export async function discardAgent({ settings, opened }: StartedAgent): Promise<void> {
  await settings.stopServers?.();
  await opened.journal[Symbol.asyncDispose]();
}

async function loadExtensions(options: StartExtensionsOptions): Promise<StartedExtensions> {
  const { startExtensions } = await import("./start_extensions.ts");
  return await startExtensions(options);
}

async function open(start: StartOptions, store: SessionStore): Promise<OpenedSession> {
  const { host, commandLine, dialect, signal } = start;
  await using held = new AsyncDisposableStack();
  try {
    const choice = chooseSession(commandLine, { dialect, canKeep: canKeep(host, store) });
    const opened = await openConversation(host, { ...store, choice, signal });
    held.use(opened.journal);
    const named = await nameSession(opened, commandLine.options.name ?? "");
    held.move();
    return named;
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new StartError("session", error.message, { cause: error, exitCode: 1 });
  }
}

/** Files of the home that hold keys, also by the path that they have without symlinks. */
async function ownSecretFiles(host: Host, home: string): Promise<string[]> {
  const real = await host.files.realPath(home).catch(() => home);
  return [...new Set([home, real])].map((folder) => configFile(host, folder));
}

/** The model that the options and the configuration name, or why there is none. */
export function tryToResolve(config: Config, start: StartOptions): ModelChoice | StartError {
  try {
    return resolveModel(config, resolveOptions(start));
  } catch (error) {
    if (error instanceof StartError) return error;
    throw error;
  }
}

function resolveOptions({ commandLine, dialect, host }: StartOptions): ResolveModelOptions {
  const { model, provider, apiKey, baseUrl } = commandLine.options;
  const refuseUnknownProvider = dialect.policy.unknownProvider === "refuse";
  const refuseUnknownModel = dialect.policy.unknownModel === "refuse";
  return { model, provider, apiKey, baseUrl, refuseUnknownProvider, refuseUnknownModel, host };
}

/** The usual values with those that the configuration has in their place. */
function overlay<Values extends object>(usual: Values, own: Partial<Values>): Values {
  const set = Object.entries(own).filter(([, value]) => value !== undefined);
  return { ...usual, ...Object.fromEntries(set) };
}

/** Whether what is missing can be set while the program runs elsewhere, and nothing else is wrong. */
export function isLack({ kind }: StartError): boolean {
  return kind === "not_set_up" || kind === "key";
}

function resolveNamed(
  name: string,
  provider: string,
  { config, start }: { config: Config; start: StartOptions },
): ModelChoice {
  const { host, commandLine: { options: { apiKey, baseUrl } } } = start;
  const isProviderAlone = name.endsWith("/") && Object.hasOwn(config.providers, name.slice(0, -1));
  if (isProviderAlone) throw new RequestError("invalid", "model ID is required");
  try {
    return resolveModel(config, { model: name, provider, apiKey, baseUrl, host });
  } catch (error) {
    if (error instanceof StartError) {
      throw new RequestError("invalid", error.message, { cause: error });
    }
    throw error;
  }
}

/** The real path of a folder that exists, or that nobody may look at. */
export async function resolveFolder(host: Host, given: string): Promise<string> {
  // Its commands may still work there.
  if (!accessTo(host, given).read) return given;
  const info = await host.files.stat(given).catch(() => undefined);
  if (info?.kind !== "folder") throw new StartError("folder", `No such folder: ${given}`);
  return await host.files.realPath(given);
}

/** Whether the folder's own resources may be used; one line on stderr when it has some and they may not. */
export async function decideTrust(
  start: StartOptions,
  { home, workspace }: { home: string; workspace: string },
): Promise<boolean> {
  const { host, dialect, commandLine: { options }, signal } = start;
  const trusted = options.trust ?? await isTrusted(host, { home, folder: workspace, signal });
  if (!trusted && dialect.policy.untrusted === "refuse") {
    throw new StartError(
      "trust",
      `This folder is not trusted yet: ${workspace}; run weir trust or pass --trust`,
    );
  }
  if (trusted) return true;
  const resources = host.paths.join(workspace, ".weir");
  const own = await host.files.stat(resources).catch(() => undefined);
  if (own?.kind === "folder") {
    host.warn("Project-local resources skipped (use --approve or weir trust).");
  }
  return false;
}

function chooseNames({ options }: RunCommandLine, dialect: StartOptions["dialect"]): ToolChoice {
  const named = (names: readonly string[]) =>
    names.map((name) =>
      Object.hasOwn(dialect.toolAliases, name) ? dialect.toolAliases[name]! : name
    );
  return {
    only: options.noTools ? [] : options.tools && named(options.tools),
    exclude: [
      ...named(options.excludeTools ?? []),
      ...(options.tools === undefined ? dialect.policy.toolsOnRequest ?? [] : []),
    ],
  };
}

function keyVariables(config: Config): string[] {
  const names = Object.values(config.providers).map((provider) => provider.apiKeyEnv);
  return ["OPENAI_API_KEY", ...names.filter((name) => name !== undefined)];
}

function deliveryModes(
  config: Config,
  dialect: StartOptions["dialect"],
): Pick<Settings, "steeringMode" | "followUpMode"> {
  const { steering, followUp, fromConfiguration } = dialect.policy.deliveryModes;
  const { steering_mode, follow_up_mode } = config.agent;
  return {
    steeringMode: fromConfiguration ? steering_mode ?? steering : steering,
    followUpMode: fromConfiguration ? follow_up_mode ?? followUp : followUp,
  };
}

async function saveAgentValue(
  host: Host,
  { home, key, value }: { home: string; key: string; value: string | boolean },
): Promise<void> {
  const { setConfigValue } = await import("../config/edit_config.ts");
  await setConfigValue(host, {
    home,
    path: ["agent", key],
    value,
    signal: new AbortController().signal,
  });
}

/** Whether conversations can be read and written where they are kept. */
function canKeep(host: Host, { home, sessionDir }: SessionStore): boolean {
  const { read, write } = accessTo(host, sessionDir ?? home);
  return read && write;
}

/** Keys of the endpoint, and what looks like one, are taken out of texts that leave the process. */
function createRedact(choice: ModelChoice | StartError): (text: string) => string {
  const secrets = choice instanceof StartError ? [] : secretsOf(choice.apiKey, choice.headers);
  return (text) => redact(text, secrets);
}
