/**
 * The grammar of what a pi RPC process writes: which record may follow which. It needs nothing but the records; what a model or a tool
 * should have said is for other checks.
 */

import { equal } from "@std/assert";

type Json = Record<string, unknown>;

export interface PiCheckOptions {
  /** `midway` when a run may still be under way; default: everything is settled. */
  state?: "settled" | "midway";
}

/** Throws with the place and the broken rule when the records of one process are not what the pi dialect allows. */
export function checkPiRecords(records: readonly Json[], options: PiCheckOptions = {}): void {
  const grammar = new PiGrammar();
  for (const [index, record] of records.entries()) {
    try {
      grammar.add(record);
    } catch (error) {
      if (!(error instanceof BrokenRule)) throw error;
      const before = records.slice(Math.max(0, index - 12), index + 1).map(show);
      throw new Error(
        `Record ${index + 1} (${record.type}): ${error.message}\n${before.join("\n")}`,
      );
    }
  }
  const reason = options.state === "midway" ? undefined : grammar.explainEnd();
  if (reason !== undefined) {
    throw new Error(
      `End of ${records.length} records: ${reason}\n${records.slice(-12).map(show).join("\n")}`,
    );
  }
}

class BrokenRule extends Error {}

function require(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new BrokenRule(rule);
}

function show(record: Json): string {
  const text = JSON.stringify(record);
  return text.length <= 300 ? text : `${text.slice(0, 300)}…`;
}

interface Call {
  ended: boolean;
  result: Json | undefined;
}

/** The state of one process after the records that were added. */
class PiGrammar {
  #agent: { messages: Json[] } | undefined;
  #turn: { reply: Json | undefined; results: Json[]; calls: Map<string, Call> } | undefined;
  #openMessage: Json | undefined;
  #blocks = new Map<number, { kind: string; text: string; ended: boolean }>();
  /** The last `agent_end` promised another `agent_start`. */
  #willRetry = false;
  #needsSettled = false;
  #retry: number | undefined;
  #compaction: string | undefined;
  #bash = new Set<string>();

  add(record: Json): void {
    require(typeof record.type === "string", "a record has a type");
    if (record.type === "response") return this.#addResponse(record);
    const rule = this.#rules[record.type as string];
    require(rule !== undefined, "an event that is known");
    rule(record);
  }

