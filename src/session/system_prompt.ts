/** The text that every model request begins with: who the model is, where it works, and what the folder's own files say about working there. */

import { errorText } from "../errors.ts";
import { accessTo, type Host } from "../host.ts";
import type { Settings } from "./settings.ts";

const MAX_CONTEXT_BYTES = 100_000;
/** In a folder the first of these that exists counts. */
const CONTEXT_FILES = ["AGENTS.override.md", "AGENTS.md", "CLAUDE.md"];

/** Reads the context files and puts the prompt together. A file that cannot be read is one line on stderr. */
export async function readSystemPrompt(
  settings: Settings,
  toolNames: readonly string[],
): Promise<string> {
  const { prompt } = settings;
  const parts = [
    prompt.system ?? describeAgent(settings, toolNames),
    describeEnvironment(settings),
  ];
  if (prompt.contextFiles) parts.push(...await readContextFiles(settings));
  parts.push(...prompt.append);
  return parts.filter((part) => part !== "").join("\n\n");
}

/** What a subagent's requests begin with. */
export async function createSubagentPrompt(
  settings: Settings,
  agent: { kind: "general" | "explore"; toolNames: readonly string[] },
): Promise<string> {
  const task = agent.kind === "explore"
    ? "You are a subagent that looks things up in a folder for another agent. You cannot change anything. Answer with what you found: paths, lines, facts, no advice."
    : "You are a subagent that does one piece of work in a folder for another agent. Nobody can answer questions. Answer with what you did and found, complete and short.";
  const parts = [task, describeEnvironment(settings)];
  if (!agent.toolNames.includes("bash")) parts[0] += "\nYou cannot run commands.";
  if (settings.prompt.contextFiles) parts.push(...await readContextFiles(settings));
  return parts.join("\n\n");
}

function describeAgent(settings: Settings, toolNames: readonly string[]): string {
  const lines = [
    "You are Weir, a coding agent. You work in a folder on the user's machine, through tools, for a person or a program that reads your answers as plain text or Markdown.",
    "Look before you change things: read the files that matter, then make the smallest change that does the job, in the style of what is there. Check your work by running what the project offers for it.",
    "When a call is refused or not run, do not try to get around it: say what you would have done, or find another way that needs no permission.",
    "Answer shortly. Say what you did and what you found; name files by their path. If you could not do something, say so.",
  ];
  if (toolNames.length === 0) {
    lines.push("You have no tools in this session: answer from the conversation alone.");
  } else {
    if (!toolNames.includes("bash")) lines.push("You cannot run commands in this session.");
    lines.push(...describeAccess(settings));
  }
  return lines.join("\n");
}

/** What the machine does not let this process do, so that nobody tries to find a way. */
function describeAccess({ host, workspace }: Settings): string[] {
  const { read, write } = accessTo(host, workspace);
  if (!read) return ["You have no tools for files in this session."];
  return write ? [] : ["You can read files in this session, but have no tools to change them."];
}

function describeEnvironment(settings: Settings): string {
  const { host, workspace } = settings;
  return [
    "<environment>",
    `Working folder: ${workspace}`,
    `Platform: ${host.platform}`,
    `Date: ${new Date().toISOString().slice(0, 10)}`,
    "</environment>",
  ].join("\n");
}

async function readContextFiles(settings: Settings): Promise<string[]> {
  const { host, home, workspace } = settings;
  const found: string[] = [];
  for (const folder of [home, ...(await projectFolders(host, workspace)).reverse()]) {
    const names = folder === home ? ["AGENTS.md"] : CONTEXT_FILES;
    const text = await readFirst(settings, names.map((name) => host.paths.join(folder, name)));
    if (text !== undefined) found.push(text);
  }
  return found;
}

/** The workspace and its parents up to the folder that holds `.git`; only the workspace where there is none. */
async function projectFolders(host: Host, workspace: string): Promise<string[]> {
  if (!accessTo(host, workspace).read) return [];
  const folders = [workspace];
  let folder = workspace;
  while (!await hasGit(host, folder)) {
    const parent = host.paths.dirname(folder);
    if (parent === folder || !accessTo(host, parent).read) return [workspace];
    folders.push(parent);
    folder = parent;
  }
  return folders;
}

async function hasGit(host: Host, folder: string): Promise<boolean> {
  return await host.files.lstat(host.paths.join(folder, ".git")) !== undefined;
}

async function readFirst(
  { host, isCredentialFile }: Settings,
  paths: readonly string[],
): Promise<string | undefined> {
  for (const path of paths) {
    if (!accessTo(host, path).read) continue;
    try {
      const info = await host.files.stat(path);
      if (info?.kind !== "file") continue;
      // A folder that nobody trusts may hold a symlink to the user's keys.
      if (isCredentialFile(await host.files.realPath(path))) {
        host.warn(`weir: ${path} leads to a credential file; it is left out`);
        continue;
      }
      const bytes = await host.files.read(path, {
        signal: new AbortController().signal,
        limit: MAX_CONTEXT_BYTES,
      });
      const text = new TextDecoder().decode(bytes).trim();
      if (text === "") continue;
      return `<instructions file="${path}">\n${text}\n</instructions>`;
    } catch (error) {
      host.warn(`weir: cannot read ${path}: ${errorText(error)}; it is left out`);
    }
  }
  return undefined;
}
