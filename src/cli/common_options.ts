/** The options that mean the same in every dialect. Data only. */

import type { OptionSpec, OptionTable } from "./read_arguments.ts";

const option = (kind: OptionSpec["kind"], key: string): OptionSpec => ({ kind, key });
const model = option("text", "model");
const tools: OptionSpec = { kind: "list", key: "tools", mayBeEmpty: true };
const excludeTools: OptionSpec = { kind: "list", key: "excludeTools", mayBeEmpty: true };
const noTools = option("switch", "noTools");
const noContextFiles = option("switch", "noContextFiles");
const name = option("text", "name");
const print = option("switch", "print");
const continueLast = option("switch", "continue");
const resume = option("switch", "resume");
const help = option("switch", "help");
const trust: OptionSpec = { kind: "switch", key: "trust", is: true };

/** Spellings of the common options. */
export const COMMON_OPTIONS: OptionTable = {
  "--mode": option("text", "mode"),
  "--dialect": option("text", "dialect"),
  "-p": print,
  "--print": print,
  "--line": option("switch", "line"),
  "-m": model,
  "--model": model,
  "--thinking": option("text", "thinking"),
  "-t": tools,
  "--tools": tools,
  "-xt": excludeTools,
  "--exclude-tools": excludeTools,
  "-nt": noTools,
  "--no-tools": noTools,
  "--system-prompt": { kind: "text", key: "systemPrompt", mayBeEmpty: true },
  "--append-system-prompt": { kind: "texts", key: "appendSystemPrompt", mayBeEmpty: true },
  "-nc": noContextFiles,
  "--no-context-files": noContextFiles,
  "-n": name,
  "--name": name,
  "--session": option("text", "session"),
  "--session-id": option("text", "sessionId"),
  "--fork": option("text", "fork"),
  "-c": continueLast,
  "--continue": continueLast,
  "-r": resume,
  "--resume": resume,
  "--no-session": option("switch", "noSession"),
  "--session-dir": option("text", "sessionDir"),
  "--yolo": option("switch", "yolo"),
  "--approvals": option("text", "approvals"),
  "--extensions": option("switch", "extensions"),
  "--trust": trust,
  "--approve": trust,
  "--no-approve": { kind: "switch", key: "trust", is: false },
  "--api-key": option("text", "apiKey"),
  "--base-url": option("text", "baseUrl"),
  "--verbose": option("switch", "verbose"),
  "-h": help,
  "--help": help,
  "--version": option("switch", "version"),
};
