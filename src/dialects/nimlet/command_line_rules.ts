/** What the nimlet dialect says about the command line. Knows texts, no arguments. */

import { THINKING_LEVELS, type ThinkingLevel } from "../../agent/model.ts";
import { SESSION_ID, SESSION_ID_PART } from "../../cli/session_id.ts";
import type { CommandLineRules } from "../../cli/command_line.ts";
import { StartError } from "../../errors.ts";

export const NIMLET_COMMAND_LINE_RULES: CommandLineRules = {
  // Here both spellings reopen the newest session.
  options: {
    "-r": { kind: "switch", key: "continue" },
    "--resume": { kind: "switch", key: "continue" },
  },
  folder: "existing_first_word",
  hasAtFiles: false,
  modes: ["rpc", "json", "print", "line"],
  rpcWords: { error: "RPC mode accepts commands on stdin, not a CLI prompt." },
  conflicts: [
    {
      option: "noSession",
      with: ["session", "fork", "continue"],
      text: (written, other) => `${written} and ${other} cannot go together`,
    },
    {
      option: "fork",
      with: ["continue", "session"],
      text: (written, other) => `${written} and ${other} cannot go together`,
    },
    {
      option: "sessionId",
      with: ["continue", "session"],
      text: (written, other) => `${written} and ${other} cannot go together`,
    },
    {
      option: "session",
      with: ["continue"],
      text: (written, other) => `${written} and ${other} cannot go together`,
    },
  ],

  readThinking(value: string): ThinkingLevel {
    if (value === "none") return "off";
    const known = THINKING_LEVELS.find((name) => name === value);
    if (known) return known;
    throw new StartError("configuration", `invalid thinking level: ${value}`, { exitCode: 1 });
  },

  checkSessionText(key, value) {
    if (!(key === "sessionId" ? SESSION_ID : SESSION_ID_PART).test(value)) {
      throw new StartError("session", "Invalid session ID.", { exitCode: 1 });
    }
  },
};
