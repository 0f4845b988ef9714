/**
 * How a tool fails: it throws, and the outermost function turns that into an outcome for the model. Knows no tool.
 */

import { errorOutcome, type ToolOutcome } from "../agent/tool.ts";
import { errorText, HostError, type HostErrorCode } from "../errors.ts";

/** A failure whose message is the whole text that the model reads. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure";
}

const STATES: Readonly<Partial<Record<HostErrorCode, string>>> = {
  not_found: "it does not exist, check the path with ls or find",
  permission: "permission denied",
  is_folder: "it is a folder",
  not_folder: "a part of its path is a file, not a folder",
  no_space: "no space left on the disk",
  read_only: "the file system is read-only",
};

/** `Cannot edit "a.ts": it is a folder`, as a failure. The path is shown as the model gave it. */
export function cannot(action: string, path: string, state: string): ToolFailure {
  return new ToolFailure(`Cannot ${action} "${path}": ${state}`);
}

/**
 * Runs a tool's work. Whatever it throws becomes an error outcome: a `ToolFailure` with its own text, anything else as
 * `Cannot <action> "<path>": <state>`. Throws only `signal.reason`.
 */
export async function runFileTool(
  options: { action: string; path: string; signal: AbortSignal },
  work: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const { action, path, signal } = options;
  try {
    signal.throwIfAborted();
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ToolFailure) return errorOutcome(error.message);
    const state = error instanceof HostError ? STATES[error.code] : undefined;
    return errorOutcome(cannot(action, path, state ?? errorText(error)).message);
  }
}
