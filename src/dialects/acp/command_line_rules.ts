/** What the acp dialect says about the command line. Knows texts, no arguments. */

import { THINKING_LEVELS, type ThinkingLevel } from "../../agent/model.ts";
import type { CommandLineRules } from "../../cli/command_line.ts";
import { StartError } from "../../errors.ts";

export const ACP_COMMAND_LINE_RULES: CommandLineRules = {
  options: { "--setup": { kind: "switch", key: "setup" } },
  folder: "first_word",
  hasAtFiles: true,
  modes: ["rpc"],
  rpcWords: { error: "the acp dialect takes its prompts from the client, not as words or with -p" },
  conflicts: ["session", "sessionId", "fork", "continue", "resume", "name"].map((option) => ({
    option,
    modes: ["rpc"],
    text: (written) =>
      `${written} names one conversation; it cannot go with the acp dialect, whose client opens them`,
  })),

  readThinking(value: string): ThinkingLevel {
    const known = THINKING_LEVELS.find((name) => name === value);
    if (known) return known;
    throw new StartError("usage", `--thinking must be one of ${THINKING_LEVELS.join(", ")}`);
  },

  checkSessionText() {},
};
