/**
 * The calls of one reply: decided, run and answered, with results in call order whatever happens. Knows tools and hooks, but no
 * approval rule and no wire.
 */

import { errorText } from "../errors.ts";
import type { AgentEvent, NotRunCause } from "./agent_event.ts";
import type { Conversation } from "./conversation.ts";
import type { CallDecision, TurnHooks } from "./hook.ts";
import type { ToolCall, ToolResultMessage } from "./message.ts";
import { errorOutcome, type Tool, type ToolContext, type ToolOutcome } from "./tool.ts";

/** The texts of results that the loop makes itself; dialects differ in them. */
export interface TurnTexts {
  unknownTool(name: string): string;
  badArguments(name: string, problem: string): string;
  /** `partial` is what the call had produced; `begun` is false for calls that were never taken up. */
  interrupted(call: { begun: boolean; durationMs: number; partial: string }): string;
}

export interface ToolRunOptions {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly conversation: Conversation;
  readonly hooks: TurnHooks;
  readonly texts: TurnTexts;
  readonly exitCodeIsError: boolean;
  readonly signal: AbortSignal;
  /** The context of a call, but for what belongs to the call itself. */
  readonly context: Omit<ToolContext, "callId" | "signal" | "onOutput">;
  emit(event: AgentEvent): Promise<void> | undefined;
}

/** Carries out the calls; every one has a stored result and a `call_end` when it resolves. Never throws for a tool's failure. */
export async function runTools(calls: readonly ToolCall[], options: ToolRunOptions): Promise<void> {
  for (const group of splitGroups(calls, options)) {
    if (options.signal.aborted) {
      for (const planned of group) await finishCall(planned, notBegun(), options);
      continue;
    }
    const startedAt: number[] = [];
    for (const { call } of group) {
      startedAt.push(Date.now());
      await options.emit({ type: "call_start", call });
    }
    const running: Promise<CallEnd>[] = [];
    for (const [i, planned] of group.entries()) {
      const decision = await decide(planned, options);
      const how = { decision, inGroup: group.length > 1, startedAt: startedAt[i]! };
      // The failure of one call must not surface as an unhandled rejection while an earlier one is awaited.
      const end = startCall(planned, how, options);
      end.catch(() => {});
      running.push(end);
    }
    for (const [i, end] of running.entries()) await finishCall(group[i]!, await end, options);
  }
}

/** A call with the tool that it names and its arguments as far as they are good. */
interface PlannedCall {
  readonly call: ToolCall;
  readonly tool: Tool | undefined;
  readonly parsed: { readonly ok: true; readonly value: unknown } | {
    readonly ok: false;
    readonly problem: string;
  };
}

interface CallEnd {
  /** Of an interrupted call: what it had produced. */
  readonly outcome: ToolOutcome;
  readonly cause: NotRunCause | undefined;
  readonly begun: boolean;
  readonly startedAt: number;
}

function splitGroups(calls: readonly ToolCall[], options: ToolRunOptions): PlannedCall[][] {
  const groups: PlannedCall[][] = [];
  let previous: Tool["group"];
  for (const call of calls) {
    const planned = planCall(call, options);
    const group = call.argumentsError === undefined ? planned.tool?.group : undefined;
    if (group !== undefined && group === previous) groups.at(-1)!.push(planned);
    else groups.push([planned]);
    previous = group;
  }
  return groups;
}

function planCall(call: ToolCall, options: ToolRunOptions): PlannedCall {
  const tool = options.tools.get(call.name);
  if (tool === undefined) return { call, tool, parsed: { ok: false, problem: "" } };
  if (call.argumentsError !== undefined) {
    return { call, tool, parsed: { ok: false, problem: call.argumentsError } };
  }
  return { call, tool, parsed: tool.parse(call.arguments) };
}

async function decide(planned: PlannedCall, options: ToolRunOptions): Promise<CallDecision> {
  const { call, tool, parsed } = planned;
  if (tool === undefined) {
    return { run: false, cause: "unknown_tool", text: options.texts.unknownTool(call.name) };
  }
  if (!parsed.ok) {
    const text = options.texts.badArguments(call.name, parsed.problem);
    return { run: false, cause: "bad_arguments", text };
  }
  try {
    const decision = await options.hooks.beforeCall(call, tool, call.arguments, options.signal);
    if (!decision.run && decision.reason !== undefined) {
      await options.emit({ type: "call_not_run", call, reason: decision.reason });
    }
    return decision;
  } catch (error) {
    if (options.signal.aborted) return { run: false, cause: "interrupted", text: "" };
    return { run: false, cause: "refused", text: errorText(error) };
  }
}

