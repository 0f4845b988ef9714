/** The options of `weir setup`. Knows nothing of how they are used. */

import type { GivenOptions } from "./given_options.ts";
import { type OptionTable, usage } from "./read_arguments.ts";

/** Where the key of a provider comes from. */
export type KeyChoice =
  | { readonly from: "value"; readonly key: string }
  | { readonly from: "environment"; readonly name: string }
  | { readonly from: "none" };

/** What `weir setup` was told; it asks for the rest. */
export interface SetupOptions {
  readonly provider: string | undefined;
  readonly baseUrl: string | undefined;
  readonly model: string | undefined;
  readonly api: "chat" | "responses" | undefined;
  readonly key: KeyChoice | undefined;
  /** Folder to trust. */
  readonly trust: string | undefined;
  /** Take the defaults instead of asking. */
  readonly yes: boolean;
}

export const SETUP_OPTIONS: OptionTable = {
  "--provider": { kind: "text", key: "provider" },
  "--base-url": { kind: "text", key: "baseUrl" },
  "-m": { kind: "text", key: "model" },
  "--model": { kind: "text", key: "model" },
  "--api": { kind: "text", key: "api" },
  "--api-key": { kind: "text", key: "apiKey" },
  "--api-key-env": { kind: "text", key: "apiKeyEnv" },
  "--no-key": { kind: "switch", key: "noKey" },
  "--trust": { kind: "text", key: "trust" },
  "--yes": { kind: "switch", key: "yes" },
  "-y": { kind: "switch", key: "yes" },
};

/** Reads and checks the options. Throws `StartError` (`usage`). */
export function readSetupOptions(given: GivenOptions): SetupOptions {
  const api = given.text("api");
  if (api !== undefined && api !== "chat" && api !== "responses") {
    throw usage("--api must be chat or responses");
  }
  const provider = given.text("provider")?.trim();
  if (provider !== undefined) {
    const problem = checkProviderName(provider);
    if (problem) throw usage(`--provider ${problem}`);
  }
  const baseUrl = given.text("baseUrl")?.trim();
  if (baseUrl !== undefined && checkBaseUrl(baseUrl)) {
    throw usage(`--base-url ${checkBaseUrl(baseUrl)}`);
  }
  return {
    provider,
    baseUrl,
    model: given.text("model")?.trim(),
    api,
    key: readKeyChoice(given),
    trust: given.text("trust"),
    yes: given.flag("yes") ?? false,
  };
}

/** What is wrong with the name of a provider, `undefined` when nothing is. */
export function checkProviderName(name: string): string | undefined {
  if (name === "demo") return "demo is built in; choose another name";
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) {
    return "takes letters, digits, ., _ and -, beginning with a letter or digit";
  }
  return undefined;
}

/** What is wrong with the address of an endpoint, `undefined` when nothing is. */
export function checkBaseUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return undefined;
  return "must be an http or https address such as https://api.openai.com/v1";
}

function readKeyChoice(given: GivenOptions): KeyChoice | undefined {
  const written = ["apiKey", "apiKeyEnv", "noKey"].flatMap((key) => given.written(key) ?? []);
  if (written.length > 1) throw usage(`${written[0]} and ${written[1]} cannot go together`);
  const key = given.text("apiKey");
  if (key !== undefined) return { from: "value", key: key.trim() };
  const name = given.text("apiKeyEnv");
  if (name !== undefined) return { from: "environment", name: name.trim() };
  return given.flag("noKey") ? { from: "none" } : undefined;
}
