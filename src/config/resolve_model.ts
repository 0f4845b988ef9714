/** Which model a text means, and how its endpoint is reached. Asks nothing over the network. */

import type { ModelInfo } from "../agent/model.ts";
import type { Config } from "./config.ts";
import type { ProviderConfig } from "./config_schema.ts";
import { StartError } from "../errors.ts";
import type { Host } from "../host.ts";

export const DEFAULT_BASE_URL = "https://api.openai.com/v1";
export const DEFAULT_MODEL_ID = "gpt-5.1";
const OPENAI_KEY_NAME = "OPENAI_API_KEY";

/** Everything that is needed to open a model. */
export interface ModelChoice {
  /** Name in the configuration; `demo` for the built-in stand-in. */
  readonly provider: string;
  /** As the endpoint knows it. */
  readonly id: string;
  readonly api: "chat" | "responses" | "demo";
  readonly baseUrl: string;
  /** `undefined`: the endpoint is asked without a key. */
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly stallTimeoutMs: number;
  readonly info: ModelInfo;
}

export interface ResolveModelOptions {
  /** `provider/model` or a model id; without it the default one. */
  readonly model?: string | undefined;
  /** Provider of a bare model id; without it the default one. */
  readonly provider?: string | undefined;
  /** Instead of the key that is configured. */
  readonly apiKey?: string | undefined;
  /** Instead of the address that is configured. */
  readonly baseUrl?: string | undefined;
  /** Refuse a `provider`, or `name/model` without one, when no provider has that name; otherwise the default one is taken. */
  readonly refuseUnknownProvider?: boolean;
  readonly host: Host;
}

/**
 * Chooses the model. Throws `StartError`: `not_set_up` when there is nothing to choose from, `key` when the variable that has the key is
 * unset (also without a configured key at OpenAI itself), `configuration` for a provider that is refused.
 *
 * Without any provider in the configuration there is one called `openai`, from `OPENAI_API_KEY`, `OPENAI_BASE_URL` and `OPENAI_MODEL`.
 */
export function resolveModel(config: Config, options: ResolveModelOptions): ModelChoice {
  const text = options.model?.trim() || undefined;
  if (isDemo(text) || text === undefined && isDemo(config.model)) return DEMO_CHOICE;
  const providers = listProviders(config, options.host);
  const describe = (name: ModelName) => describeChoice(name, { config, providers, options });
  const named = splitName(text, providers);
  if (named) return describe(named);
  const fallback = chooseDefault(config, providers, options);
  if (text === undefined) {
    if (!fallback) throw notSetUp();
    return describe(fallback);
  }
  const isKnown = options.provider !== undefined && Object.hasOwn(providers, options.provider);
  if (options.refuseUnknownProvider && !isKnown) {
    const name = options.provider ?? /^([^/]+)\//.exec(text)?.[1];
    if (name !== undefined) {
      throw new StartError("configuration", `unsupported provider: ${name}`, { exitCode: 1 });
    }
  }
  const provider = isKnown ? options.provider : fallback?.provider ?? firstName(providers);
  if (provider === undefined) throw notSetUp();
  return describe({ provider, id: text });
}

interface ModelName {
  readonly provider: string;
  readonly id: string;
}

type Providers = Readonly<Record<string, ProviderConfig>>;

function isDemo(text: string | undefined): boolean {
  return text === "demo" || text === "demo/demo";
}

const NO_INFO: ModelInfo = {
  contextWindow: undefined,
  maxOutputTokens: undefined,
  reasoning: undefined,
  input: ["text", "image"],
  price: undefined,
};

const DEMO_CHOICE: ModelChoice = {
  provider: "demo",
  id: "demo",
  api: "demo",
  baseUrl: "",
  apiKey: undefined,
  headers: {},
  timeoutMs: 45_000,
  stallTimeoutMs: 180_000,
  info: NO_INFO,
};

function listProviders(config: Config, host: Host): Providers {
  if (!isWithoutProviders(config)) return config.providers;
  const baseUrl = host.getEnv("OPENAI_BASE_URL") || undefined;
  return {
    openai: {
      baseUrl,
      apiKey: undefined,
      apiKeyEnv: OPENAI_KEY_NAME,
      api: "chat",
      headers: {},
      timeoutSeconds: 45,
      stallTimeoutSeconds: 180,
      models: {},
    },
  };
}

