/** Which tools the main agent is offered: the built-in ones and those of servers and extensions, as the options say. */

import type { Tool } from "../agent/tool.ts";
import { bashTool } from "../tools/bash.ts";
import { editTool } from "../tools/edit.ts";
import { lsTool } from "../tools/ls.ts";
import { questionTool } from "../tools/question.ts";
import { readTool } from "../tools/read.ts";
import { todoTool } from "../tools/todo.ts";
import { writeTool } from "../tools/write.ts";
import type { Settings } from "./settings.ts";

/** The tools by name, in the order in which the model is told of them. One line on stderr for each name that no tool has. */
export function chooseTools(settings: Settings): ReadonlyMap<string, Tool> {
  const { tools: choice, host, moreTools } = settings;
  const builtIn = [
    readTool,
    writeTool,
    editTool,
    bashTool,
    lsTool,
    todoTool,
    questionTool,
  ] as Tool[];
  const all = new Map(
    [...builtIn, ...moreTools]
      .filter((tool) => tool.name !== "bash" || host.processes !== undefined)
      .map((tool) => [tool.name, tool]),
  );
  for (const name of [...choice.only ?? [], ...choice.exclude]) {
    if (!all.has(name)) {
      host.warn(`weir: no tool is named ${name}; there are ${[...all.keys()].join(", ")}`);
    }
  }
  for (const name of all.keys()) {
    const chosen = (choice.only?.includes(name) ?? true) && !choice.exclude.includes(name);
    if (!chosen) all.delete(name);
  }
  return all;
}
