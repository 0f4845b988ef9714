/** The answers to commands in this dialect. */

import { THINKING_LEVELS } from "../../agent/model.ts";
import type {
  CommandResult,
  CommandRun,
  CompactionReport,
  EntryNode,
  FileStats,
  Request,
  SessionState,
} from "../../session/command.ts";
import { defined, encodeContext, encodeModel, encodeUsageOf, windowOf } from "./encode_messages.ts";

type Json = Record<string, unknown>;

/** The record for a command that was carried out. */
export function encodeSuccess(request: Request, result: CommandResult): Json {
  const data = encodeData(result);
  return { ...response(request, true), ...(data === undefined ? {} : { data }) };
}

/** The record for a command, or a line that is none, that was refused. */
export function encodeRefusal(request: Request, error: Error): Json {
  return { ...response(request, false), error: refusalText(error) };
}

function response({ id, name }: Request, success: boolean): Json {
  return { ...(id === undefined ? {} : { id }), type: "response", command: name, success };
}

const TEXTS: Readonly<Record<string, string>> = {
  compacting:
    "Cannot submit a prompt while compaction is in progress. Wait for compaction to finish and retry.",
  behavior_required:
    "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.",
  behavior_unknown: 'prompt: streamingBehavior must be "steer" or "followUp"',
  shutting_down: "The program is shutting down.",
  nothing_to_export: "Nothing to export yet - start a conversation first",
};

function refusalText(error: Error): string {
  const code = "code" in error ? String(error.code) : "";
  return TEXTS[code] ?? error.message.replace(/\s*[\r\n]+\s*/g, " ").trim();
}

function encodeData(result: CommandResult): unknown {
  switch (result.type) {
    case "prompt":
    case "steer":
    case "follow_up":
    case "clear_queue":
    case "export_html":
      return { ...result.value };
    case "get_state":
      return encodeState(result.value);
    case "get_context":
      return { messages: encodeContext(result.value) };
    case "list_configured_models":
      return { models: result.value.models.map(encodeModel) };
    case "select_model":
      return encodeModel(result.value.model);
    case "cycle_model": {
      if (result.value === undefined) return null;
      const { model, level, isScoped } = result.value;
      return { model: encodeModel(model), thinkingLevel: level, isScoped };
    }
    case "cycle_thinking":
      return result.value ?? null;
    case "list_thinking_levels":
      return { levels: result.value.levels };
    case "run_command":
      return encodeRun(result.value);
    case "compact":
      return encodeCompaction(result.value);
    case "replace_session":
      return { ...defined({ text: result.value.text }), cancelled: false };
    case "list_fork_points":
      return { messages: result.value.messages.map(({ id, text }) => ({ entryId: id, text })) };
    case "list_entries":
      return { entries: result.value.entries.map(shownEntry), leafId: result.value.leafId };
    case "get_tree":
      showTree(result.value.roots);
      return { tree: result.value.roots, leafId: result.value.leafId };
    case "get_last_text":
      return { text: result.value.text ?? null };
    case "get_file_stats":
      return encodeStats(result.value);
    case "list_extension_commands":
      return { commands: [] };
    default:
      return undefined;
  }
}

function encodeState(state: SessionState): Json {
  return {
    model: encodeModel(state.activeModel),
    thinkingLevel: THINKING_LEVELS.find((level) => level === state.thinkingLevel) ?? "off",
    isStreaming: state.busy,
    isCompacting: state.compacting,
    steeringMode: state.steeringMode,
    followUpMode: state.followUpMode,
    ...defined({ sessionFile: state.path }),
    sessionId: state.sessionId,
    ...defined({ sessionName: state.ownName }),
    autoCompactionEnabled: state.autoCompaction,
    messageCount: state.contextCount,
    pendingMessageCount: state.steering + state.followUp,
  };
}

function encodeRun({ output, exitCode }: CommandRun): Json {
  return {
    output: output.text,
    ...defined({ exitCode }),
    cancelled: exitCode === undefined,
    truncated: output.truncated,
    ...(output.truncated ? defined({ fullOutputPath: output.logPath }) : {}),
  };
}

/** What a compaction did, as data of a response and in the event of its end. */
export function encodeCompaction(report: CompactionReport): Json {
  return {
    summary: report.summary,
    firstKeptEntryId: report.firstKeptId,
    tokensBefore: report.tokensBefore,
    estimatedTokensAfter: report.tokensAfter,
    ...defined({ usage: encodeUsageOf(report.usage) }),
    details: { readFiles: report.files.read, modifiedFiles: report.files.modified },
  };
}

/** An entry as it stands in the file, without what is only Weir's in its message. */
export function shownEntry(entry: Json): Json {
  const { weir: _, ...shown } = entry;
  const { message } = shown;
  if (typeof message !== "object" || message === null || !("weir" in message)) return shown;
  const { weir: _own, ...rest } = message;
  return { ...shown, message: rest };
}

function showTree(roots: readonly EntryNode[]): void {
  const waiting = [...roots];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    // The nodes were made for this answer alone.
    Object.assign(node, { entry: shownEntry(node.entry) });
    for (const child of node.children) waiting.push(child);
  }
}

function encodeStats(stats: FileStats): Json {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, context } = stats;
  const window = windowOf(context?.window);
  const tokens = context?.tokens ?? null;
  return {
    ...defined({ sessionFile: stats.path }),
    sessionId: stats.sessionId,
    userMessages: stats.userMessages,
    assistantMessages: stats.assistantMessages,
    toolCalls: stats.toolCalls,
    toolResults: stats.toolResults,
    totalMessages: stats.totalMessages,
    tokens: {
      input: inputTokens,
      output: outputTokens,
      cacheRead: cacheReadTokens,
      cacheWrite: cacheWriteTokens,
      total: inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens,
    },
    cost: stats.cost,
    ...(context === undefined ? {} : {
      contextUsage: {
        tokens,
        contextWindow: window,
        percent: tokens === null ? null : tokens / window * 100,
      },
    }),
  };
}
