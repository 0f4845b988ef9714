/**
 * The tool `task`: gives a piece of work to a subagent, which has a conversation of its own in memory. Its usage is recorded in the session that
 * asked.
 */

import type { JsonObject } from "../agent/message.ts";
import {
  errorOutcome,
  textOutcome,
  type Tool,
  type ToolContext,
  type ToolOutcome,
} from "../agent/tool.ts";
import { errorText } from "../errors.ts";
import { parseArguments } from "../tools/arguments.ts";
import { takeLogName } from "../tools/shell_run.ts";
import type { CallHooks } from "./extend.ts";
import type { CallAsker } from "./client_help.ts";
import type { Settings } from "./settings.ts";
import { Subagent } from "./subagent.ts";
import type { BaseToolContext, WorkshopCustomer } from "./workshop.ts";

/** What subagents are made with. */
export interface SubagentKit {
  readonly settings: Settings;
  readonly customer: WorkshopCustomer;
  readonly runTurn: typeof import("../agent/run_turn.ts").runTurn;
  readonly toolContext: BaseToolContext;
  /** For the subagent that is given. */
  createCallHooks(asker: CallAsker): CallHooks;
  /** All tools but `task`. */
  readonly tools: ReadonlyMap<string, Tool>;
}

const PARAMETERS: JsonObject = {
  type: "object",
  properties: {
    description: { type: "string", minLength: 1, description: "The task in three to five words" },
    prompt: {
      type: "string",
      minLength: 1,
      description: "All that the subagent must know; it sees nothing else",
    },
    subagent_type: {
      type: "string",
      enum: ["general", "explore"],
      description: "general (default) has your tools; explore only reads",
    },
    background: { type: "boolean", description: "Return at once and be told when it has ended" },
  },
  required: ["description", "prompt"],
  additionalProperties: false,
};

export function createTaskTool(kit: SubagentKit): Tool<JsonObject> {
  return {
    name: "task",
    description:
      "Gives a self-contained piece of work to a subagent and returns its answer. Several calls in one reply run at the same time.",
    parameters: PARAMETERS,
    group: "task",
    parse: (args) => parseArguments(PARAMETERS, args),
    run: (args, context) =>
      args.background === true
        ? runInBackground(args, kit)
        : runInForeground(args, { kit, context }),
  };
}

function createSubagent(args: JsonObject, kit: SubagentKit): Subagent {
  const kind = args.subagent_type === "explore" ? "explore" : "general";
  return new Subagent({ kit, kind, prompt: String(args.prompt) });
}

async function runInForeground(
  args: JsonObject,
  { kit, context }: { kit: SubagentKit; context: ToolContext },
): Promise<ToolOutcome> {
  const subagent = createSubagent(args, kit);
  subagent.callId = context.callId;
  if (kit.settings.policy.output === "snapshots") {
    subagent.onText = (delta) => void context.onOutput(delta);
  }
  try {
    return textOutcome(await subagent.run(context.signal));
  } catch (error) {
    context.signal.throwIfAborted();
    return errorOutcome(`The subagent failed: ${errorText(error)}`);
  }
}

async function runInBackground(args: JsonObject, kit: SubagentKit): Promise<ToolOutcome> {
  const { customer: { jobs, sessionId }, settings } = kit;
  const reserved = jobs.reserveAgent();
  if (typeof reserved === "string") return errorOutcome(reserved);
  using _room = reserved;
  const { host } = settings;
  const { logPath, log } = await jobs.prepareInOrder(async () => {
    const logPath = host.paths.join(await settings.outputFolder(), takeLogName());
    return { logPath, log: await host.files.openAppend(logPath, { mode: 0o600 }) };
  });
  const subagent = createSubagent(args, kit);
  const stopper = new AbortController();
  const begin = Promise.withResolvers<void>();
  const answer = begin.promise.then(() => subagent.run(stopper.signal)).then((text) => {
    log.write(new TextEncoder().encode(text + "\n"));
    return text;
  }).finally(() => log.close());
  const job = jobs.addAgent({
    title: `${subagent.kind}: ${String(args.description)}`,
    logPath,
    answer,
    stop: async () => {
      stopper.abort(new Error("The subagent was stopped"));
      await answer.catch(() => {});
    },
  }, { sessionId, subagent: undefined });
  subagent.onStep = job.updated;
  subagent.jobId = job.id;
  begin.resolve();
  return textOutcome(`In background: ${job.line}`);
}
