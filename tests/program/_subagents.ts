/** Models that say something else in each conversation, and short forms for what subagents do. It starts nothing itself. */

import type { RecordedRequest } from "../fakes/model_server.ts";
import type { Reply } from "../fakes/reply.ts";
import { allOf, type Circle, saidIn, type WireRecord } from "./_with_circle.ts";

/** Replies by the first words of a conversation, one list each. */
export type Scripts = Record<string, (Reply | ((request: RecordedRequest) => Reply))[]>;

/** Answers each conversation from its own list; a conversation without a reply is a failure. */
export function answerFrom(scripts: Scripts) {
  return (request: RecordedRequest): Reply => {
    const reply = scripts[firstWords(request)]?.shift();
    if (reply === undefined) throw new Error(`nothing to say to ${firstWords(request)}`);
    return typeof reply === "function" ? reply(request) : reply;
  };
}

/** The first message of the conversation that a request belongs to. */
export function firstWords(request: RecordedRequest): string {
  return saidIn(request)[0].replace("user: ", "");
}

/** A call of `task` by the id `id`, described as `do <id>`. */
export function task(id: string, prompt: string, more: Record<string, unknown> = {}) {
  return { id, name: "task", args: { description: `do ${id}`, prompt, ...more } };
}

/** The requests of the conversation that began with these words. */
export function requestsOf(circle: Circle, prompt: string): RecordedRequest[] {
  return circle.server.requests.filter((request) => firstWords(request) === prompt);
}

/** The tools that a request offers, sorted. */
export function toolNames(request: RecordedRequest): string[] {
  const tools = request.body.tools as { function: { name: string } }[];
  return tools.map((tool) => tool.function.name).sort();
}

/** The events of this name that subagents had. */
export function subagentEvents(records: readonly WireRecord[], event: string): WireRecord[] {
  return allOf(records, "subagent_event").filter((record) => record.event === event);
}
