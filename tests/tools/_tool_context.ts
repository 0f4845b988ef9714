/**
 * What the tests of tools run them with, and short forms for what came of a call.
 */

import type { JsonObject } from "../../src/agent/message.ts";
import type { Tool, ToolContext, ToolOutcome } from "../../src/agent/tool.ts";
import type { Host } from "../../src/host.ts";
import { createMemoryHost, type MemoryHostOptions } from "../../src/memory/memory_host.ts";

/** A context for the host, with `.env` and `*.pem` as credential files. */
export function createToolContext(
  host: Host,
  options: { workspace?: string; signal?: AbortSignal } = {},
): ToolContext {
  return {
    host,
    workspace: options.workspace ?? "/project",
    callId: "c1",
    signal: options.signal ?? new AbortController().signal,
    onOutput: () => undefined,
    isCredentialFile: (path) => /(^|\/)(\.env|[^/]*\.pem)$/.test(path),
    outputFolder: () => Promise.resolve("/logs"),
    allowedVariables: [],
    secretVariables: [],
  };
}

/** A context in memory; relative names are in the workspace `/project`. */
export function createMemoryContext(options: MemoryHostOptions = {}): ToolContext {
  const inWorkspace = <Value>(entries: Readonly<Record<string, Value>> | undefined) =>
    Object.fromEntries(
      Object.entries(entries ?? {}).map(([path, value]) => [
        path.startsWith("/") ? path : `/project/${path}`,
        value,
      ]),
    );
  const files = { "/project/.keep/x": "", ...inWorkspace(options.files) };
  const symlinks = inWorkspace(options.symlinks);
  return createToolContext(createMemoryHost({ ...options, files, symlinks }));
}

/** Parses the arguments and runs the call; arguments that do not pass are a failed test. */
export async function runTool<Arguments>(
  tool: Tool<Arguments>,
  args: JsonObject,
  context: ToolContext,
): Promise<ToolOutcome> {
  const parsed = tool.parse(args);
  if (!parsed.ok) throw new Error(`arguments of ${tool.name}: ${parsed.problem}`);
  return await tool.run(parsed.value, context);
}

/** The text of a success. */
export function successText(outcome: ToolOutcome): string {
  const text = textOf(outcome);
  if (outcome.isError) throw new Error(`expected a success, got: ${text}`);
  return text;
}

/** The text of a failure. */
export function failureText(outcome: ToolOutcome): string {
  const text = textOf(outcome);
  if (!outcome.isError) throw new Error(`expected a failure, got: ${text}`);
  return text;
}

/** The text of a file in the workspace. */
export async function fileText(path: string, context: ToolContext): Promise<string> {
  const { host, workspace, signal } = context;
  const bytes = await host.files.read(host.paths.resolve(workspace, path), { signal });
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function textOf(outcome: ToolOutcome): string {
  return outcome.content.map((block) => block.type === "text" ? block.text : "[image]").join("");
}
