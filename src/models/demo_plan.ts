/**
 * What the built-in demo does next, from nothing but the conversation. No language is understood here: words are matched. Knows neither
 * time nor pieces.
 */

import {
  type JsonObject,
  type Message,
  textOf,
  toolCallsOf,
  type ToolResultMessage,
} from "../agent/message.ts";
import type { ModelRequest } from "../agent/model.ts";

/** One reply of the demo: thinking, text, and a call when it goes on. */
export interface DemoStep {
  readonly thinking: string;
  readonly text: string;
  readonly call: { readonly name: string; readonly arguments: JsonObject } | undefined;
}

/** A call of this turn with what came of it. */
interface Done {
  readonly name: string;
  readonly arguments: JsonObject;
  readonly output: string;
  readonly isError: boolean;
}

/** What has happened since the person last asked for something. */
interface Turn {
  readonly prompt: string;
  readonly isNotice: boolean;
  /** What was said while the demo worked. */
  readonly steering: readonly string[];
  /** Those that no reply has answered yet. */
  readonly newSteering: readonly string[];
  readonly done: readonly Done[];
}

const LABEL = "This is Weir's built-in demo, not a language model: " +
  "it follows a fixed script, but its tool calls are real.";
const MOST_FILES = 2;
/** As much of a text as is searched for names and commands. */
const SEARCHED = 4_000;
const TEXT_FILE = /\.(?:md|txt|jsonc?|ya?ml|toml|[cm]?[jt]sx?|py|rs|go|c|h|java|rb|sh|css|html?)$/i;
const FILE_WORD = /[\w@./-]*[\w-]\.\w+|\b(?:README|LICENSE|Makefile|Dockerfile)\b/g;

/** The next reply. The same conversation always gets the same one. */
export function planDemoStep(request: ModelRequest): DemoStep {
  const turn = readTurn(request.messages);
  const offered = new Set(request.tools.map((tool) => tool.name));
  const steered = turn.newSteering.map((text) => `Steered: ${text}\n`).join("");
  const call = turn.isNotice ? undefined : nextCall(turn, offered);
  if (call === undefined) {
    return { thinking: "I say what I have really seen.", text: answer(turn, offered), call };
  }
  return { thinking: thought(call), text: steered, call };
}

function thought(call: NonNullable<DemoStep["call"]>): string {
  if (call.name === "ls") return "First I look at what is in the folder.";
  if (call.name === "bash") return "There is a command to run, so I run it.";
  return `I read ${String(call.arguments.path)} next.`;
}

function nextCall(turn: Turn, offered: ReadonlySet<string>): DemoStep["call"] {
  const asked = [turn.prompt, ...turn.steering];
  const commands = asked.map(commandIn).filter((command) => command !== undefined);
  const used = (name: string, key: string, value: string) =>
    turn.done.some((one) => one.name === name && one.arguments[key] === value);
  const command = commands.find((one) => !used("bash", "command", one));
  if (command !== undefined && offered.has("bash")) {
    return { name: "bash", arguments: { command } };
  }
  if (commands.length > 0 && turn.steering.length === 0) return undefined;
  if (turn.steering.some((text) => /\b(?:stop|enough|answer now)\b/i.test(text))) return undefined;
  const listing = turn.done.find((one) => one.name === "ls");
  if (listing === undefined && offered.has("ls")) return { name: "ls", arguments: { path: "." } };
  if (!offered.has("read")) return undefined;
  const path = filesToRead(turn, listing).find((one) => !used("read", "path", one));
  return path === undefined ? undefined : { name: "read", arguments: { path } };
}

