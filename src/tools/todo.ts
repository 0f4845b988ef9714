/**
 * The `todo` tool: the model states its plan. Keeps nothing: a session reads the plan from the result's details.
 */

import type { JsonObject } from "../agent/message.ts";
import { type ParsedArguments, textOutcome, type Tool } from "../agent/tool.ts";
import { parseArguments } from "./arguments.ts";

/** One step of the plan. */
export type TodoItem = { text: string; status: "pending" | "in_progress" | "completed" };

/** Arguments of `todo`. */
export type TodoArguments = { items: TodoItem[] };

const MARKS: Readonly<Record<TodoItem["status"], string>> = {
  pending: "[ ]",
  in_progress: "[>]",
  completed: "[x]",
};

const PARAMETERS: JsonObject = {
  type: "object",
  properties: {
    items: {
      type: "array",
      description: "The whole list, in order; it replaces the one before",
      items: {
        type: "object",
        properties: {
          text: { type: "string", minLength: 1, description: "What is to be done" },
          status: { type: "string", enum: Object.keys(MARKS) },
        },
        required: ["text", "status"],
        additionalProperties: false,
      },
    },
  },
  required: ["items"],
  additionalProperties: false,
};

/** Answers with the list, one item a line, and has it as `details.items`. */
export const todoTool: Tool<TodoArguments> = {
  name: "todo",
  description:
    "Keeps the plan of a task with several steps where the person can see it. Give the whole list each time, with one item in progress.",
  parameters: PARAMETERS,
  parse: (args) => parseArguments(PARAMETERS, args) as ParsedArguments<TodoArguments>,
  run({ items }, { signal }) {
    if (signal.aborted) return Promise.reject(signal.reason);
    const lines = items.map(({ text, status }) => `${MARKS[status]} ${text}\n`);
    const text = items.length === 0 ? "[the list is empty]" : lines.join("");
    return Promise.resolve(textOutcome(text, { details: { items } }));
  },
};
