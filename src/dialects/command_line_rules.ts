/** The command line rules of every dialect, by its name. Small data, so that no dialect has to be loaded to read the arguments. */

import type { CommandLineRules, DialectName } from "../cli/command_line.ts";
import { ACP_COMMAND_LINE_RULES } from "./acp/command_line_rules.ts";
import { CIRCLE_COMMAND_LINE_RULES } from "./circle/command_line_rules.ts";
import { NIMLET_COMMAND_LINE_RULES } from "./nimlet/command_line_rules.ts";
import { PI_COMMAND_LINE_RULES } from "./pi/command_line_rules.ts";

export const COMMAND_LINE_RULES: Readonly<Record<DialectName, CommandLineRules>> = {
  circle: CIRCLE_COMMAND_LINE_RULES,
  nimlet: NIMLET_COMMAND_LINE_RULES,
  pi: PI_COMMAND_LINE_RULES,
  acp: ACP_COMMAND_LINE_RULES,
};