  explainEnd(): string | undefined {
    if (this.#agent !== undefined) return "agent_end is missing";
    if (this.#needsSettled || this.#willRetry) return "agent_settled is missing";
    if (this.#compaction !== undefined) return "compaction_end is missing";
    return this.#retry === undefined ? undefined : "auto_retry_end is missing";
  }

  #addResponse(record: Json): void {
    require(typeof record.command === "string", "a response names its command");
    if (record.success === true) require(record.error === undefined, "success has no error");
    else require(typeof record.error === "string" && record.error !== "", "a refusal says why");
  }

  readonly #rules: Record<string, (record: Json) => void> = {
    session: () => {},
    agent_start: () => {
      require(this.#agent === undefined, "one agent_start per agent_end");
      this.#agent = { messages: [] };
      this.#willRetry = false;
      this.#needsSettled = true;
    },
    turn_start: () => {
      require(this.#agent !== undefined, "a turn is inside agent_start … agent_end");
      require(this.#turn === undefined, "one turn_start per turn_end");
      this.#turn = { reply: undefined, results: [], calls: new Map() };
    },
    message_start: (record) => this.#startMessage(record.message as Json),
    message_update: (record) => this.#update(record.assistantMessageEvent as Json),
    message_end: (record) => this.#endMessage(record.message as Json),
    tool_execution_start: (record) => {
      const { reply, calls, results } = this.#inTurn();
      require(reply !== undefined && this.#openMessage === undefined, "calls follow their reply");
      require(results.length === 0, "all starts come before the results");
      const id = String(record.toolCallId);
      const expected = callsOf(reply)[calls.size];
      require(expected?.id === id, "starts come in call order");
      require(equal(expected.arguments, record.args), "a start has the arguments of its call");
      calls.set(id, { ended: false, result: undefined });
    },
    tool_execution_update: (record) => {
      require(this.#call(record)?.ended === false, "updates come while their call runs");
    },
    tool_execution_end: (record) => {
      const call = this.#call(record);
      require(call?.ended === false, "one end per start");
      call.ended = true;
      call.result = record.result as Json;
      require(typeof record.isError === "boolean", "an end says whether it is an error");
    },
    turn_end: (record) => {
      const { reply, results, calls } = this.#inTurn();
      require(this.#openMessage === undefined, "no message is open at the end of a turn");
      require(equal(record.message, reply), "turn_end has the last reply");
      require(equal(record.toolResults, results), "turn_end has the results of its turn");
      require(results.length === calls.size, "every call has a result");
      if (reply?.stopReason === "toolUse") {
        require(calls.size === callsOf(reply).length, "every call of a reply is started");
      }
      this.#turn = undefined;
    },
    agent_end: (record) => {
      require(this.#agent !== undefined, "one agent_end per agent_start");
      require(this.#turn === undefined, "turn_end comes before agent_end");
      require(
        equal(record.messages, this.#agent.messages),
        "agent_end has all messages of the run",
      );
      require(typeof record.willRetry === "boolean", "agent_end says whether it is tried again");
      this.#willRetry = record.willRetry;
      this.#agent = undefined;
    },
    agent_settled: (record) => {
      require(this.#agent === undefined, "agent_end comes before agent_settled");
      require(this.#needsSettled, "one agent_settled per run");
      require(this.#retry === undefined, "auto_retry_end comes before agent_settled");
      require(typeof record.aborted === "boolean", "agent_settled says whether it was aborted");
      this.#needsSettled = false;
      this.#willRetry = false;
    },
    queue_update: (record) => {
      require(
        Array.isArray(record.steering) && Array.isArray(record.followUp),
        "queue_update has both queues",
      );
    },
    entry_appended: (record) => require(typeof record.entry === "object", "it has an entry"),
    session_info_changed: () => {},
    thinking_level_changed: (record) => require(typeof record.level === "string", "it has a level"),
    compaction_start: (record) => {
      require(this.#compaction === undefined, "one compaction at a time");
      this.#compaction = String(record.reason);
    },
    compaction_end: (record) => {
      require(this.#compaction === record.reason, "one compaction_end per compaction_start");
      this.#compaction = undefined;
      const ends = [record.result !== undefined, record.aborted, record.errorMessage !== undefined];
      require(ends.filter(Boolean).length === 1, "a result, an abort or an error");
    },
    auto_retry_start: (record) => {
      require(this.#willRetry, "agent_end{willRetry:true} comes before auto_retry_start");
      require(record.attempt === (this.#retry ?? 0) + 1, "attempts are counted from 1");
      this.#retry = Number(record.attempt);
    },
    auto_retry_end: (record) => {
      require(this.#retry === record.attempt, "auto_retry_end belongs to the last attempt");
      require(
        record.success === true
          ? this.#turn !== undefined && record.finalError === undefined
          : this.#agent === undefined && typeof record.finalError === "string",
        "it comes within the turn that went well, or after the last agent_end",
      );
      this.#retry = undefined;
    },
    summarization_retry_scheduled: () => {},
    summarization_retry_attempt_start: () => {},
    summarization_retry_finished: () => {},
    bash_execution_update: (record) => {
      require(typeof record.delta === "string", "it has a delta");
      this.#bash.add(String(record.id));
    },
    extension_ui_request: (record) => {
      require(typeof record.id === "string", "a request has an id");
      require(typeof record.method === "string", "a request has a method");
    },
  };

  #inTurn() {
    require(this.#turn !== undefined, "this comes inside a turn");
    return this.#turn;
  }

  #call(record: Json): Call | undefined {
    return this.#inTurn().calls.get(String(record.toolCallId));
  }

  #startMessage(message: Json): void {
    this.#inTurn();
    require(this.#openMessage === undefined, "one message at a time");
    require(message.role !== "system", "no message has the role system");
    this.#openMessage = message;
    this.#blocks.clear();
    if (message.role === "assistant" && message.stopReason === "pending") {
      require(equal(message.content, []), "a reply begins empty");
    }
  }

  #update(event: Json): void {
    require(this.#openMessage?.role === "assistant", "updates belong to a reply");
    const index = Number(event.contentIndex);
    const [, kind, phase] = /^(text|thinking|toolcall)_(start|delta|end)$/.exec(
      String(event.type),
    ) ?? [];
    require(kind !== undefined, "an update that is known");
    const block = this.#blocks.get(index);
    if (phase === "start") {
      require(block === undefined, "one start per block");
      this.#blocks.set(index, { kind, text: "", ended: false });
      return;
    }
    require(block?.kind === kind && !block.ended, "pieces come between start and end");
    if (phase === "delta") {
      block.text += String(event.delta);
      return;
    }
    block.ended = true;
    if (kind !== "toolcall") {
      require(event.content === block.text, "the deltas joined are the text");
    }
  }

  #endMessage(message: Json): void {
    const turn = this.#inTurn();
    const start = this.#openMessage;
    require(start?.role === message.role, "one message_end per message_start");
    this.#openMessage = undefined;
    this.#agent!.messages.push(message);
    if (message.role === "assistant") {
      require(turn.reply === undefined, "one reply per turn");
      turn.reply = message;
      if (["stop", "toolUse", "length"].includes(String(message.stopReason))) {
        this.#checkBlocks(message);
      }
      return;
    }
    require(equal(start, message), "start and end have the same message");
    if (message.role === "toolResult") {
      const calls = [...turn.calls];
      const [id, call] = calls[turn.results.length] ?? [];
      require(id === message.toolCallId, "results come in call order");
      require(calls.every(([, { ended }]) => ended), "results come after all ends");
      require(
        equal((call?.result as Json).content, message.content),
        "end and result have the same content",
      );
      turn.results.push(message);
    }
  }

  #checkBlocks(message: Json): void {
    for (const [index, block] of (message.content as Json[]).entries()) {
      const told = this.#blocks.get(index);
      require(told?.ended === true, "every block of a reply has its start and end");
      if (block.type === "text") {
        require(block.text === told.text, "the text is that of its deltas");
      }
      if (block.type === "thinking") {
        require(block.thinking === told.text, "the thinking is that of its deltas");
      }
    }
  }
}

function callsOf(reply: Json): Json[] {
  return (reply.content as Json[]).filter((block) => block.type === "toolCall");
}
