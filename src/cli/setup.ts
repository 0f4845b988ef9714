/**
 * `weir setup`: asks which model to use, or is told by options, and writes `config.jsonc`. Shows no key. Asks no endpoint; `weir doctor`
 * does.
 */

import { type Config, configFile, readConfig } from "../config/config.ts";
import { type ConfigEdit, setConfigValues } from "../config/edit_config.ts";
import { StartError } from "../errors.ts";
import type { Host } from "../host.ts";
import { DEFAULT_BASE_URL, DEFAULT_MODEL_ID } from "../config/resolve_model.ts";
import { setTrust } from "../config/trust.ts";
import type { CommandIo, CommandPlace } from "./command_io.ts";
import {
  checkBaseUrl,
  checkProviderName,
  type KeyChoice,
  type SetupOptions,
} from "./setup_options.ts";

/** Everything that is written. */
interface Plan {
  readonly provider: string;
  readonly baseUrl: string;
  readonly model: string;
  readonly api: "chat" | "responses" | undefined;
  /** `undefined` keeps what is configured. */
  readonly key: KeyChoice | undefined;
}

/**
 * Sets Weir up; other providers, comments and unknown keys in `config.jsonc` stay. Returns the exit code: 0, or 1 when the person ends the
 * input. Throws `StartError`: `usage` when something is missing and nobody can be asked, `configuration` and `folder` for what cannot be read or
 * written.
 */
export async function runSetup(
  host: Host,
  options: SetupOptions & CommandPlace,
  io: CommandIo,
): Promise<number> {
  const { home, currentFolder, signal } = options;
  const config = await readConfig(host, { home, workspace: currentFolder, trusted: false, signal });
  const isAsking = io.prompt !== undefined && !options.yes;
  const plan = isAsking
    ? await askForPlan(config, { options, io })
    : completePlan(config, { host, options });
  if (!plan) {
    io.err("weir setup: nothing was written");
    return 1;
  }
  await setConfigValues(host, { home, edits: listEdits(plan), signal });
  io.out(`Wrote ${configFile(host, home)}: ${plan.provider}/${plan.model} at ${hostOf(plan)}`);
  if (plan.key?.from === "environment" && !host.getEnv(plan.key.name)) {
    io.out(`${plan.key.name} is not set here; set it before you start weir`);
  }
  if (options.trust !== undefined) {
    const folder = host.paths.resolve(currentFolder, options.trust);
    io.out(`Trusted ${await setTrust(host, { home, folder, trusted: true, signal })}`);
  }
  io.out("Next: weir doctor checks the connection, weir trust FOLDER lets Weir work in a folder");
  return 0;
}

/** The plan without asking. Throws `StartError` (`usage`) that names what is missing. */
function completePlan(
  config: Config,
  { host, options }: { host: Host; options: SetupOptions },
): Plan {
  const provider = options.provider ?? (options.yes ? "openai" : undefined);
  const known = findProvider(config, provider);
  const baseUrl = options.baseUrl ?? known?.baseUrl ??
    (provider === "openai" ? DEFAULT_BASE_URL : undefined);
  const model = options.model ??
    (options.yes && provider === "openai"
      ? host.getEnv("OPENAI_MODEL") || DEFAULT_MODEL_ID
      : undefined);
  const isKeyKnown = known?.apiKey !== undefined || known?.apiKeyEnv !== undefined;
  const key = options.key ??
    (options.yes && provider === "openai" && !isKeyKnown
      ? { from: "environment", name: "OPENAI_API_KEY" } as const
      : undefined);
  const missing = [
    provider === undefined && "--provider",
    baseUrl === undefined && provider !== undefined && "--base-url",
    model === undefined && "--model",
    !key && !isKeyKnown && "one of --api-key, --api-key-env, --no-key",
  ].filter((flag) => flag !== false);
  if (provider === undefined || baseUrl === undefined || model === undefined || missing.length) {
    const why = options.yes ? "--yes has no default for everything" : "there is no terminal";
    throw new StartError(
      "usage",
      `Cannot ask for the settings: ${why}, give ${missing.join(", ")}`,
    );
  }
  return { provider, baseUrl, model: stripProvider(model, provider), api: options.api, key };
}

