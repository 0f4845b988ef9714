/**
 * The commands that only some dialects have: models and levels, the client's own shell commands, compaction, the stored entries and other
 * sessions. Loaded when the first of them comes.
 */

import { type Model, THINKING_LEVELS, type ThinkingLevel } from "../agent/model.ts";
import { isPartial, textOf } from "../agent/message.ts";
import { RequestError } from "../errors.ts";
import type { Command, CommandResult, SwitchName } from "./command.ts";
import { buildTree, countFile, forkPoints } from "./entry_tree.ts";
import { createCommandMessage } from "./foreign_message.ts";
import type { HandledCommand } from "./handle_command.ts";
import type { Hub } from "./hub.ts";
import { openReplacement } from "./open_replacement.ts";
import { settingOf, type Settings } from "./settings.ts";

/** Carries out a command. Throws `RequestError` when it is refused. */
export async function handleSessionCommand(
  command: Command,
  { hub, requestId }: { hub: Hub; requestId: unknown },
): Promise<HandledCommand> {
  const { session, settings } = hub;
  const { transcript } = session;
  switch (command.type) {
    case "get_context":
      return done({ type: "get_context", value: transcript.view });
    case "list_configured_models":
      return done({ type: "list_configured_models", value: { models: listModels(settings) } });
    case "select_model":
      return await handleSelectModel(command, hub);
    case "cycle_model":
      return await handleCycleModel(hub);
    case "select_thinking":
      await changeLevel(command.level, hub);
      return done({ type: "select_thinking", value: undefined });
    case "cycle_thinking":
      return await handleCycleThinking(hub);
    case "list_thinking_levels":
      return done({ type: "list_thinking_levels", value: { levels: levelsOf(settings.model) } });
    case "set_switch":
      return await handleSetSwitch(command.name, command.enabled, settings);
    case "run_command":
      return await handleRunCommand(command, { hub, requestId });
    case "stop_commands":
      void hub.commands.stopAll();
      return done({ type: "stop_commands", value: undefined });
    case "replace_session":
      return await handleReplace(command, hub);
    case "list_fork_points":
      return done({
        type: "list_fork_points",
        value: { messages: forkPoints(transcript.entries) },
      });
    case "list_entries":
      return handleListEntries(command.since, hub);
    case "get_tree":
      return done({
        type: "get_tree",
        value: { roots: buildTree(transcript.entries), leafId: transcript.leafId },
      });
    case "get_file_stats":
      return done({ type: "get_file_stats", value: countFile(transcript, settings) });
    case "get_last_text":
      return done({ type: "get_last_text", value: { text: lastText(hub) } });
    case "list_extension_commands":
      return done({ type: "list_extension_commands", value: undefined });
    default:
      throw new Error(`Cannot handle ${command.type}: no handler knows it, add one`);
  }
}

function done(result: CommandResult): HandledCommand {
  return { result };
}

function listModels({ model, configuredModels }: Settings): readonly Model[] {
  const models = configuredModels();
  const isListed = models.some(({ provider, id }) => isSame(model, { provider, id }));
  return isListed || model.id === "" ? models : [...models, model];
}

function isSame(model: Model, { provider, id }: { provider: string; id: string }): boolean {
  return model.provider === provider && model.id === id;
}

async function handleSelectModel(
  { provider, id }: Command & { type: "select_model" },
  hub: Hub,
): Promise<HandledCommand> {
  const model = listModels(hub.settings).find((candidate) => isSame(candidate, { provider, id }));
  if (model === undefined) throw new RequestError("invalid", `Model not found: ${provider}/${id}`);
  await useModel(model, hub);
  return done({ type: "select_model", value: { model } });
}

async function useModel(model: Model, hub: Hub): Promise<void> {
  const { settings } = hub;
  settings.model = model;
  const level = settings.thinkingLevel;
  // A level that the new model lacks must not be sent to it.
  if (level !== undefined && !levelsOf(model).includes(level)) {
    await changeLevel(level, hub);
  }
  await record(hub);
}

/** Stores the setting in the conversation, before anything tells of it. */
async function record({ session, settings }: Hub): Promise<void> {
  await session.transcript.prepare();
  session.transcript.recordSetting(settingOf(settings));
  await session.transcript.flush();
}

