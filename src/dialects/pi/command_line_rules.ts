/** What the pi dialect says about the command line. Knows texts, no arguments. */

import { THINKING_LEVELS, type ThinkingLevel } from "../../agent/model.ts";
import type { OptionSpec } from "../../cli/read_arguments.ts";
import { SESSION_ID } from "../../cli/session_id.ts";
import type { CommandLineRules } from "../../cli/command_line.ts";
import { StartError } from "../../errors.ts";

const ignoredSwitch: OptionSpec = { kind: "switch", key: "ignored" };
const ignoredText: OptionSpec = { kind: "text", key: "ignored", mayBeEmpty: true };

export const PI_COMMAND_LINE_RULES: CommandLineRules = {
  options: {
    "--provider": { kind: "text", key: "provider" },
    "--models": { kind: "list", key: "models" },
    "-a": { kind: "switch", key: "trust", is: true },
    "-na": { kind: "switch", key: "trust", is: false },
    "-v": { kind: "switch", key: "version" },
    "--offline": ignoredSwitch,
    "--no-mcp": ignoredSwitch,
    "-ne": ignoredSwitch,
    "--no-extensions": ignoredSwitch,
    "-ns": ignoredSwitch,
    "--no-skills": ignoredSwitch,
    "-np": ignoredSwitch,
    "--no-prompt-templates": ignoredSwitch,
    "--no-themes": ignoredSwitch,
    "-nbt": ignoredSwitch,
    "-e": ignoredText,
    "--extension": ignoredText,
    "--skill": ignoredText,
    "--prompt-template": ignoredText,
    "--theme": ignoredText,
    "--use-theme": ignoredText,
    "--tui-mode": ignoredText,
  },
  ignored: (written, value) =>
    `weir: ${written} ${value} is ignored: pi extensions do not run in Weir`,
  folder: "none",
  hasAtFiles: true,
  modes: ["rpc", "json", "print", "line"],
  rpcWords: {
    error: "--mode rpc takes its prompts and images as commands on stdin, not as @file or -p",
    ignoreMessages: (words) => `weir: RPC mode takes prompts on stdin, ignored: ${words}`,
  },
  conflicts: [
    {
      option: "resume",
      modes: ["rpc", "json", "print"],
      text: () => "-r opens a list to choose from; use -c or --session",
    },
    {
      option: "fork",
      with: ["continue", "resume", "session", "noSession"],
      text: (written, other) => `${written} and ${other} cannot go together`,
    },
    {
      option: "sessionId",
      with: ["continue", "resume", "session"],
      text: (written, other) => `${written} and ${other} cannot go together`,
    },
    {
      option: "session",
      with: ["continue"],
      text: (written, other) => `${written} and ${other} cannot go together`,
    },
    {
      option: "noSession",
      with: ["continue", "session"],
      text: (written, other) => `${written} and ${other} cannot go together`,
    },
  ],
  requires: [{ option: "provider", needs: "model", text: "--provider needs --model" }],

  readThinking(value: string): ThinkingLevel {
    const known = THINKING_LEVELS.find((name) => name === value);
    if (known) return known;
    throw new StartError("usage", `--thinking must be one of ${THINKING_LEVELS.join(", ")}`);
  },

  splitModel(value) {
    const colon = value.lastIndexOf(":");
    const thinking = THINKING_LEVELS.find((name) => colon > 0 && name === value.slice(colon + 1));
    return { model: thinking === undefined ? value : value.slice(0, colon), thinking };
  },

  checkSessionText(key, value) {
    if (key !== "sessionId" || SESSION_ID.test(value)) return;
    throw new StartError(
      "usage",
      "--session-id takes letters, digits, ., _ and -, beginning and ending with a letter or digit",
    );
  },
};
