/** The answers to commands in this dialect. */

import type { CommandResult, Request } from "../../session/command.ts";

type Json = Record<string, unknown>;

/** The record for a command that was accepted. */
export function encodeResult(request: Request, result: CommandResult): Json {
  return { ...response(request), ok: true, ...resultFields(result) };
}

/** The record for a command, or a line that is none, that was refused. */
export function encodeRefusal(request: Request, error: Error): Json {
  return { ...response(request), ok: false, error: refusalText(error) };
}

function response({ id }: Request): Json {
  return { version: 1, type: "response", id };
}

function resultFields(result: CommandResult): Json {
  switch (result.type) {
    case "prompt":
    case "steer":
    case "follow_up":
      return { state: result.value.disposition };
    case "interrupt":
      return { state: result.value.wasBusy ? "interrupting" : "idle" };
    case "shutdown":
      return { state: result.value.wasBusy ? "stopping" : "stopped" };
    case "clear_queue":
      return { steering: result.value.steering, follow_up: result.value.followUp };
    case "get_state": {
      const { sessionId, busy, steering, followUp, steeringMode, followUpMode } = result.value;
      return {
        session_id: sessionId,
        busy,
        queued: steering + followUp > 0,
        steering,
        follow_up: followUp,
        steering_mode: steeringMode,
        follow_up_mode: followUpMode,
        mode: "act",
      };
    }
    default:
      return {};
  }
}

const TEXTS: Readonly<Record<string, string>> = {
  shutting_down: "RPC is shutting down.",
  idle: "Agent is idle; use prompt.",
  behavior_required: "prompt requires streamingBehavior: steer or followUp while busy.",
};

function refusalText(error: Error): string {
  const code = "code" in error ? String(error.code) : "";
  return TEXTS[code] ?? error.message;
}
