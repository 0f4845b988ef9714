/** The tools whose work a client can do in part: its files, its answers. Knows no wire. */

import { textOutcome, type Tool } from "../agent/tool.ts";
import type { QuestionArguments } from "../tools/question.ts";
import type { WriteArguments } from "../tools/write.ts";
import { likeBase, withClientFiles } from "./client_files.ts";
import type { ClientHelp } from "./client_help.ts";
import { readBaseText } from "./plan_change.ts";

const FILE_TOOLS: ReadonlySet<string> = new Set(["read", "write", "edit"]);

/** The tool as it works for a session with this client. */
export function adaptTool(tool: Tool, client: ClientHelp | undefined): Tool {
  if (client === undefined) return tool;
  if (FILE_TOOLS.has(tool.name)) return adaptFileTool(tool, client);
  if (tool.name === "question" && client.answerQuestions !== undefined) {
    return {
      ...tool,
      run: async (args, { callId, signal }) => {
        const { questions } = args as QuestionArguments;
        return textOutcome(await client.answerQuestions!(questions, { callId, signal }));
      },
    };
  }
  return tool;
}

function adaptFileTool(tool: Tool, client: ClientHelp): Tool {
  if (client.readText === undefined && client.writeText === undefined) return tool;
  return {
    ...tool,
    run: async (args, context) => {
      const { signal } = context;
      const host = withClientFiles(context.host, { client, signal });
      const here = { ...context, host };
      if (tool.name !== "write" || client.writeText === undefined) {
        return await tool.run(args, here);
      }
      const { path, content } = args as WriteArguments;
      const base = await readBaseText(path, here);
      return await tool.run({ path, content: likeBase(content, base ?? "") }, here);
    },
  };
}
