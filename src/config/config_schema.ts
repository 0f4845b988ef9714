/** What may stand in `config.jsonc`, and the defaults. Knows no file. Keys that are not named here are kept and ignored. */

import { THINKING_LEVELS } from "../agent/model.ts";
import {
  boolean,
  type Check,
  listOf,
  number,
  object,
  oneOf,
  optional,
  recordOf,
  section,
  text,
  withDefault,
} from "./check_value.ts";
import { SettingsValueError } from "./settings_error.ts";

const rate = number("a price of 0 or more", { min: 0 });
const tokens = number("a whole number of tokens", { min: 1, whole: true });
const seconds = number("a number of seconds above 0", { min: 0.001 });
const milliseconds = number("milliseconds, 0 or more", { min: 0 });
const waitSeconds = number("a number of seconds, 0 for no limit", { min: 0 });
const count = number("a whole number, 0 or more", { min: 0, whole: true });
const queueMode = optional(oneOf("all", "one-at-a-time"));

const model = object({
  contextWindow: optional(tokens),
  maxOutputTokens: optional(tokens),
  reasoning: optional(boolean),
  input: optional(listOf(oneOf("text", "image"))),
  // Levels of thinking beside off, minimal, low, medium and high.
  thinkingLevels: optional(listOf(oneOf(...THINKING_LEVELS))),
  price: optional(
    object({
      input: withDefault(rate, 0),
      output: withDefault(rate, 0),
      cacheRead: optional(rate),
      cacheWrite: optional(rate),
    }),
  ),
});

const provider = object({
  baseUrl: optional(text),
  apiKey: optional(text),
  apiKeyEnv: optional(text),
  api: withDefault(oneOf("chat", "responses"), "chat"),
  headers: withDefault(recordOf(text), {}),
  timeoutSeconds: withDefault(seconds, 45),
  stallTimeoutSeconds: withDefault(seconds, 180),
  models: withDefault(recordOf(model), {}),
});

const webAddress: Check<string> = (value, path) => {
  const address = typeof value === "string" ? URL.parse(value) : null;
  if (address?.protocol !== "http:" && address?.protocol !== "https:") {
    throw new SettingsValueError(path, "an address that begins with http:// or https://");
  }
  return address.href;
};

/** A server that is a program, which is spoken to over its stdin and stdout. */
const mcpProgram = object({
  command: text,
  args: withDefault(listOf(text), []),
  env: withDefault(recordOf(text), {}),
});

/** A server that is reached over the network. */
const mcpAddress = object({ url: webAddress, headers: withDefault(recordOf(text), {}) });

const mcpServer: Check<ReturnType<typeof mcpProgram> | ReturnType<typeof mcpAddress>> = (
  value,
  path,
) => {
  const has = (key: string) =>
    typeof value === "object" && value !== null && Object.hasOwn(value, key);
  if (has("url") && has("command")) {
    throw new SettingsValueError(path, "either a command or a url, not both");
  }
  return has("url") ? mcpAddress(value, path) : mcpProgram(value, path);
};

const settings = {
  model: optional(text),
  thinking: optional(oneOf(...THINKING_LEVELS)),
  approvals: optional(oneOf("deny", "ask", "allow")),
  credential_files: withDefault(listOf(text), []),
  // Names of variables that child processes get although they look like secrets.
  pass_environment: withDefault(listOf(text), []),
  agent: section({
    steering_mode: queueMode,
    follow_up_mode: queueMode,
    auto_compaction: withDefault(boolean, true),
    auto_retry: withDefault(boolean, true),
  }),
  providers: withDefault(recordOf(provider), {}),
  mcp: section({ servers: withDefault(recordOf(mcpServer), {}) }),
  retry: section({
    maxRetries: optional(count),
    baseDelayMs: optional(milliseconds),
    maxDelayMs: optional(milliseconds),
  }),
  compaction: section({ reserveTokens: optional(tokens), keepRecentTokens: optional(tokens) }),
  pi: section({ approvalTimeoutSeconds: withDefault(waitSeconds, 600) }),
  acp: section({
    approvalTimeoutSeconds: withDefault(waitSeconds, 600),
    maxTurnRequests: withDefault(number("a whole number above 0", { min: 1, whole: true }), 250),
  }),
};

const checkAll = object(settings);
const checkProject = object({
  model: settings.model,
  thinking: settings.thinking,
  credential_files: settings.credential_files,
});

/** The settings of a `config.jsonc`, with their names there and the defaults filled in. */
export type ConfigValues = ReturnType<typeof checkAll>;
export type ProviderConfig = ConfigValues["providers"][string];
export type McpServerConfig = ConfigValues["mcp"]["servers"][string];

/** What a project may set for those who work in it. */
export type ProjectConfigValues = ReturnType<typeof checkProject>;

/** Checks the content of `config.jsonc`. Throws `SettingsValueError` for the first value that is not what it has to be. */
export function checkConfig(value: unknown): ConfigValues {
  return checkAll(value, []);
}

/** Checks what a project's file may set, and names the keys that it may not set. Throws like `checkConfig`. */
export function checkProjectConfig(
  value: unknown,
): { values: ProjectConfigValues; refused: readonly string[] } {
  const values = checkProject(value, []);
  const refused = Object.keys(value as object).filter((key) => !Object.hasOwn(values, key));
  return { values, refused };
}
