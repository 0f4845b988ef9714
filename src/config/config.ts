/**
 * Settings: `config.jsonc` of the home, and the little that a project may add. The only import of `@std/jsonc`. Knows no model client and
 * no command line.
 */

import {
  checkConfig,
  checkProjectConfig,
  type ConfigValues,
  type ProjectConfigValues,
} from "./config_schema.ts";
import type { Host } from "../host.ts";
import { readSettings, withoutMark } from "./read_settings.ts";
import { locateSettingsError } from "./settings_error.ts";

/** The settings in force, named as in `config.jsonc`. */
export interface Config extends ConfigValues {
  /** Path of `config.jsonc`, whether it exists or not. */
  readonly file: string;
  readonly exists: boolean;
}

/** The home: `WEIR_HOME`, a relative one taken from `currentFolder`; without it `.weir` in the user's folder. */
export function findHome(host: Host, { currentFolder }: { currentFolder: string }): string {
  const named = host.getEnv("WEIR_HOME");
  if (named) return host.paths.resolve(currentFolder, named);
  return host.paths.join(host.homeFolder, ".weir");
}

/** Path of the settings file of a home. */
export function configFile(host: Host, home: string): string {
  return host.paths.join(home, "config.jsonc");
}

/**
 * Reads the settings; a missing file is an empty one. With `trusted`, those of the workspace are added as `addProjectConfig` does. Throws
 * `StartError` (`configuration`): `settings could not be read: <file>:<line>:<column>: <what was expected>`.
 */
export async function readConfig(
  host: Host,
  { home, workspace, trusted, signal }: {
    home: string;
    workspace: string;
    trusted: boolean;
    signal: AbortSignal;
  },
): Promise<Config> {
  const file = configFile(host, home);
  const settings = await readSettings(host, { file, signal });
  const values = settings
    ? await parseSettings(settings.text, { file, check: checkConfig })
    : checkConfig({});
  const config = { ...values, file, exists: settings !== undefined };
  return trusted ? await addProjectConfig(host, config, { workspace, signal }) : config;
}

/**
 * The settings with those of a trusted workspace: its `.weir/config.jsonc` sets `model` and `thinking` and adds `credential_files`; anything else in
 * it is named through `host.warn` and ignored. Throws like `readConfig`.
 */
export async function addProjectConfig(
  host: Host,
  config: Config,
  { workspace, signal }: { workspace: string; signal: AbortSignal },
): Promise<Config> {
  const project = await readProjectConfig(host, { homeFile: config.file, workspace, signal });
  if (project === undefined) return config;
  return {
    ...config,
    model: project.model ?? config.model,
    thinking: project.thinking ?? config.thinking,
    credential_files: [...config.credential_files, ...project.credential_files ?? []],
  };
}

/** Parses JSON with comments and checks the result. Throws a `StartError` that says where `file` is wrong. */
export async function parseSettings<T>(
  text: string,
  { file, check }: { file: string; check: (value: unknown) => T },
): Promise<T> {
  const source = withoutMark(text);
  try {
    return check(await parseJsonc(source));
  } catch (error) {
    throw await locateSettingsError(error, { file, text: source });
  }
}

/** Most settings are plain JSON, and loading the other parser is most of what reading them costs before the first answer. */
async function parseJsonc(text: string): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch {
    const { parse } = await import("@std/jsonc");
    return parse(text);
  }
}

async function readProjectConfig(
  host: Host,
  { homeFile, workspace, signal }: { homeFile: string; workspace: string; signal: AbortSignal },
): Promise<ProjectConfigValues | undefined> {
  const file = host.paths.join(workspace, ".weir", "config.jsonc");
  const settings = await readSettings(host, { file, signal, isForeign: true });
  if (!settings) return undefined;
  // A workspace that is the parent of the home has the user's own settings there.
  if (await isSameFile(host, file, homeFile)) return undefined;
  const { values, refused } = await parseSettings(settings.text, {
    file,
    check: checkProjectConfig,
  });
  for (const key of refused) {
    host.warn(
      `weir: ${file}: "${key}" is ignored: ` +
        `a project may set only model, thinking and credential_files`,
    );
  }
  return values;
}

async function isSameFile(host: Host, one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all(
    [one, other].map((path) => host.files.realPath(path).catch(() => path)),
  );
  return first === second;
}
