/** A tool call as one short piece of text for people. Knows the names of the built-in tools and their main arguments. */

import type { JsonObject, JsonValue } from "../agent/message.ts";

const MAX_ARGUMENT = 60;

/** What a person is shown for a tool: its label and which argument says most. */
const TOOLS: Readonly<Record<string, { label: string; argument?: string }>> = {
  read: { label: "Read", argument: "path" },
  write: { label: "Write", argument: "path" },
  edit: { label: "Edit", argument: "path" },
  bash: { label: "Bash", argument: "command" },
  grep: { label: "Grep", argument: "pattern" },
  find: { label: "Find", argument: "pattern" },
  ls: { label: "Ls", argument: "path" },
  task: { label: "Agent", argument: "description" },
  question: { label: "Question" },
  todo: { label: "Todo" },
  list_jobs: { label: "Jobs" },
  stop_job: { label: "StopJob", argument: "job_id" },
  wait_jobs: { label: "WaitJobs", argument: "job_ids" },
};

/** `Read(notes.txt)`, on one line, without control characters; another tool by its name and its arguments as JSON. */
export function describeCall(call: { name: string; arguments: JsonObject }): string {
  const { name, arguments: args } = call;
  if (!Object.hasOwn(TOOLS, name)) {
    return `${shorten(name)}(${
      Object.keys(args).length === 0 ? "" : shorten(JSON.stringify(args))
    })`;
  }
  const { label, argument } = TOOLS[name]!;
  return `${label}(${argument === undefined ? "" : shorten(argumentText(args[argument]))})`;
}

function argumentText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.map(argumentText).join(" ") : JSON.stringify(value);
}

/** One line of at most 60 characters; `…` stands for what is left out. */
function shorten(text: string): string {
  // More than enough, and no long text is taken apart for a short one.
  const characters = [...plainLine(text.slice(0, 10 * MAX_ARGUMENT))];
  const isShort = characters.length <= MAX_ARGUMENT && text.length <= 10 * MAX_ARGUMENT;
  return isShort ? characters.join("") : characters.slice(0, MAX_ARGUMENT - 1).join("") + "…";
}

/** White space collapsed, and nothing in it that a terminal would obey. */
export function plainLine(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\p{Cc}\p{Bidi_Control}]/gu, "").trim();
}
