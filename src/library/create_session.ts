/** Opens a session in this process. */

import { Hub } from "../session/hub.ts";
import { type AgentSession, HubSession } from "./agent_session.ts";
import { type AgentOptions, openAgent } from "./open_agent.ts";
import { LIBRARY_POLICY } from "./policy.ts";

/**
 * Opens a conversation with an agent in this process. Throws `StartError` when its folder or its conversation cannot be opened. The caller
 * disposes the result.
 *
 * @example A turn with tool calls, all in memory
 * ```ts
 * import { createDemoModel, createMemoryHost, createSession } from "@weir/weir";
 *
 * const host = createMemoryHost({ files: { "/workspace/README.md": "# Kettle\n" } });
 * await using session = await createSession({ model: createDemoModel(), host });
 * const events = session.events();
 * const end = await session.prompt("What is this project?");
 * if (end.outcome !== "answered" || !end.answer.includes("Kettle")) throw new Error("no answer");
 *
 * const calls: string[] = [];
 * for await (const event of events) {
 *   if (event.type === "call_end") calls.push(event.call.name);
 *   if (event.type === "settled") break;
 * }
 * if (calls.join() !== "ls,read") throw new Error(`unexpected calls: ${calls}`);
 * ```
 */
export async function createSession(options: AgentOptions): Promise<AgentSession> {
  const signal = new AbortController().signal;
  return new HubSession(new Hub(await openAgent(options, { policy: LIBRARY_POLICY, signal })));
}