/** Asks for what the options leave open; `undefined` when the person ends the input. */
async function askForPlan(
  config: Config,
  { options, io }: { options: SetupOptions & CommandPlace; io: CommandIo },
): Promise<Plan | undefined> {
  const ask = (question: string, rules: AskRules) =>
    askUntilRight(io, question, {
      ...rules,
      signal: options.signal,
    });
  const provider = options.provider ?? await ask("Name for the provider", {
    fallback: Object.keys(config.providers)[0] ?? "openai",
    check: checkProviderName,
  });
  if (provider === undefined) return undefined;
  const known = findProvider(config, provider);
  const baseUrl = options.baseUrl ?? await ask("Address of its OpenAI-compatible API", {
    fallback: known?.baseUrl ?? (provider === "openai" ? DEFAULT_BASE_URL : undefined),
    check: checkBaseUrl,
  });
  if (baseUrl === undefined) return undefined;
  let key = options.key;
  if (!key) {
    const isKeyKnown = known?.apiKey !== undefined || known?.apiKeyEnv !== undefined;
    const otherwise = isKeyKnown
      ? undefined
      : provider === "openai"
      ? { from: "environment", name: "OPENAI_API_KEY" } as const
      : { from: "none" } as const;
    const meaning = !otherwise
      ? "empty: keep what is configured"
      : otherwise.from === "none"
      ? "empty: none"
      : `empty: read it from ${otherwise.name}`;
    const answer = await ask(`API key (${meaning})`, { fallback: "", isHidden: true });
    if (answer === undefined) return undefined;
    key = answer === "" ? otherwise : { from: "value", key: answer };
  }
  const model = options.model ?? await ask("Model", {
    fallback: currentModel(config, provider),
    check: (text) => text === "" ? "is needed" : undefined,
  });
  if (model === undefined) return undefined;
  return { provider, baseUrl, model: stripProvider(model, provider), api: options.api, key };
}

interface AskRules {
  readonly fallback?: string | undefined;
  readonly isHidden?: boolean;
  /** What is wrong with an answer. */
  check?(answer: string): string | undefined;
}

async function askUntilRight(
  io: CommandIo,
  question: string,
  { fallback, isHidden = false, check, signal }: AskRules & { signal: AbortSignal },
): Promise<string | undefined> {
  const shown = fallback ? `${question} [${fallback}]: ` : `${question}: `;
  while (true) {
    const answer = await io.prompt?.ask(shown, { signal, isHidden });
    if (answer === undefined) return undefined;
    const value = answer.trim() || (fallback ?? "");
    const problem = check?.(value);
    if (problem === undefined) return value;
    io.err(`${question} ${problem}`);
  }
}

function findProvider(config: Config, name: string | undefined) {
  if (name === undefined || !Object.hasOwn(config.providers, name)) return undefined;
  return config.providers[name];
}

function currentModel(config: Config, provider: string): string | undefined {
  const prefix = `${provider}/`;
  if (config.model?.startsWith(prefix)) return config.model.slice(prefix.length);
  const [listed] = Object.keys(findProvider(config, provider)?.models ?? {});
  return listed ?? (provider === "openai" ? DEFAULT_MODEL_ID : undefined);
}

/** A model that was given with its provider is stored once with it, too. */
function stripProvider(model: string, provider: string): string {
  const prefix = `${provider}/`;
  return model.startsWith(prefix) && model.length > prefix.length
    ? model.slice(prefix.length)
    : model;
}

function listEdits({ provider, baseUrl, model, api, key }: Plan): ConfigEdit[] {
  const path = (name: string) => ["providers", provider, name];
  const edits: ConfigEdit[] = [
    { path: ["model"], value: `${provider}/${model}` },
    { path: path("baseUrl"), value: baseUrl },
  ];
  if (api !== undefined) edits.push({ path: path("api"), value: api });
  if (key) {
    const value = key.from === "value" ? key.key : undefined;
    const name = key.from === "environment" ? key.name : undefined;
    edits.push({ path: path("apiKey"), value }, { path: path("apiKeyEnv"), value: name });
  }
  return edits;
}

/** The address may hold a password, so only its host is shown. */
function hostOf({ baseUrl }: Plan): string {
  return URL.parse(baseUrl)?.host ?? "an unreadable address";
}
