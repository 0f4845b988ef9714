/**
 * The calls of one reply: decided, run and answered, with results in call order whatever happens. Knows tools and hooks, but no
 * approval rule and no wire.
 */

import { errorText, type ModelError } from "../errors.ts";
import type { AgentEvent, NotRunCause } from "./agent_event.ts";
import type { Conversation } from "./conversation.ts";
import type { CallVerdict, TurnHooks } from "./hook.ts";
import { keepResult, type ResultKeeping } from "./keep_result.ts";
import type { ToolCall, ToolResultMessage } from "./message.ts";
import {
  errorOutcome,
  type Tool,
  type ToolContext,
  type ToolOutcome,
  type ToolSnapshot,
} from "./tool.ts";

/** The texts of results that the loop makes itself; dialects differ in them. */
export interface TurnTexts {
  unknownTool(name: string): string;
  /** `isJson`: the arguments could be read, but are not what the tool takes. */
  badArguments(name: string, problem: string, arguments_: { isJson: boolean }): string;
  /** `partial` is what the call had produced; `begun` is false for calls that were never taken up. */
  interrupted(call: { begun: boolean; durationMs: number; partial: string }): string;
  /** Stands for an image that the model cannot see; without it the endpoint's code has words of its own. */
  imageNote?(model: string): string;
  /** Error text of a reply that was given up because the turn was stopped; without it there is none. */
  readonly abortedReply?: string;
  /** Error text of a reply whose request failed; without it the error's own. */
  failedReply?(error: ModelError): string;
  /** Result of calls of a reply that was cut off by its length limit; without it they run. */
  readonly cutOffCall?: string;
}

/** Turns what a call writes into snapshots of what it has produced. Disposed when the call has ended. */
export interface OutputWatcher extends Disposable {
  /** A returned promise asks to wait before more is produced. */
  add(delta: string): Promise<void> | undefined;
}

/** Makes the watcher of a call; `tell` gets each snapshot. */
export type WatchOutput = (
  tell: (snapshot: ToolSnapshot) => Promise<void> | undefined,
) => OutputWatcher;

export interface ToolRunOptions {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly conversation: Conversation;
  readonly hooks: TurnHooks;
  readonly texts: TurnTexts;
  readonly exitCodeIsError: boolean;
  /** Whether all calls of a reply are announced before the first one runs, or each when it is taken up. */
  readonly announceCalls: "first" | "each";
  /** Whether calls that only read do not wait while somebody is asked about an earlier one. */
  readonly readsWhileAsked?: boolean | undefined;
  /** Why no call may run; each gets this text as its error. */
  readonly refusal?: string | undefined;
  /** Clients are told snapshots of output instead of its pieces. */
  readonly watchOutput?: WatchOutput | undefined;
  readonly signal: AbortSignal;
  /** The context of a call, but for what belongs to the call itself. */
  readonly context: Omit<ToolContext, "callId" | "signal" | "onOutput">;
  emit(event: AgentEvent): Promise<void> | undefined;
}

/**
 * Carries out the calls; every one has a stored result and a `call_end` when it resolves. Never throws for a tool's failure. When a result
 * cannot be stored, no further call begins; it throws why when every call has its `call_end`.
 */
export async function runTools(calls: readonly ToolCall[], options: ToolRunOptions): Promise<void> {
  const groups = splitGroups(calls, options);
  const planned = groups.flat();
  const run: ToolRun = {
    options,
    ended: new Map(),
    keepsLater: options.announceCalls === "first",
    conversation: options.conversation,
    unkept: undefined,
  };
  if (run.keepsLater) await announce(planned, run);
  const waiting = [...groups];
  const isUnique = new Set(calls.map((call) => call.id)).size === calls.length;
  // Results of calls with the same id are told apart by their order.
  const mayPass = options.readsWhileAsked === true && isUnique;
  const runReads = async () => {
    for (let i = 0; mayPass && i < waiting.length;) {
      if (waiting[i]![0]!.tool?.group !== "read") i++;
      else await runGroup(waiting.splice(i, 1)[0]!, { whileAsked: async () => {} }, run);
    }
  };
  for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
    await runGroup(group, { whileAsked: runReads }, run);
  }
  if (run.keepsLater) {
    for (const call of planned) await keepCall(call, run.ended.get(call)!, run);
  }
  if (run.unkept !== undefined) throw run.unkept.error;
}

/** The calls of one reply, while they run. */
interface ToolRun extends ResultKeeping {
  readonly options: ToolRunOptions;
  /** Those that have ended. */
  readonly ended: Map<PlannedCall, FinishedCall>;
  /** Results are stored when every call has ended, in call order; otherwise each as soon as it is its turn. */
  readonly keepsLater: boolean;
}

/** Tells of all calls before the first one runs; those that cannot run end at once. */
async function announce(planned: readonly PlannedCall[], run: ToolRun): Promise<void> {
  const { options, ended } = run;
  for (const call of planned) {
    await options.emit({ type: "call_start", call: call.call });
    const refusal = decideAtOnce(call, options);
    if (refusal !== undefined) ended.set(call, await endCall(call, notRun(refusal), options));
  }
}

