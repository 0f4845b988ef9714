import { assertEquals } from "@std/assert";
import { Progress } from "../../src/print/progress.ts";
import type { AssistantMessage, ToolCall } from "../../src/agent/message.ts";
import type { SessionEvent } from "../../src/session/event.ts";

const CALL: ToolCall = { type: "toolCall", id: "c1", name: "bash", arguments: { command: "make" } };
const CLOSE = { type: "session_close", jobsStopped: 0, success: true, cause: "input" } as const;

function note(
  events: readonly SessionEvent[],
  options: { verbose?: boolean; mayAllowMore?: boolean } = {},
): { lines: string[]; answer: string | undefined } {
  const lines: string[] = [];
  const { verbose = false, mayAllowMore = true } = options;
  const progress = new Progress({ verbose, mayAllowMore, warn: (line) => lines.push(line) });
  for (const event of events) progress.note(event);
  return { lines, answer: progress.answer };
}

function reply(inputTokens: number, outputTokens: number): SessionEvent & { type: "reply_end" } {
  const message: AssistantMessage = {
    role: "assistant",
    content: [],
    api: "chat",
    provider: "local",
    model: "m",
    requestModel: "m",
    usage: { inputTokens, outputTokens },
    stopReason: "stop",
    timestamp: 0,
  };
  return { type: "reply_end", id: "a", message, reportedModel: undefined };
}

function start(kind: "message" | "notices"): SessionEvent {
  const message = { role: "user", content: [], timestamp: 0 } as const;
  const opening = { id: "u", message, text: "x", origin: "prompt", requestId: undefined } as const;
  return { type: "turn_start", turn: 1, opening: kind === "message" ? opening : undefined };
}

const END = {
  type: "turn_end",
  turn: 1,
  usage: { inputTokens: 0, outputTokens: 0 },
  durationMs: 1,
};

function answered(answer: string): SessionEvent {
  return { ...END, type: "turn_end", outcome: "answered", answer, model: "m" };
}

const FAILED: SessionEvent = {
  ...END,
  type: "turn_end",
  outcome: "failed",
  error: "500\x1b oh\nno",
};
const ABORTED: SessionEvent = { ...END, type: "turn_end", outcome: "aborted" };

Deno.test("Progress says nothing about a run that went well", () => {
  const events = [start("message"), reply(1, 2), answered("yes"), CLOSE];
  assertEquals(note(events), { lines: [], answer: "yes" });
});

Deno.test("Progress counts what subagents use and may not run", () => {
  const tags = { subagent: "s", name: "general", jobId: undefined };
  const notRun = { type: "call_not_run", call: CALL, reason: "runs a shell command" } as const;
  const events: SessionEvent[] = [
    reply(1000, 10),
    { type: "subagent", tags, event: reply(500, 5) },
    { type: "subagent", tags, event: notRun },
    CLOSE,
  ];
  assertEquals(note(events, { mayAllowMore: false }).lines, ["↑ 1.5k · ↓ 15 · 1 call not run"]);
});

Deno.test("Progress takes the answer away when the next message has none", () => {
  const events = [start("message"), answered("yes"), start("message"), FAILED];
  assertEquals(note(events), { lines: ["✖ 500 oh no"], answer: undefined });
});

Deno.test("Progress keeps the answer until a job's turn has a better one", () => {
  const events = [start("message"), answered("yes"), start("notices")];
  assertEquals(note([...events, FAILED]).answer, "yes");
  assertEquals(note([...events, answered("built")]).answer, "built");
});

Deno.test("Progress says once that the run was interrupted", () => {
  const close = { ...CLOSE, cause: "signal" } as const;
  assertEquals(note([start("message"), ABORTED, close]).lines, ["✖ Interrupted"]);
  assertEquals(note([close]).lines, ["✖ Interrupted"]);
});
