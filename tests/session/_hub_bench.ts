/** A hub on a host in memory with a scripted model, whose commands are FakeCommands. Knows no wire. */

import { textOutcome, type Tool } from "../../src/agent/tool.ts";
import { CIRCLE_POLICY } from "../../src/dialects/circle/policy.ts";
import { createMemoryHost } from "../../src/memory/memory_host.ts";
import type { Command, CommandResult, OutRecord, Request } from "../../src/session/command.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import { Hub } from "../../src/session/hub.ts";
import { openConversation } from "../../src/session/open_session.ts";
import { type Settings, USUAL_SETTINGS } from "../../src/session/settings.ts";
import type { ScriptedModel } from "../fakes/scripted_model.ts";
import { FakeCommand } from "./_fake_command.ts";

const signal = new AbortController().signal;
const place = { home: "/home/.weir", workspace: "/project" };

export class HubBench implements AsyncDisposable {
  readonly hub: Hub;
  readonly events: { readonly sessionId: string; readonly event: SessionEvent }[] = [];
  /** Made by the tool `start`, in order. */
  readonly commands: FakeCommand[] = [];
  readonly #writer: WritableStreamDefaultWriter<readonly Request[]>;
  readonly #reading: Promise<void>;
  readonly #results = new Map<unknown, PromiseWithResolvers<CommandResult>>();
  readonly #watchers = new Set<() => void>();
  #lastId = 0;

  private constructor(hub: Hub, commands: FakeCommand[]) {
    this.hub = hub;
    this.commands = commands;
    this.#writer = hub.writable.getWriter();
    this.#reading = this.#read();
  }

  static async open(
    model: ScriptedModel,
    changes: Partial<Settings> = {},
  ): Promise<HubBench> {
    const host = createMemoryHost({ files: { "/project/notes.txt": "first\n" } });
    const commands: FakeCommand[] = [];
    const open = () => openConversation(host, { ...place, choice: { kind: "memory" }, signal });
    const settings: Settings = {
      host,
      ...place,
      policy: CIRCLE_POLICY,
      tools: { only: undefined, exclude: [] },
      moreTools: [createStartTool(commands)],
      prompt: { system: "", append: [], contextFiles: false },
      approvals: "allow",
      credentialPatterns: [],
      isCredentialFile: () => false,
      allowedVariables: [],
      secretVariables: [],
      redact: (text) => text,
      model,
      thinkingLevel: undefined,
      steeringMode: "all",
      followUpMode: "one-at-a-time",
      ...USUAL_SETTINGS,
      fixed: { model: true, thinking: true },
      store: place,
      isTemporary: true,
      configuredModels: () => [model],
      saveSwitch: () => Promise.resolve(),
      resolveModel: () => Promise.resolve(model),
      saveDeliveryMode: () => Promise.resolve(),
      openSession: open,
      outputFolder: async () => {
        await host.files.makeFolder("/logs", { mode: 0o700 });
        return "/logs";
      },
      removeOutput: () => Promise.resolve(),
      ...changes,
    };
    return new HubBench(new Hub({ settings, opened: await open() }), commands);
  }

  /** Carries out a command. Rejects when it is refused. */
  ask(command: Command): Promise<CommandResult> {
    const id = ++this.#lastId;
    const result = Promise.withResolvers<CommandResult>();
    this.#results.set(id, result);
    this.#writer.write([{ id, name: command.type, command }]).catch(() => {});
    return result.promise;
  }

  /** Runs a turn to its end. */
  async turn(message: string): Promise<void> {
    const settled = this.count("settled") + 1;
    await this.ask({ type: "prompt", message, whileBusy: "refuse" });
    await this.until(() => this.count("settled") === settled);
  }

  /** How many events of this type there were. */
  count(type: SessionEvent["type"]): number {
    return this.events.filter(({ event }) => event.type === type).length;
  }

  /** What subagents told, as the types of their events. */
  subagentEvents(): string[] {
    return this.events.flatMap(({ event }) => event.type === "subagent" ? [event.event.type] : []);
  }

  /** Resolves when the condition holds, which is looked at after each record. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!condition()) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  /** Closes the input and waits for the end. */
  async end(): Promise<void> {
    await this.#writer.close().catch(() => {});
    await this.hub.ended;
    await this.#reading;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.hub.stop("signal");
    await this.end();
  }

  async #read(): Promise<void> {
    for await (const records of this.hub.readable) {
      for (const record of records) this.#take(record);
      for (const look of [...this.#watchers]) look();
    }
  }

  #take(record: OutRecord): void {
    if (record.kind === "event") this.events.push(record);
    else if (record.kind === "result") this.#results.get(record.request.id)!.resolve(record.result);
    else this.#results.get(record.request.id)!.reject(record.error);
  }
}

/** Starts a command that becomes a job, as `bash` does where there are processes. */
function createStartTool(commands: FakeCommand[]): Tool {
  return {
    name: "start",
    description: "",
    parameters: { type: "object" },
    parse: () => ({ ok: true, value: undefined }),
    run: async (_args, { jobs }) => {
      const command = new FakeCommand();
      commands.push(command);
      return textOutcome(await jobs!.add(command, { kind: "shell", timeoutMs: undefined }));
    },
  };
}
