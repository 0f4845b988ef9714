/** Which tools the main agent is offered: the built-in ones and those of servers and extensions, as the options say. */

import type { ToolSpec } from "../agent/model.ts";
import { errorOutcome, type Tool } from "../agent/tool.ts";
import { BUILT_IN_TOOL_NAMES } from "../agent/tool_name.ts";
import { accessTo } from "../host.ts";
import { bashTool } from "../tools/bash.ts";
import { editTool } from "../tools/edit.ts";
import { findTool } from "../tools/find.ts";
import { grepTool } from "../tools/grep.ts";
import { lsTool } from "../tools/ls.ts";
import { questionTool } from "../tools/question.ts";
import { readTool } from "../tools/read.ts";
import { todoTool } from "../tools/todo.ts";
import { writeTool } from "../tools/write.ts";
import { adaptTool } from "./client_tools.ts";
import { createListJobsTool, createStopJobTool } from "./job_tools.ts";
import type { Settings } from "./settings.ts";
import { createTaskTool, type SubagentKit } from "./task_tool.ts";

export type Tools = ReadonlyMap<string, Tool>;

/** All tools of a session, in the order in which the model is told of them. */
export function createTools(kit: Omit<SubagentKit, "tools">): Tools {
  const { settings, customer } = kit;
  const unusable = findUnusable(settings);
  const general = [
    readTool,
    writeTool,
    editTool,
    bashTool,
    grepTool,
    findTool,
    lsTool,
    todoTool,
    settings.policy.questionRefusal === undefined
      ? questionTool
      : createRefusingTool(questionTool, settings.policy.questionRefusal),
    createListJobsTool(customer.jobs),
    createStopJobTool(customer.jobs),
    // Approvals know tools by their names, so that nobody else's may have one of them.
    ...settings.moreTools.filter(({ name }) => !BUILT_IN_TOOL_NAMES.has(name)),
  ].filter(({ name }) => !unusable.has(name)) as Tool[];
  const tools = new Map(general.map((tool) => [tool.name, adaptTool(tool, settings.client)]));
  return new Map([...tools, ["task", createTaskTool({ ...kit, tools }) as Tool]]);
}

/** Names of the tools that the machine lets nobody use here. */
function findUnusable({ host, workspace }: Settings): Set<string> {
  const { read, write } = accessTo(host, workspace);
  return new Set([
    ...host.processes === undefined ? ["bash"] : [],
    ...read ? [] : ["read", "grep", "find", "ls"],
    // What is there already is looked at before it is changed.
    ...read && write ? [] : ["write", "edit"],
  ]);
}

/** A tool that fails with this text, whatever it is asked. */
function createRefusingTool(tool: ToolSpec, refusal: string): Tool {
  const { name, description, parameters } = tool;
  return {
    name,
    description,
    parameters,
    parse: (args) => ({ ok: true, value: args }),
    run: () => Promise.resolve(errorOutcome(refusal)),
  };
}

/** What is left of the tools by the options. One line on stderr for each name that no tool has. */
export function chooseTools(all: Tools, { tools: choice, host }: Settings): Tools {
  for (const name of [...choice.only ?? [], ...choice.exclude]) {
    if (!all.has(name)) {
      host.warn(`weir: no tool is named ${name}; there are ${[...all.keys()].join(", ")}`);
    }
  }
  const isChosen = (name: string) =>
    (choice.only?.includes(name) ?? true) && !choice.exclude.includes(name);
  return new Map([...all].filter(([name]) => isChosen(name)));
}
