/** What one extension registers, checked while its function runs. Knows no module and no session. */

import type { Tool } from "../agent/tool.ts";
import { BUILT_IN_TOOL_NAMES, isToolName } from "../agent/tool_name.ts";
import { version } from "../version.ts";
import type { ExtensionApi, ExtensionTool } from "./extension_api.ts";
import { createExtensionTool } from "./extension_tool.ts";

type HookOf<Name extends "onToolCall" | "onModelRequest" | "onSessionStart" | "onSessionEnd"> =
  Parameters<ExtensionApi[Name]>[0];

export interface RegistrationOptions {
  /** The extension's name in lines on stderr. */
  readonly name: string;
  readonly workspace: string;
  /** Names that no tool may have besides the built-in ones. */
  readonly taken: ReadonlySet<string>;
  warn(line: string): void;
}

/** Takes what an extension registers until it is closed. */
export class Registration {
  readonly name: string;
  readonly tools: Tool[] = [];
  readonly toolCall: HookOf<"onToolCall">[] = [];
  readonly modelRequest: HookOf<"onModelRequest">[] = [];
  readonly sessionStart: HookOf<"onSessionStart">[] = [];
  readonly sessionEnd: HookOf<"onSessionEnd">[] = [];
  /** What the extension's function is called with. */
  readonly api: ExtensionApi;
  readonly #taken: ReadonlySet<string>;
  #closed = false;

  constructor(options: RegistrationOptions) {
    const { name, workspace, warn } = options;
    this.name = name;
    this.#taken = options.taken;
    this.api = Object.freeze<ExtensionApi>({
      version,
      workspace,
      addTool: (tool) => this.#addTool(tool),
      onToolCall: (hook) => {
        const isHook = typeof hook === "object" && hook !== null &&
          [hook.before, hook.after].every((part) => part === undefined || isFunction(part));
        this.#check("onToolCall", isHook ? undefined : "takes an object with before or after");
        this.toolCall.push(hook);
      },
      onModelRequest: (hook) => {
        this.#check("onModelRequest", isFunction(hook) ? undefined : "takes a function");
        this.modelRequest.push(hook);
      },
      onSessionStart: (hook) => {
        this.#check("onSessionStart", isFunction(hook) ? undefined : "takes a function");
        this.sessionStart.push(hook);
      },
      onSessionEnd: (hook) => {
        this.#check("onSessionEnd", isFunction(hook) ? undefined : "takes a function");
        this.sessionEnd.push(hook);
      },
      log: (text) => {
        for (const line of String(text).split("\n")) warn(`${name}: ${line}`);
      },
    });
  }

  /** From now on nothing can be registered. */
  close(): void {
    this.#closed = true;
  }

  #addTool(tool: ExtensionTool): void {
    this.#check("addTool", problemOf(tool));
    const isTaken = BUILT_IN_TOOL_NAMES.has(tool.name) || this.#taken.has(tool.name) ||
      this.tools.some(({ name }) => name === tool.name);
    if (isTaken) {
      throw new Error(`Cannot add the tool ${tool.name}: the name is taken, use another one`);
    }
    this.tools.push(createExtensionTool(tool));
  }

  #check(method: string, problem: string | undefined): void {
    if (problem !== undefined) throw new TypeError(`${method} ${problem}`);
    if (!this.#closed) return;
    throw new Error(`Cannot call ${method}: the extension is loaded, call it before that`);
  }
}

function problemOf(tool: ExtensionTool): string | undefined {
  if (typeof tool !== "object" || tool === null) return "takes an object";
  if (typeof tool.name !== "string" || !isToolName(tool.name)) {
    return "needs a name of 1 to 64 letters, digits, _ and -";
  }
  if (typeof tool.description !== "string") return "needs a description";
  if (!isFunction(tool.run)) return "needs a function run";
  return undefined;
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}