async function startCall(
  planned: PlannedCall,
  how: { decision: CallDecision; inGroup: boolean; startedAt: number },
  options: ToolRunOptions,
): Promise<CallEnd> {
  const { call, tool, parsed } = planned;
  const { signal } = options;
  const { startedAt } = how;
  if (!how.decision.run) {
    const { cause, text } = how.decision;
    return { outcome: errorOutcome(text), cause, begun: true, startedAt };
  }
  options.emit({ type: "tool_start", call, args: call.arguments });
  let afterAbort = 0;
  const context: ToolContext = {
    ...options.context,
    callId: call.id,
    signal,
    onOutput: (delta) => {
      if (how.inGroup) return undefined;
      // After an abort nobody is waited for, so a command that floods its output must not fill the memory until it is gone.
      if (signal.aborted && (afterAbort += delta.length) > MAX_OUTPUT_AFTER_ABORT) return undefined;
      return options.emit({ type: "tool_output", callId: call.id, name: call.name, delta });
    },
  };
  const outcome = await runTool(tool!, parsed.ok ? parsed.value : undefined, context);
  // A call that came to its end in spite of the abort has a true result: what it did is done.
  if (outcome !== "interrupted" && outcome.details?.interrupted !== true) {
    return { outcome, cause: undefined, begun: true, startedAt };
  }
  const produced = outcome === "interrupted" ? errorOutcome("") : outcome;
  return { outcome: produced, cause: "interrupted", begun: true, startedAt };
}

/** Characters of a call's output that are still told when it is being stopped. */
const MAX_OUTPUT_AFTER_ABORT = 1024 * 1024;

async function runTool(
  tool: Tool,
  args: unknown,
  context: ToolContext,
): Promise<ToolOutcome | "interrupted"> {
  const { signal } = context;
  const overdue = waitForAbort(signal, ABORT_PATIENCE_MS);
  try {
    return await Promise.race([tool.run(args, context), overdue.promise]);
  } catch (error) {
    if (signal.aborted) return "interrupted";
    return errorOutcome(errorText(error));
  } finally {
    overdue.cancel();
  }
}

/** A tool ends within a second after an abort. One that does not, say a server of somebody else's, is left behind after this long. */
const ABORT_PATIENCE_MS = 5000;

/** Rejects `afterMs` after the abort. */
function waitForAbort(
  signal: AbortSignal,
  afterMs: number,
): { promise: Promise<never>; cancel(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onAbort = () => timer = setTimeout(() => reject(signal.reason), afterMs);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return {
    promise,
    cancel() {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    },
  };
}

function notBegun(): CallEnd {
  return { outcome: errorOutcome(""), cause: "interrupted", begun: false, startedAt: Date.now() };
}

function textOfOutcome(outcome: ToolOutcome): string {
  return outcome.content.map((block) => block.type === "text" ? block.text : "").join("");
}

async function finishCall(
  planned: PlannedCall,
  end: CallEnd,
  options: ToolRunOptions,
): Promise<void> {
  const { call } = planned;
  const durationMs = Math.max(1, Date.now() - end.startedAt);
  const outcome = end.cause === "interrupted"
    ? errorOutcome(
      options.texts.interrupted({
        begun: end.begun,
        durationMs,
        partial: textOfOutcome(end.outcome),
      }),
    )
    : end.outcome;
  const exitCode = outcome.details?.exitCode;
  const failedCommand = options.exitCodeIsError && typeof exitCode === "number" && exitCode !== 0;
  let message: ToolResultMessage = {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: outcome.content,
    isError: outcome.isError || failedCommand,
    timestamp: Date.now(),
    durationMs,
    ...(outcome.details === undefined ? {} : { details: outcome.details }),
    ...(end.cause === "bad_arguments" || end.cause === "unknown_tool" ? { recoverable: true } : {}),
  };
  message = await options.hooks.afterCall(call, message);
  const id = options.conversation.append(message);
  await options.emit({ type: "call_end", id, call, message, begun: end.begun, cause: end.cause });
}
