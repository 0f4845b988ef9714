/** Names of tools: which ones are taken by the built-in tools, and how one is made for a tool that comes from elsewhere. */

/** No other tool may have one of these names: approvals and clients know the built-in tools by them. */
export const BUILT_IN_TOOL_NAMES: ReadonlySet<string> = new Set([
  "read",
  "write",
  "edit",
  "bash",
  "grep",
  "find",
  "ls",
  "task",
  "todo",
  "question",
  "list_jobs",
  "stop_job",
  "wait_jobs",
]);

/** Characters that a name may have; models refuse requests with longer ones. */
export const MAX_TOOL_NAME_LENGTH = 64;

/** Whether a model can be told of a tool with this name: letters, digits, `_` and `-`, 1 to 64 of them. */
export function isToolName(name: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(name);
}

/**
 * `<source>_<name>` with every character that a name may not have as `_`, cut to 64 characters, and with a number at its end where
 * it is a built-in name or in `taken`.
 */
export function createToolName(
  { source, name, taken }: { source: string; name: string; taken: ReadonlySet<string> },
): string {
  const wanted = `${source}_${name}`.replace(/[^A-Za-z0-9_-]/gu, "_");
  for (let count = 1;; count++) {
    const ending = count === 1 ? "" : `_${count}`;
    const made = wanted.slice(0, MAX_TOOL_NAME_LENGTH - ending.length) + ending;
    if (!taken.has(made) && !BUILT_IN_TOOL_NAMES.has(made)) return made;
  }
}
