/**
 * Workshop: everything a turn works with, made when the first turn wants it: the loop, the tools, the system prompt, the approvals. Loading it
 * late keeps the first response fast.
 */

import type { TurnHooks } from "../agent/hook.ts";
import type { TurnSetting } from "../agent/run_turn.ts";
import type { Tool, ToolContext } from "../agent/tool.ts";
import { isCredentialFile } from "./approvals/credential_files.ts";
import type { Settings } from "./settings.ts";

export interface OpenWorkshop {
  readonly runTurn: typeof import("../agent/run_turn.ts").runTurn;
  readonly toolContext: Omit<ToolContext, "callId" | "signal" | "onOutput">;
  readonly decideCall: TurnHooks["beforeCall"];
  setting(): Promise<TurnSetting>;
}

export class Workshop {
  readonly #settings: Settings;
  #opened: Promise<OpenWorkshop> | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Loads what turns need; the second call finds it ready. */
  open(): Promise<OpenWorkshop> {
    this.#opened ??= this.#load();
    return this.#opened;
  }

  async #load(): Promise<OpenWorkshop> {
    const settings = this.#settings;
    const { host, workspace } = settings;
    const [{ runTurn }, { decideCall }, { chooseTools }, { readSystemPrompt }] = await Promise.all([
      import("../agent/run_turn.ts"),
      import("./approvals/decide_call.ts"),
      import("./choose_tools.ts"),
      import("./system_prompt.ts"),
    ]);
    const isCredential = (path: string) =>
      isCredentialFile(path, { patterns: settings.credentialPatterns });
    const tools: ReadonlyMap<string, Tool> = await chooseTools(settings);
    let systemPrompt: Promise<string> | undefined;
    return {
      runTurn,
      toolContext: {
        host,
        workspace,
        isCredentialFile: isCredential,
        outputFolder: settings.outputFolder,
        allowedVariables: settings.allowedVariables,
        secretVariables: settings.secretVariables,
      },
      decideCall: (call, _tool, args) =>
        decideCall({ name: call.name, args }, { settings, isCredentialFile: isCredential }),
      setting: async () => ({
        model: settings.model,
        thinkingLevel: settings.thinkingLevel,
        systemPrompt: await (systemPrompt ??= readSystemPrompt(settings, [...tools.keys()])),
        tools,
      }),
    };
  }
}
