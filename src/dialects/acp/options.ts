/** Modes and configuration options of a session, as both of the protocol's views show them. Knows no request. */

import { THINKING_LEVELS, type ThinkingLevel } from "../../agent/model.ts";
import type { ApprovalMode } from "../../session/policy.ts";
import type { Settings } from "../../session/settings.ts";
import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";

const MODES: readonly { id: ApprovalMode; name: string; description: string }[] = [
  { id: "ask", name: "Ask first", description: "Asks before files are changed and commands run" },
  {
    id: "allow",
    name: "Allow edits and commands",
    description: "Asks only before deletions and destructive commands",
  },
  { id: "deny", name: "Read only", description: "Changes nothing and runs no command" },
];

/** The thinking level for which nothing is sent. */
const DEFAULT_LEVEL = "default";
const NO_MODEL = "none";

export function describeModes(settings: Settings): SessionModeState {
  return { currentModeId: settings.approvals, availableModes: MODES.map((mode) => ({ ...mode })) };
}

export function findMode(id: string): ApprovalMode | undefined {
  return MODES.find((mode) => mode.id === id)?.id;
}

/** All options with their values, in the order that the documentation promises. */
export function describeOptions(
  settings: Settings,
  modelNames: readonly string[],
): SessionConfigOption[] {
  return [
    {
      id: "mode",
      name: "Mode",
      category: "mode",
      type: "select",
      currentValue: settings.approvals,
      options: MODES.map(({ id, name, description }) => ({ value: id, name, description })),
    },
    {
      id: "model",
      name: "Model",
      category: "model",
      type: "select",
      currentValue: modelName(settings),
      options: modelValues(settings, modelNames).map((value) => ({ value, name: value })),
    },
    ...(settings.model.info.reasoning === false ? [] : [thinkingOption(settings)]),
  ];
}

function thinkingOption({ thinkingLevel }: Settings): SessionConfigOption {
  return {
    id: "thinking",
    name: "Thinking",
    category: "thought_level",
    type: "select",
    currentValue: thinkingLevel ?? DEFAULT_LEVEL,
    options: thinkingValues().map((value) => ({ value, name: value })),
  };
}

export function modelName({ model }: Settings): string {
  return model.id === "" ? NO_MODEL : `${model.provider}/${model.id}`;
}

/** The legal values of an option; `undefined` for an option that there is not. */
export function valuesOf(
  id: string,
  settings: Settings,
  modelNames: readonly string[],
): readonly string[] | undefined {
  switch (id) {
    case "mode":
      return MODES.map((mode) => mode.id);
    case "model":
      return modelValues(settings, modelNames);
    case "thinking":
      return settings.model.info.reasoning === false ? undefined : thinkingValues();
    default:
      return undefined;
  }
}

/** `undefined` for the value that sends nothing. */
export function toThinkingLevel(value: string): ThinkingLevel | undefined {
  return THINKING_LEVELS.find((level) => level === value);
}

function thinkingValues(): string[] {
  return [DEFAULT_LEVEL, ...THINKING_LEVELS];
}

function modelValues(settings: Settings, modelNames: readonly string[]): string[] {
  return [...new Set([...modelNames, modelName(settings)])];
}
