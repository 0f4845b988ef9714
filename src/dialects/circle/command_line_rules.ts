/** What the circle dialect says about the command line. Knows texts, no arguments. */

import { THINKING_LEVELS, type ThinkingLevel } from "../../agent/model.ts";
import { SESSION_ID } from "../../cli/session_id.ts";
import type { CommandLineRules } from "../../cli/command_line.ts";
import { StartError } from "../../errors.ts";

export const CIRCLE_COMMAND_LINE_RULES: CommandLineRules = {
  folder: "first_word",
  hasAtFiles: true,
  modes: ["rpc", "json", "print", "line"],
  rpcWords: {
    error: "--mode rpc takes its prompts as commands on standard input, not as words",
  },
  conflicts: [
    {
      option: "resume",
      modes: ["rpc", "json", "print"],
      text: () => "-r opens a list to choose from",
    },
    {
      option: "fork",
      with: ["continue", "resume", "session", "noSession"],
      text: (_written, other) => `--fork starts a new conversation; it cannot go with ${other}`,
    },
    {
      option: "sessionId",
      with: ["continue", "resume", "session"],
      text: (_written, other) =>
        `--session-id chooses the conversation; it cannot go with ${other}`,
    },
    {
      option: "session",
      with: ["continue"],
      text: (written, other) => `${written} and ${other} cannot go together`,
    },
    {
      option: "noSession",
      with: ["continue", "session", "sessionId"],
      text: (_written, other) => `--no-session keeps nothing; it cannot go with ${other}`,
    },
  ],

  readThinking(value: string): ThinkingLevel {
    const level = value.trim().toLowerCase();
    const known = THINKING_LEVELS.find((name) => name === level);
    if (!known) throw new StartError("usage", "unknown thinking depth");
    return known;
  },

  checkSessionText(key, value) {
    if (key !== "sessionId" || SESSION_ID.test(value)) return;
    throw new StartError(
      "usage",
      "--session-id takes letters, digits, ., _ and -, beginning and ending with a letter or digit",
    );
  },
};