/** In order of interest; steering narrows it. */
function filesToRead(turn: Turn, listing: Done | undefined): string[] {
  const entries = listing === undefined || listing.isError ? [] : entriesOf(listing.output);
  const names = entries.filter((entry) => !entry.endsWith("/"));
  const isThere = (file: string) =>
    listing === undefined || names.includes(file) || file.includes("/");
  const named = filesIn(turn.prompt).filter(isThere);
  const readme = names.filter((name) => /^readme\b/i.test(name));
  const others = names.filter((name) => TEXT_FILE.test(name) && !name.startsWith("."));
  let files = [...new Set([...named, ...readme, ...others])].slice(
    0,
    Math.max(MOST_FILES, named.length),
  );
  for (const text of turn.steering) {
    const wanted = filesIn(text);
    if (/\b(?:skip|without|don't read|do not read|no files)\b/i.test(text)) {
      files = wanted.length === 0 ? [] : files.filter((file) => !wanted.includes(file));
    } else if (/\bonly\b/i.test(text) && wanted.length > 0) files = wanted;
    else files = [...new Set([...wanted.filter(isThere), ...files])];
  }
  return files;
}

function answer(turn: Turn, offered: ReadonlySet<string>): string {
  if (turn.isNotice) return `${LABEL}\n\nA background job reported: ${firstLine(turn.prompt)}\n`;
  const parts = [...turn.steering.map((text) => `Steered: ${text}`), LABEL];
  parts.push(`You asked: "${shortened(turn.prompt, 200)}"`);
  if (turn.done.length > 0) parts.push(turn.done.map(seen).join("\n"));
  else if (offered.size === 0) parts.push("No tools are offered, so there was nothing to look at.");
  else parts.push("None of the tools that are offered was of use for that.");
  return parts.join("\n\n") + "\n";
}

/** One line about a call, of what really came back. */
function seen(done: Done): string {
  const subject = String(done.arguments.path ?? done.arguments.command ?? "");
  if (done.isError) {
    return `- ${done.name} ${subject} failed: ${shortened(firstLine(done.output), 160)}`;
  }
  if (done.name === "ls") {
    const entries = entriesOf(done.output);
    const some = entries.slice(0, 8).join(", ") + (entries.length > 8 ? ", …" : "");
    const noun = entries.length === 1 ? "entry" : "entries";
    return `- The folder has ${entries.length} ${noun}${some && `: ${some}`}`;
  }
  const first = shortened(firstLine(done.output), 160) || "(nothing)";
  if (done.name === "bash") return `- \`${subject}\` printed: ${first}`;
  return `- ${subject} begins: ${first}`;
}

/** A message right after results was sent while the demo worked; any other begins a turn. */
function readTurn(messages: readonly Message[]): Turn {
  let start = -1;
  for (const [index, message] of messages.entries()) {
    if (message.role !== "user") continue;
    if (start === -1 || !isSteering(messages, index)) start = index;
  }
  const first = messages[start];
  const calls = new Map<string, { name: string; arguments: JsonObject }>();
  const done: Done[] = [];
  const steering: string[] = [];
  let newSteering: string[] = [];
  for (const message of messages.slice(start + 1)) {
    if (message.role === "assistant") {
      newSteering = [];
      for (const call of toolCallsOf(message)) calls.set(call.id, call);
    } else if (message.role === "toolResult") {
      const call = calls.get(message.toolCallId);
      const { isError } = message;
      if (call) {
        done.push({ name: call.name, arguments: call.arguments, output: textOf(message), isError });
      }
    } else if (message.internal === undefined) {
      const text = shortened(message.display ?? textOf(message), 200);
      steering.push(text);
      newSteering.push(text);
    }
  }
  return {
    prompt: first?.role === "user" ? first.display ?? textOf(first) : "",
    isNotice: first?.role === "user" && first.internal !== undefined,
    steering,
    newSteering,
    done,
  };
}

function isSteering(messages: readonly Message[], index: number): boolean {
  for (let before = index - 1; before >= 0; before--) {
    const message = messages[before];
    if (message.role === "user") continue;
    return message.role === "toolResult" && !isInterrupted(message);
  }
  return false;
}

/** After an abort the next message is a new request. */
function isInterrupted(message: ToolResultMessage): boolean {
  return message.isError && textOf(message).startsWith("Interrupted");
}

/** A command in backticks, or what follows `run:` on its line. */
function commandIn(whole: string): string | undefined {
  const text = whole.slice(0, SEARCHED);
  const found = /`([^`\n]+)`/.exec(text)?.[1] ?? /(?:^|[\s(])run:[ \t]*([^\n]+)/i.exec(text)?.[1];
  const command = found?.trim();
  // A name in backticks is a file, not a command.
  return command === undefined || command === "" || filesIn(command)[0] === command
    ? undefined
    : command;
}

function filesIn(text: string): string[] {
  return [
    ...new Set(
      [...text.slice(0, SEARCHED).matchAll(FILE_WORD)].map(([word]) => word.replace(/^@/, "")),
    ),
  ];
}

/** The names in a listing: one a line, folders with `/`; notices in brackets are none. */
function entriesOf(listing: string): string[] {
  return listing.split("\n").map((line) => line.trim())
    .filter((line) => line !== "" && !/^[[(]/.test(line));
}

function firstLine(text: string): string {
  const line = text.split("\n", 50).find((one) => one.trim() !== "") ?? "";
  // Some readers number the lines.
  return line.replace(/^\s*\d+(?:\t|→|: )/, "").trim();
}

function shortened(text: string, length: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length).toWellFormed()}…`;
}
