/**
 * Extensions: modules in given folders, imported and asked what they do. One that fails or hangs is left out; the others work. Knows no
 * configuration and no trust: whoever calls it has decided about the folders.
 */

import type { ExtensionHooks } from "../agent/extension_hooks.ts";
import type { Tool } from "../agent/tool.ts";
import { HostError } from "../errors.ts";
import type { Host } from "../host.ts";
import { LoadedHooks, oneLine } from "./call_hooks.ts";
import type { Extension } from "./extension_api.ts";
import { fileUrl } from "./file_url.ts";
import { Registration } from "./registration.ts";

/** What a module may take to be imported and to register. */
export const MODULE_TIMEOUT_MS = 30_000;

export interface LoadOptions {
  readonly host: Host;
  /** Absolute paths; those that do not exist have no modules. Later ones are loaded later. */
  readonly folders: readonly string[];
  readonly workspace: string;
  /** Names of tools that exist already, besides the built-in ones. */
  readonly taken: ReadonlySet<string>;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  readonly hookTimeoutMs?: number;
  /** Takes one line for people. */
  warn(line: string): void;
}

export interface LoadedExtensions {
  readonly tools: readonly Tool[];
  readonly hooks: ExtensionHooks;
}

/**
 * Loads every `.js`, `.mjs` and `.ts` file of the folders, by folder and then by name, one after another. Names that begin with `.` or
 * `_` and `.d.ts` files are no extensions. Throws only `signal.reason`.
 */
export async function loadExtensions(options: LoadOptions): Promise<LoadedExtensions> {
  const { warn, hookTimeoutMs } = options;
  const taken = new Set(options.taken);
  const loaded: Registration[] = [];
  for (const path of await findModules(options)) {
    const registration = new Registration({
      name: options.host.paths.basename(path),
      workspace: options.workspace,
      taken,
      warn,
    });
    try {
      await withinTime(loadModule(path, registration), options);
      loaded.push(registration);
      for (const tool of registration.tools) taken.add(tool.name);
    } catch (error) {
      options.signal.throwIfAborted();
      warn(`weir: extension ${path} is left out: ${oneLine(error)}${hintFor(path, error)}`);
    } finally {
      registration.close();
    }
  }
  return {
    tools: loaded.flatMap(({ tools }) => tools),
    hooks: new LoadedHooks(loaded, {
      warn,
      ...(hookTimeoutMs === undefined ? {} : { timeoutMs: hookTimeoutMs }),
    }),
  };
}

/** A runtime that does not know types takes them for mistakes. */
function hintFor(path: string, error: unknown): string {
  return path.endsWith(".ts") && error instanceof SyntaxError
    ? " (Weir as an executable reads no TypeScript: make it a .js file)"
    : "";
}

async function loadModule(path: string, registration: Registration): Promise<void> {
  const module: Record<string, unknown> = await import(fileUrl(path));
  if (typeof module.default !== "function") {
    throw new Error("its default export is not a function");
  }
  await (module.default as Extension)(registration.api);
}

async function findModules({ host, folders, warn }: LoadOptions): Promise<string[]> {
  const modules: string[] = [];
  for (const folder of folders) {
    const names: string[] = [];
    try {
      for await (const { name, kind } of host.files.readFolder(folder)) {
        if (isModuleName(name) && kind !== "folder") names.push(name);
      }
    } catch (error) {
      const isAbsent = error instanceof HostError && error.code === "not_found";
      if (!isAbsent) warn(`weir: extensions in ${folder} are left out: ${oneLine(error)}`);
    }
    for (const name of names.sort()) {
      // The real path, so that what a linked module imports is found beside it.
      const path = host.paths.join(folder, name);
      modules.push(await host.files.realPath(path).catch(() => path));
    }
  }
  // A workspace that is the parent of the home has the same modules twice.
  return [...new Set(modules)];
}

function isModuleName(name: string): boolean {
  return /^[^._].*\.(?:js|mjs|ts)$/.test(name) && !name.endsWith(".d.ts");
}

/** Rejects when the time is over or the signal aborts; what still runs is left to itself. */
async function withinTime(
  work: Promise<void>,
  { signal, timeoutMs = MODULE_TIMEOUT_MS }: LoadOptions,
): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`it was not loaded within ${timeoutMs / 1000} s`)),
    timeoutMs,
  );
  const onAbort = () => late.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    await Promise.race([work, late.promise]);
  } finally {
    work.catch(() => {});
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