async function runGroup(
  group: readonly PlannedCall[],
  { whileAsked }: { whileAsked: () => Promise<void> },
  run: ToolRun,
): Promise<void> {
  const { options, ended, keepsLater } = run;
  const finish = async (planned: PlannedCall, end: FinishedCall) => {
    ended.set(planned, end);
    if (!keepsLater) await keepCall(planned, end, run);
  };
  const open = group.filter((planned) => !ended.has(planned));
  if (options.signal.aborted || run.unkept !== undefined) {
    for (const planned of open) await finish(planned, await endCall(planned, notBegun(), options));
    return;
  }
  const startedAt: number[] = [];
  for (const { call } of open) {
    startedAt.push(Date.now());
    if (!keepsLater) await options.emit({ type: "call_start", call });
  }
  const running: Promise<FinishedCall>[] = [];
  for (const [i, planned] of open.entries()) {
    const decision = await decide(planned, { whileAsked }, options);
    const how = { decision, inGroup: group.length > 1, startedAt: startedAt[i]! };
    // The failure of one call must not surface as an unhandled rejection while an earlier one is awaited.
    const end = startCall(planned, how, options).then((ran) => endCall(planned, ran, options));
    end.catch(() => {});
    running.push(end);
  }
  for (const [i, end] of running.entries()) await finish(open[i]!, await end);
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
  /** Whether the tool ran. */
  readonly ran: boolean;
  readonly startedAt: number;
}

/** A call with its result, which is not stored yet. */
interface FinishedCall extends CallEnd {
  readonly message: ToolResultMessage;
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

/** What keeps a call from running whatever anybody says about it. */
function decideAtOnce(planned: PlannedCall, options: ToolRunOptions): Refusal | undefined {
  const { call, tool, parsed } = planned;
  if (options.refusal !== undefined) {
    return { run: false, cause: "cut_off", text: options.refusal };
  }
  if (tool === undefined) {
    return { run: false, cause: "unknown_tool", text: options.texts.unknownTool(call.name) };
  }
  if (parsed.ok) return undefined;
  const text = options.texts.badArguments(call.name, parsed.problem, {
    isJson: call.argumentsError === undefined,
  });
  return { run: false, cause: "bad_arguments", text };
}

type Refusal = CallVerdict & { run: false };

async function decide(
  planned: PlannedCall,
  { whileAsked }: { whileAsked: () => Promise<void> },
  options: ToolRunOptions,
): Promise<CallVerdict> {
  const { call, tool } = planned;
  const refusal = decideAtOnce(planned, options);
  if (refusal !== undefined) return refusal;
  let meanwhile: Promise<void> | undefined;
  try {
    let decision = await options.hooks.beforeCall(call, tool!, call.arguments, options.signal);
    if (decision.run === "asked") {
      meanwhile = whileAsked();
      // Awaited below; until then a failure must not count as unhandled.
      meanwhile.catch(() => {});
      decision = await decision.answer;
    }
    if (!decision.run && decision.reason !== undefined) {
      await options.emit({ type: "call_not_run", call, reason: decision.reason });
    }
    return decision;
  } catch (error) {
    if (options.signal.aborted) return { run: false, cause: "interrupted", text: "" };
    return { run: false, cause: "refused", text: errorText(error) };
  } finally {
    await meanwhile;
  }
}

async function startCall(
  planned: PlannedCall,
  how: { decision: CallVerdict; inGroup: boolean; startedAt: number },
  options: ToolRunOptions,
): Promise<CallEnd> {
  const { call, tool, parsed } = planned;
  const { signal } = options;
  const { startedAt } = how;
  if (!how.decision.run) return { ...notRun(how.decision), startedAt };
  options.emit({ type: "tool_start", call, args: call.arguments });
  let afterAbort = 0;
  using watcher = options.watchOutput?.((snapshot) =>
    options.emit({ type: "tool_snapshot", call, snapshot })
  );
  const context: ToolContext = {
    ...options.context,
    callId: call.id,
    signal,
    onOutput: (delta) => {
      if (watcher !== undefined) return watcher.add(delta);
      if (how.inGroup) return undefined;
      // After an abort nobody is waited for, so a command that floods its output must not fill the memory until it is gone.
      if (signal.aborted && (afterAbort += delta.length) > MAX_OUTPUT_AFTER_ABORT) return undefined;
      return options.emit({ type: "tool_output", callId: call.id, name: call.name, delta });
    },
  };
  const outcome = await runTool(tool!, parsed.ok ? parsed.value : undefined, context);
  // A call that came to its end in spite of the abort has a true result: what it did is done.
  if (outcome !== "interrupted" && outcome.details?.interrupted !== true) {
    return { outcome, cause: undefined, begun: true, ran: true, startedAt };
  }
  const produced = outcome === "interrupted" ? errorOutcome("") : outcome;
  return { outcome: produced, cause: "interrupted", begun: true, ran: true, startedAt };
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
  const outcome = errorOutcome("");
  return { outcome, cause: "interrupted", begun: false, ran: false, startedAt: Date.now() };
}

function notRun({ cause, text }: Refusal): CallEnd {
  const outcome = errorOutcome(text);
  return { outcome, cause, begun: true, ran: false, startedAt: Date.now() };
}

function textOfOutcome(outcome: ToolOutcome): string {
  return outcome.content.map((block) => block.type === "text" ? block.text : "").join("");
}

/** Makes the result of a call and tells that the call is over. */
async function endCall(
  planned: PlannedCall,
  end: CallEnd,
  options: ToolRunOptions,
): Promise<FinishedCall> {
  const { call } = planned;
  const durationMs = Math.max(1, Date.now() - end.startedAt);
  const outcome = end.cause === "interrupted"
    ? errorOutcome(
      options.texts.interrupted({
        begun: end.ran,
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
  await options.emit({ type: "call_done", call, message, ran: end.ran });
  return { ...end, message };
}

async function keepCall(
  { call }: PlannedCall,
  { message, begun, cause }: FinishedCall,
  run: ToolRun,
): Promise<void> {
  const kept = keepResult(message, { begun, isTold: run.keepsLater, keeping: run });
  await run.options.emit({ type: "call_end", ...kept, call, begun, cause });
}