async function handleCycleModel(hub: Hub): Promise<HandledCommand> {
  const { settings } = hub;
  const scope = settings.modelScope;
  const all = listModels(settings);
  const models = scope === undefined
    ? all
    : all.filter(({ provider, id }) =>
      scope.some((name) => name === id || name === `${provider}/${id}`)
    );
  const current = models.findIndex((model) => isSame(model, settings.model));
  const next = models[(current + 1) % models.length];
  if (next === undefined || (models.length === 1 && current === 0)) {
    return done({ type: "cycle_model", value: undefined });
  }
  await useModel(next, hub);
  const level = settings.thinkingLevel ?? "off";
  return done({
    type: "cycle_model",
    value: { model: next, level, isScoped: scope !== undefined },
  });
}

const USUAL_LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high"];

function levelsOf({ info }: Model): readonly ThinkingLevel[] {
  if (info.reasoning !== true) return ["off"];
  return THINKING_LEVELS.filter((level) =>
    USUAL_LEVELS.includes(level) || info.thinkingLevels?.includes(level)
  );
}

/** Sets the level, or the nearest lower one that the model has, and tells it when it is another one. */
async function changeLevel(wanted: ThinkingLevel, hub: Hub): Promise<ThinkingLevel> {
  const { settings, session } = hub;
  const known = levelsOf(settings.model);
  const lower = THINKING_LEVELS.slice(0, THINKING_LEVELS.indexOf(wanted) + 1);
  const level = lower.findLast((candidate) => known.includes(candidate)) ?? "off";
  const isNew = (settings.thinkingLevel ?? "off") !== level;
  settings.thinkingLevel = level;
  if (!isNew) return level;
  await record(hub);
  await session.tell({ type: "thinking_change", level });
  return level;
}

async function handleCycleThinking(hub: Hub): Promise<HandledCommand> {
  const levels = levelsOf(hub.settings.model);
  if (levels.length < 2) return done({ type: "cycle_thinking", value: undefined });
  const current = levels.indexOf(hub.settings.thinkingLevel ?? "off");
  const level = await changeLevel(levels[(current + 1) % levels.length]!, hub);
  return done({ type: "cycle_thinking", value: { level } });
}

async function handleSetSwitch(
  name: SwitchName,
  enabled: boolean,
  settings: Settings,
): Promise<HandledCommand> {
  await settings.saveSwitch(name, enabled);
  settings[name === "auto_compaction" ? "autoCompaction" : "autoRetry"] = enabled;
  return done({ type: "set_switch", value: undefined });
}

async function handleRunCommand(
  { command, isPrivate }: Command & { type: "run_command" },
  { hub, requestId }: { hub: Hub; requestId: unknown },
): Promise<HandledCommand> {
  const { session, settings } = hub;
  const run = await hub.commands.run({
    settings,
    command,
    onOutput: (delta) => session.tell({ type: "command_output", requestId, delta }),
    onEnd: ({ output, exitCode }) => {
      const { text, truncated, logPath } = output;
      return session.addMessage(createCommandMessage({
        command,
        output: text,
        exitCode,
        truncated,
        fullOutputPath: truncated ? logPath : undefined,
        isPrivate,
      }));
    },
  });
  return done({ type: "run_command", value: run });
}

async function handleReplace(
  { by }: Command & { type: "replace_session" },
  hub: Hub,
): Promise<HandledCommand> {
  const { session, settings } = hub;
  const replacement = await openReplacement(by, { session, settings });
  await hub.stopWork();
  const { opened, text, workspace } = await replacement.open();
  settings.workspace = workspace;
  await hub.replaceSession(opened);
  return done({ type: "replace_session", value: { text } });
}

function handleListEntries(since: string | undefined, { session }: Hub): HandledCommand {
  const { entries, leafId } = session.transcript;
  const at = since === undefined ? -1 : entries.findIndex(({ id }) => id === since);
  if (since !== undefined && at < 0) {
    throw new RequestError("invalid", `Entry not found: ${since}`);
  }
  const later = entries.slice(at + 1).map(({ raw }) => raw);
  return done({ type: "list_entries", value: { entries: later, leafId } });
}

/** The trimmed text of the newest reply that has one. */
function lastText({ session }: Hub): string | undefined {
  for (const { message } of session.transcript.messages.toReversed()) {
    if (message.role !== "assistant" || (isPartial(message) && message.content.length === 0)) {
      continue;
    }
    const text = textOf(message).trim();
    if (text !== "") return text;
  }
  return undefined;
}
