/** Subagent: one turn in a conversation of its own, in memory, with tools of its own. Tells what it does through its parent's session. */

import type { Conversation } from "../agent/conversation.ts";
import type { TurnHooks } from "../agent/hook.ts";
import { type Message, textOf } from "../agent/message.ts";
import { pairCalls } from "../agent/pair_calls.ts";
import type { Tool } from "../agent/tool.ts";
import { errorText } from "../errors.ts";
import { extendModel } from "./extend.ts";
import type { SubagentEvent } from "./event.ts";
import { createWaitJobsTool } from "./job_tools.ts";
import type { EndedJob } from "./jobs.ts";
import { createNoticeMessage } from "./notices.ts";
import { createSessionId } from "./session_id.ts";
import { createSubagentPrompt } from "./system_prompt.ts";
import type { SubagentKit } from "./task_tool.ts";
import { LOST_RESULT } from "./transcript.ts";

const EXPLORE_TOOLS = ["read", "ls", "find", "grep", "list_jobs", "stop_job"];

/** Messages that nobody keeps. */
class MemoryConversation implements Conversation {
  readonly #messages: Message[] = [];
  #lastId = 0;

  requestMessages(): readonly Message[] {
    return pairCalls(this.#messages, { missingText: LOST_RESULT });
  }

  reserveId(): string {
    return `m${++this.#lastId}`;
  }

  append(message: Message, options?: { id: string }): string {
    this.#messages.push(message);
    return options?.id ?? this.reserveId();
  }
}

export class Subagent {
  /** Unique in the process. */
  readonly id = createSessionId();
  readonly kind: "general" | "explore";
  /** Set for one that runs in the background. */
  jobId: string | undefined;
  /** Set for one that is waited for: the id of the `task` call. */
  callId: string | undefined;
  onStep: () => void = () => {};
  onText: (delta: string) => void = () => {};
  readonly #kit: SubagentKit;
  readonly #prompt: string;
  readonly #conversation = new MemoryConversation();

  constructor(options: { kit: SubagentKit; kind: "general" | "explore"; prompt: string }) {
    this.#kit = options.kit;
    this.kind = options.kind;
    this.#prompt = options.prompt;
  }

  /** Runs to its answer. Throws when it failed or was aborted; its jobs end with it in any case. */
  async run(signal: AbortSignal): Promise<string> {
    const { jobs, subagents } = this.#kit.customer;
    subagents.add(this.id);
    this.#emit({ type: "subagent_start", message: this.#prompt });
    this.#conversation.append({
      role: "user",
      content: [{ type: "text", text: this.#prompt }],
      timestamp: Date.now(),
    });
    try {
      return await this.#runTurn(signal);
    } catch (error) {
      this.#emit({
        type: "subagent_error",
        message: errorText(error),
        interrupted: signal.aborted,
      });
      throw error;
    } finally {
      await jobs.stopAll("parent ended", (_job, owner) => owner.subagent === this.id);
      subagents.delete(this.id);
    }
  }

  async #runTurn(signal: AbortSignal): Promise<string> {
    const { settings, customer, runTurn, toolContext } = this.#kit;
    const { policy } = settings;
    const tools = this.#tools();
    const systemPrompt = await createSubagentPrompt(settings, {
      kind: this.kind,
      toolNames: [...tools.keys()],
    });
    const result = await runTurn({
      sessionId: this.id,
      conversation: this.#conversation,
      hooks: this.#hooks(),
      texts: policy.texts,
      exitCodeIsError: policy.exitCodeIsError,
      emptyAnswer: policy.emptyAnswer,
      lengthCut: policy.lengthCut,
      toolContext: {
        ...toolContext,
        jobs: customer.jobs.forOwner({ sessionId: customer.sessionId, subagent: this.id }),
      },
      signal,
      setting: () =>
        Promise.resolve({
          model: extendModel(settings.model, settings.extensions),
          thinkingLevel: settings.thinkingLevel,
          systemPrompt,
          tools,
        }),
      emit: (event) => {
        if (event.type === "step_start") this.onStep();
        if (event.type === "text_delta") this.onText(event.delta);
        if (
          event.type === "reply_end" && event.message.usage !== undefined &&
          event.message.receipt !== undefined
        ) {
          const { usage, receipt } = event.message;
          customer.transcript.recordUsage("subagent", { usage, receipt });
        }
        return this.#emit(event);
      },
    });
    signal.throwIfAborted();
    if (result.outcome !== "answered") {
      throw new Error(result.outcome === "failed" ? result.error : "Interrupted");
    }
    this.#emit({ type: "subagent_end", answer: result.answer, usage: result.usage });
    return result.answer;
  }

  #tools(): ReadonlyMap<string, Tool> {
    const { tools, customer, settings } = this.#kit;
    const wait = createWaitJobsTool(customer.jobs, {
      subagent: this.id,
      take: (isWanted) => customer.takeNotices((job) => this.#owns(job) && isWanted(job.record.id)),
      describe: (jobs) =>
        textOf(
          createNoticeMessage(jobs, {
            source: settings.policy.noticeSource,
            redact: settings.redact,
          }),
        ),
    });
    const chosen = this.kind === "explore"
      ? EXPLORE_TOOLS.map((name) => tools.get(name)).filter((tool) => tool !== undefined)
      : [...tools.values()];
    return new Map([...chosen, wait as Tool].map((tool) => [tool.name, tool]));
  }

  #hooks(): TurnHooks {
    const { createCallHooks, customer, settings } = this.#kit;
    return {
      beforeRequest: () => {
        const jobs = customer.takeNotices((job) => this.#owns(job));
        if (jobs.length > 0) {
          const { policy, redact } = settings;
          this.#conversation.append(
            createNoticeMessage(jobs, { source: policy.noticeSource, redact }),
          );
        }
        return Promise.resolve();
      },
      beforeEnd: () => Promise.resolve(),
      goesOn: () => false,
      ...createCallHooks({ id: this.id, name: this.kind }),
      makeRoom: () => Promise.resolve(false),
    };
  }

  #owns(job: EndedJob): boolean {
    return job.owner.subagent === this.id;
  }

  #emit(event: SubagentEvent): Promise<void> | undefined {
    const { id: subagent, kind: name, jobId, callId } = this;
    const tags = { subagent, name, jobId, callId };
    return this.#kit.customer.emit({ type: "subagent", tags, event });
  }
}
