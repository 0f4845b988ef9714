/** From results and events to lines. Knows which run and which of its steps is under way, because nearly every record names both. */

import type { OutRecord } from "../../session/command.ts";
import type { SessionEvent } from "../../session/event.ts";
import { encodeJson } from "../../wire/encode_json.ts";
import type { Encoder } from "../dialect.ts";
import { encodeDiagnostic, encodeUsage, isFinal, shownContent } from "./encode_event.ts";
import { encodeRefusal, encodeResult } from "./encode_response.ts";

type Json = Record<string, unknown>;

/** `print`: the one-shot mode, in which nothing is queued. */
export function createNimletEncoder(options: { mode: "rpc" | "print" }): Encoder {
  return new NimletEncoder(options.mode);
}

class NimletEncoder implements Encoder {
  readonly #mode: "rpc" | "print";
  #sessionId = "";
  #runId = "";
  /** -1 before the first step of a run. */
  #step = -1;
  /** The rest of a delta's record behind its text. */
  #deltaEnd = "}\n";
  /** Everything of a delta's record before its type, and between the type and its text. */
  #deltaMiddle = "";

  constructor(mode: "rpc" | "print") {
    this.#mode = mode;
  }

  encode(record: OutRecord): string {
    switch (record.kind) {
      case "result":
        return encodeLine(encodeResult(record.request, record.result));
      case "refusal":
        return encodeLine(encodeRefusal(record.request, record.error));
      case "event":
        this.#sessionId = record.sessionId;
        return this.#encodeEvent(record.event);
    }
  }