function isWithoutProviders(config: Config): boolean {
  return Object.keys(config.providers).length === 0;
}

function splitName(text: string | undefined, providers: Providers): ModelName | undefined {
  const slash = text?.indexOf("/") ?? -1;
  if (text === undefined || slash < 1 || slash === text.length - 1) return undefined;
  const provider = text.slice(0, slash);
  return Object.hasOwn(providers, provider) ? { provider, id: text.slice(slash + 1) } : undefined;
}

function firstName(providers: Providers): string | undefined {
  return Object.keys(providers)[0];
}

/** The configured model; without one, the first that a provider lists; without any provider, what the environment says. */
function chooseDefault(
  config: Config,
  providers: Providers,
  options: ResolveModelOptions,
): ModelName | undefined {
  const { host } = options;
  const first = firstName(providers);
  if (config.model !== undefined && config.model.trim() !== "" && !isDemo(config.model)) {
    const text = config.model.trim();
    return splitName(text, providers) ??
      (first === undefined ? undefined : { provider: first, id: text });
  }
  for (const [provider, { models }] of Object.entries(config.providers)) {
    const [id] = Object.keys(models);
    if (id !== undefined) return { provider, id };
  }
  const hasAccess = host.getEnv(OPENAI_KEY_NAME) || options.apiKey || options.baseUrl;
  if (!isWithoutProviders(config) || !hasAccess) return undefined;
  return { provider: "openai", id: host.getEnv("OPENAI_MODEL") || DEFAULT_MODEL_ID };
}

function describeChoice(
  { provider, id }: ModelName,
  { config, providers, options }: {
    config: Config;
    providers: Providers;
    options: ResolveModelOptions;
  },
): ModelChoice {
  const isFromEnvironment = isWithoutProviders(config);
  const settings = providers[provider];
  return {
    provider,
    id,
    api: settings.api,
    baseUrl: options.baseUrl ?? settings.baseUrl ?? DEFAULT_BASE_URL,
    apiKey: findKey(settings, { options, isFromEnvironment }),
    headers: settings.headers,
    timeoutMs: settings.timeoutSeconds * 1000,
    stallTimeoutMs: settings.stallTimeoutSeconds * 1000,
    info: describeModel(settings, id),
  };
}

function describeModel(settings: ProviderConfig, id: string): ModelInfo {
  if (!Object.hasOwn(settings.models, id)) return NO_INFO;
  const { contextWindow, maxOutputTokens, reasoning, input, price } = settings.models[id];
  return {
    contextWindow,
    maxOutputTokens,
    reasoning,
    input: input ?? NO_INFO.input,
    price: price && {
      input: price.input,
      output: price.output,
      ...(price.cacheRead === undefined ? {} : { cacheRead: price.cacheRead }),
      ...(price.cacheWrite === undefined ? {} : { cacheWrite: price.cacheWrite }),
    },
  };
}

/** The key in force; the variable is looked up only when nothing else gives one. */
function findKey(
  settings: ProviderConfig,
  { options, isFromEnvironment }: { options: ResolveModelOptions; isFromEnvironment: boolean },
): string | undefined {
  const given = options.apiKey || settings.apiKey;
  if (given) return given;
  // OpenAI itself never answers without a key.
  const isOpenAi = settings.baseUrl === undefined && options.baseUrl === undefined;
  const name = settings.apiKeyEnv ?? (isOpenAi ? OPENAI_KEY_NAME : undefined);
  if (name === undefined) return undefined;
  const key = options.host.getEnv(name);
  if (key) return key;
  // An address on the command line needs no set-up, so it may be one that wants no key.
  if (options.baseUrl !== undefined && isFromEnvironment) return undefined;
  throw new StartError("key", "missing API key; re-run weir setup", {
    exitCode: 1,
    facts: { about: "key", variable: name },
  });
}

function notSetUp(): StartError {
  return new StartError("not_set_up", "Weir is not set up yet; run weir setup");
}
