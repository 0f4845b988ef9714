/**
 * Model without a network: a stand-in that follows a script (`demo_plan.ts`), for first trials and for people who test their client. It
 * says of itself that it is no language model.
 */

import type { Usage } from "../agent/message.ts";
import type { Model, ModelReplyEnd, ModelRequest, ModelSink } from "../agent/model.ts";
import { planDemoStep } from "./demo_plan.ts";
import { ReplyBlocks } from "./reply_blocks.ts";

/** Long enough to see pieces come and to get a word in, short enough that a turn takes no second. */
const PAUSE_MS = 12;
/** A text comes in at most this many pieces. */
const MOST_PIECES = 16;

/**
 * The built-in `demo/demo`. Deterministic; needs no key, no network and no file.
 *
 * @example
 * ```ts
 * import { createDemoModel } from "@weir/weir";
 *
 * const models = await createDemoModel().listModels({ signal: AbortSignal.timeout(1000) });
 * if (models.join() !== "demo") throw new Error("it lists itself");
 * ```
 */
export function createDemoModel(): Model {
  return {
    provider: "demo",
    id: "demo",
    api: "demo",
    info: {
      contextWindow: undefined,
      maxOutputTokens: undefined,
      reasoning: true,
      input: ["text"],
      price: undefined,
    },
    reply: playStep,
    listModels({ signal }) {
      if (signal.aborted) return Promise.reject(signal.reason);
      return Promise.resolve(["demo"]);
    },
  };
}

async function playStep(
  request: ModelRequest,
  { signal, sink }: { signal: AbortSignal; sink: ModelSink },
): Promise<ModelReplyEnd> {
  signal.throwIfAborted();
  const { text, call, ...step } = planDemoStep(request);
  const thinking = request.thinkingLevel === "off" ? "" : step.thinking;
  const blocks = new ReplyBlocks(sink, []);
  const pieces = async (whole: string, add: (piece: string) => void) => {
    for (const piece of piecesOf(whole)) {
      add(piece);
      await pause(PAUSE_MS, { signal, until: blocks.takeWait() });
    }
  };
  await pieces(thinking, (piece) => blocks.addThinking(piece));
  await pieces(text, (piece) => blocks.addText(piece));
  let input = "";
  if (call !== undefined) {
    input = JSON.stringify(call.arguments);
    const open = blocks.startCall(callId(request), call.name);
    const middle = Math.ceil(input.length / 2);
    blocks.addInput(open, input.slice(0, middle));
    await pause(PAUSE_MS, { signal, until: blocks.takeWait() });
    blocks.addInput(open, input.slice(middle));
    blocks.endCall(open);
  }
  blocks.closeText();
  await pause(0, { signal, until: blocks.takeWait() });
  return {
    stopReason: call === undefined ? "stop" : "toolUse",
    rawStopReason: undefined,
    model: "demo",
    responseId: undefined,
    usage: usageOf(request, { thinking, output: thinking + text + input }),
  };
}

/** Unique in the conversation and the same each time: it counts the messages so far. */
function callId(request: ModelRequest): string {
  return `demo_${request.messages.length}`;
}

/** Words in groups, so that a long text takes no longer than a short one. */
function piecesOf(text: string): string[] {
  const words = text.match(/\s*\S+\s*/g) ?? [];
  const size = Math.max(2, Math.ceil(words.length / MOST_PIECES));
  const pieces: string[] = [];
  for (let start = 0; start < words.length; start += size) {
    pieces.push(words.slice(start, start + size).join(""));
  }
  return pieces;
}

/** Four characters a token. */
function usageOf(
  request: ModelRequest,
  { thinking, output }: { thinking: string; output: string },
): Usage {
  let characters = request.systemPrompt.length + JSON.stringify(request.tools).length;
  for (const message of request.messages) {
    for (const block of message.content) {
      if (block.type === "text") characters += block.text.length;
      if (block.type === "toolCall") characters += JSON.stringify(block.arguments).length;
    }
  }
  return {
    inputTokens: Math.ceil(characters / 4),
    outputTokens: Math.ceil(output.length / 4),
    ...(thinking !== "" && { reasoningTokens: Math.ceil(thinking.length / 4) }),
  };
}

/** Waits `ms` and for the sink. Rejects with `signal.reason` at once when aborted; leaves no timer. */
async function pause(
  ms: number,
  { signal, until }: { signal: AbortSignal; until: Promise<unknown> | undefined },
): Promise<void> {
  signal.throwIfAborted();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort);
  });
  const passed = new Promise<void>((resolve) => timer = setTimeout(resolve, ms));
  try {
    await Promise.race([aborted, Promise.all([passed, until])]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