  #encodeEvent(event: SessionEvent): string {
    switch (event.type) {
      // The pieces of a reply come by the hundred thousand, so they are written without an object in between.
      case "text_delta":
        return this.#encodeDelta("message_delta", event.delta);
      case "thinking_delta":
        return this.#encodeDelta("thinking_delta", event.delta);
      case "turn_start":
        return this.#startRun(event);
      case "step_start":
        this.#startStep(event);
        return this.#line("step_start", this.#stepIds(), modelField(event.model));
      case "turn_end":
        this.#enterRun(event.turn);
        return this.#endRun(event);
      case "queue_change":
      case "queue_clear":
        return this.#mode === "rpc" ? this.#encodeQueue(event) : "";
      default:
        return this.#encodeRest(event);
    }
  }

  #encodeRest(event: SessionEvent): string {
    switch (event.type) {
      case "session_open":
        return this.#line("session_start", this.#sessionIds());
      case "session_close":
        return this.#line("session_end", this.#sessionIds(), { success: event.success });
      case "user_message":
        return this.#userMessage(shownContent(event.message));
      case "reply_end":
        return this.#encodeReply(event);
      case "step_end":
        return this.#line("step_end", this.#stepIds(), {
          ...modelField(event.reportedModel),
          ...optional("usage", encodeUsage(event.message.usage)),
          duration_ms: event.durationMs,
        });
      case "call_start":
      case "tool_output":
      case "call_end":
        return this.#encodeCall(event);
      case "soft_stop":
        return this.#error(event.text);
      default: {
        const diagnostic = encodeDiagnostic(event);
        return diagnostic === undefined ? "" : encodeLine(diagnostic);
      }
    }
  }

  #startRun(event: SessionEvent & { type: "turn_start" }): string {
    this.#enterRun(event.turn);
    // Its error stands in the place of its start.
    if (event.unsaved) return "";
    if (event.opening === undefined) return this.#line("run_start", this.#runIds());
    const text = shownContent(event.opening.message);
    return this.#userMessage(text) + this.#line("run_start", this.#runIds(), { prompt: text });
  }

  /** A run that fails before its start is first heard of when it ends. */
  #enterRun(turn: number): void {
    const runId = `${this.#sessionId}:turn:${turn}`;
    if (runId === this.#runId) return;
    this.#runId = runId;
    this.#step = -1;
  }

  #startStep(event: SessionEvent & { type: "step_start" }): void {
    this.#step = event.step;
    const ids = encodeJson(this.#stepIds()).slice(1, -1);
    this.#deltaMiddle = `,${ids},"delta":`;
    const model = encodeJson(modelField(event.model)).slice(1, -1);
    this.#deltaEnd = `${model === "" ? "" : `,${model}`}}\n`;
  }

  #endRun(event: SessionEvent & { type: "turn_end" }): string {
    switch (event.outcome) {
      case "answered":
        return this.#line("run_end", this.#runIds(), {
          ...modelField(event.model),
          duration_ms: event.durationMs,
        });
      case "failed":
        return this.#error(event.error);
      case "aborted":
        return this.#error("Interrupted");
    }
  }

  #encodeDelta(type: "message_delta" | "thinking_delta", delta: string): string {
    if (delta === "") return "";
    const text = JSON.stringify(delta);
    return `{"version":1,"type":"${type}"${this.#deltaMiddle}${text}${this.#deltaEnd}`;
  }

  #encodeReply({ message, reportedModel }: SessionEvent & { type: "reply_end" }): string {
    const final = isFinal(message);
    const content = shownContent(message);
    if (!final && content === "") return "";
    return this.#message({ role: "assistant", content, ...modelField(reportedModel), final });
  }

  #encodeCall(
    event: SessionEvent & { type: "call_start" | "tool_output" | "call_end" },
  ): string {
    switch (event.type) {
      case "call_start": {
        const { id, name, arguments: input, argumentsError } = event.call;
        const fields = toolFields(id, name);
        return this.#line("tool_call", this.#stepIds(), {
          ...fields,
          ...(argumentsError === undefined ? { input } : {}),
        });
      }
      case "tool_output":
        if (event.delta === "") return "";
        return this.#line("tool_output_delta", this.#stepIds(), {
          ...toolFields(event.callId, event.name),
          delta: event.delta,
        });
      case "call_end": {
        if (!event.begun) return "";
        const { call, message } = event;
        return this.#line("tool_result", this.#stepIds(), {
          ...toolFields(call.id, call.name),
          output: shownContent(message),
          is_error: message.isError,
          duration_ms: message.durationMs ?? 1,
        });
      }
    }
  }

  #encodeQueue(event: SessionEvent & { type: "queue_change" | "queue_clear" }): string {
    if (event.type === "queue_clear") {
      return this.#line("queue", this.#sessionIds(), { action: "clear", depth: 0 });
    }
    const { action, queue, text, requestId, steering, followUp } = event;
    return this.#line("queue", this.#sessionIds(), {
      action,
      depth: steering + followUp,
      ...(action === "enqueue" ? { content: text } : {}),
      ...(requestId === "" || requestId === undefined ? {} : { request_id: requestId }),
      mode: queue,
    });
  }

  #userMessage(content: string): string {
    return this.#message({ role: "user", content });
  }

  #message(fields: Json): string {
    return this.#line("message", { ...this.#sessionIds(), turn_id: this.#runId }, fields);
  }

  #error(message: string): string {
    return this.#line("error", this.#stepIds(), { message });
  }

  #sessionIds(): Json {
    return { session_id: this.#sessionId };
  }

  #runIds(): Json {
    return { ...this.#sessionIds(), turn_id: this.#runId, run_id: this.#runId };
  }

  #stepIds(): Json {
    return { ...this.#runIds(), step: this.#step };
  }

  #line(type: string, ids: Json, fields: Json = {}): string {
    return encodeLine({ version: 1, type, ...ids, ...fields });
  }
}

function encodeLine(record: Json): string {
  return encodeJson(record) + "\n";
}

function toolFields(id: string, name: string): Json {
  return { tool_id: id, tool_name: name };
}

/** The name of a model where one is known. */
function modelField(model: string | undefined): Json {
  return optional("model", model || undefined);
}

function optional(key: string, value: unknown): Json {
  return value === undefined ? {} : { [key]: value };
}
