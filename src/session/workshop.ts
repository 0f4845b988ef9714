/**
 * Workshop: everything a turn works with, made when the first turn wants it: the loop, the tools, the system prompt, the approvals. Loading it
 * late keeps the first response fast.
 */

import type { WatchOutput } from "../agent/run_tools.ts";
import type { TurnSetting } from "../agent/run_turn.ts";
import type { Tool, ToolContext } from "../agent/tool.ts";
import { type CallHooks, extendCallHooks, extendModel } from "./extend.ts";
import type { CallAsker } from "./client_help.ts";
import type { Compactor } from "./compactor.ts";
import type { SessionEvent } from "./event.ts";
import type { EndedJob, Jobs } from "./jobs.ts";
import type { Settings } from "./settings.ts";
import type { Transcript } from "./transcript.ts";

export type BaseToolContext = Omit<ToolContext, "callId" | "signal" | "onOutput">;

/** What the turns of one session work with. */
export interface TurnKit {
  readonly runTurn: typeof import("../agent/run_turn.ts").runTurn;
  readonly toolContext: BaseToolContext;
  readonly callHooks: CallHooks;
  readonly compactor: Compactor;
  readonly watchOutput: WatchOutput | undefined;
  setting(): Promise<TurnSetting>;
}

/** What the workshop must know of a session. */
export interface WorkshopCustomer {
  readonly sessionId: string;
  readonly transcript: Transcript;
  readonly jobs: Jobs;
  /** Ids of the subagents that run; they add and remove themselves. */
  readonly subagents: Set<string>;
  /** Removes and returns the waiting notices that the filter takes. */
  takeNotices(filter: (job: EndedJob) => boolean): readonly EndedJob[];
  emit(event: SessionEvent): Promise<void> | undefined;
}

export class Workshop {
  readonly #settings: Settings;
  #systemPrompt: { readonly workspace: string; readonly text: Promise<string> } | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Read once for a workspace. */
  #readPrompt(read: () => Promise<string>): Promise<string> {
    const { workspace } = this.#settings;
    if (this.#systemPrompt?.workspace !== workspace) {
      this.#systemPrompt = { workspace, text: read() };
    }
    return this.#systemPrompt.text;
  }

  /** Loads what turns need and makes the tools of a session. */
  async equip(customer: WorkshopCustomer): Promise<TurnKit> {
    const settings = this.#settings;
    const { host, workspace } = settings;
    const [
      { runTurn },
      { decideCall },
      { createTools, chooseTools },
      { readSystemPrompt },
      { Compactor },
      { shortenResult },
    ] = await Promise
      .all([
        import("../agent/run_turn.ts"),
        import("./approvals/decide_call.ts"),
        import("./choose_tools.ts"),
        import("./system_prompt.ts"),
        import("./compactor.ts"),
        import("./shorten_result.ts"),
      ]);
    const toolContext: BaseToolContext = {
      host,
      workspace,
      isCredentialFile: settings.isCredentialFile,
      outputFolder: settings.outputFolder,
      allowedVariables: settings.allowedVariables,
      secretVariables: settings.secretVariables,
      ...(settings.policy.describeCommand === undefined
        ? {}
        : { describeCommand: settings.policy.describeCommand }),
      jobs: customer.jobs.forOwner({ sessionId: customer.sessionId, subagent: undefined }),
    };
    const createCallHooks = (asker?: CallAsker) =>
      extendCallHooks({
        beforeCall: (call, _tool, args, signal) =>
          decideCall(call, args, { settings, asker, signal }),
        afterCall: (_call, result) => shortenResult(result, settings),
      }, settings.extensions);
    const all = await createTools({ settings, customer, runTurn, toolContext, createCallHooks });
    const tools: ReadonlyMap<string, Tool> = chooseTools(all, settings);
    let systemPrompt: Promise<string> | undefined;
    return {
      runTurn,
      toolContext,
      callHooks: createCallHooks(),
      compactor: new Compactor({ settings, customer }),
      watchOutput: settings.policy.output === "snapshots"
        ? (await import("./watch_output.ts")).watchOutput
        : undefined,
      setting: async () => ({
        model: extendModel(settings.model, settings.extensions),
        thinkingLevel: settings.thinkingLevel,
        systemPrompt:
          await (systemPrompt ??= this.#readPrompt(() =>
            readSystemPrompt(settings, [...tools.keys()])
          )),
        tools,
      }),
    };
  }
}
