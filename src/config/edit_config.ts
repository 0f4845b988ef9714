/**
 * Changes single values of `config.jsonc` and leaves everything else in it as it is: comments, trailing commas, layout, unknown keys, file
 * mode. Loads its parser only when called.
 */

import { configFile, parseSettings } from "./config.ts";
import { checkConfig } from "./config_schema.ts";
import { editJsonc, type JsoncValue } from "./edit_jsonc.ts";
import { HostError, StartError } from "../errors.ts";
import type { Host } from "../host.ts";
import { readSettings, withoutMark } from "./read_settings.ts";

/** One value to set; `undefined` removes the key. */
export interface ConfigEdit {
  readonly path: readonly string[];
  readonly value: JsoncValue | undefined;
}

/** Sets one value of `config.jsonc`. See `setConfigValues`. */
export async function setConfigValue(
  host: Host,
  { home, path, value, signal }: ConfigEdit & { home: string; signal: AbortSignal },
): Promise<void> {
  await setConfigValues(host, { home, edits: [{ path, value }], signal });
}

/**
 * Sets values of `config.jsonc`, all in one atomic step. The file is read anew; a new one gets mode 0600, a new home 0700. When the file
 * cannot be read or written, is not valid, or would not be valid with the values, it stays as it was and a `StartError` (`configuration`)
 * says why.
 */
export async function setConfigValues(
  host: Host,
  { home, edits, signal }: { home: string; edits: readonly ConfigEdit[]; signal: AbortSignal },
): Promise<void> {
  const file = configFile(host, home);
  // Another process may be about to change the same file: each must see what the other has written.
  await using _lock = await lockConfig(host, { home, file, signal });
  const settings = await readSettings(host, { file, signal });
  const old = settings?.text ?? "";
  const mark = old.length - withoutMark(old).length;
  if (settings) await parseSettings(old, { file, check: checkConfig });
  let text = old.slice(mark);
  for (const { path, value } of edits) text = await editJsonc(text, { path, value });
  const result = await parseSettings(text, {
    file,
    check: (values) => {
      checkConfig(values);
      return values;
    },
  });
  for (const { path, value } of edits) {
    // A key that stands there twice: the first was changed, the last one counts.
    if (JSON.stringify(valueAt(result, path)) !== JSON.stringify(value)) {
      throw new StartError(
        "configuration",
        `Cannot set ${
          path.join(".")
        } in ${file}: a key on the way occurs twice, remove one of the two`,
      );
    }
  }
  signal.throwIfAborted();
  try {
    await host.files.replace(file, new TextEncoder().encode(old.slice(0, mark) + text), {
      signal,
      mode: 0o600,
      followSymlink: true,
    });
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new StartError("configuration", `Cannot write ${file}: ${error.message}`, {
      cause: error,
    });
  }
}

/** How long the settings may be locked by others; a change takes milliseconds. */
const LOCK_PATIENCE_MS = 3000;
const LOCK_PAUSE_MS = 20;

async function lockConfig(
  host: Host,
  { home, file, signal }: { home: string; file: string; signal: AbortSignal },
): Promise<AsyncDisposable> {
  const deadline = Date.now() + LOCK_PATIENCE_MS;
  while (true) {
    signal.throwIfAborted();
    try {
      await host.files.makeFolder(home, { mode: 0o700 });
      return await host.files.lock(`${file}.lock`);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      if (error.code !== "locked" || Date.now() > deadline) {
        throw new StartError("configuration", `Cannot write ${file}: ${error.message}`, {
          cause: error,
        });
      }
      await new Promise((resolve) => setTimeout(resolve, LOCK_PAUSE_MS));
    }
  }
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}
