/**
 * The grammar of what a circle RPC process writes: which record may follow which. It needs nothing
 * but the records; what a model or a tool should have said is for other checks.
 */

import { explainFields } from "./_circle_fields.ts";

type Json = Record<string, unknown>;
type Call = { id: string; name: string; args: Json; argument_error?: string };

/** What is known besides the records. */
export interface CircleCheckOptions {
  /**
   * `running` (default): the process may go on, but its work is settled. `midway`: a turn may still
   * run. `ended`: the last record is `jobs_stopped`.
   */
  state?: "running" | "midway" | "ended";
  /**
   * The commands that were sent, in order: each has its response, in this order. `{ type: "parse" }`
   * stands for a line that is no command.
   */
  commands?: readonly Json[];
}

/**
 * Throws with the place and the broken rule when the records of one process, from its first on, are
 * not what the circle dialect allows. Linear in their number.
 */
export function checkCircleRecords(
  records: readonly Json[],
  options: CircleCheckOptions = {},
): void {
  const grammar = new CircleGrammar();
  for (const [index, record] of records.entries()) {
    try {
      const reason = explainFields(record);
      if (reason !== undefined) broken(reason);
      grammar.add(record);
    } catch (error) {
      if (!(error instanceof BrokenRule)) throw error;
      const before = records.slice(Math.max(0, index - 10), index + 1).map((line) => show(line));
      throw new Error(
        `Record ${index + 1} (${record.type}): ${error.message}\n${before.join("\n")}`,
      );
    }
  }
  const reason = grammar.explainEnd(options.state ?? "running") ??
    (options.commands && explainResponses(records, options.commands));
  if (reason !== undefined) {
    throw new Error(
      `End of ${records.length} records: ${reason}\n${records.slice(-10).map(show).join("\n")}`,
    );
  }
}

class BrokenRule extends Error {}

function broken(rule: string): never {
  throw new BrokenRule(rule);
}

function show(record: Json): string {
  const text = JSON.stringify(record);
  return text.length <= 400 ? text : `${text.slice(0, 400)}…`;
}

/** The state of one process after the records that were added. */
class CircleGrammar {
  /** `settled`: idle; `turn`: a turn is open; `between`: a turn was closed, its work is not settled. */
  #phase: "settled" | "turn" | "between" = "settled";
  /** A response promised a turn that has not started. */
  #promised = false;
  /** Only `agent_settled` may follow in `between`. */
  #mustSettle = false;
  #stopped = false;
  #turn = newTurn(false);
  #full = false;
  /** Deltas that had no assistant event yet, by message id. */
  #deltas = new Map<string, string>();
  #assistantIds = new Set<string>();
  #jobs = new Map<string, "running" | "ended">();
  #compactions = new Map<string, string>();
  /** Conversations whose compaction may have ended with an interrupted turn. */
  #interrupted = new Set<string>();
  #subagents = new Map<string, "running" | "ended">();

  add(record: Json): void {
    if (this.#stopped) broken("nothing comes after jobs_stopped");
    const handler = this.#handlers[record.type as string];
    handler(record);
  }

  explainEnd(state: "running" | "midway" | "ended"): string | undefined {
    if (state === "ended" && !this.#stopped) return "jobs_stopped is missing";
    if (state === "midway") return undefined;
    if (this.#phase === "turn") return "the last turn was not closed by turn_end or error";
    if (this.#phase === "between") return "agent_settled is missing";
    if (this.#promised) return "turn_start is missing after a response that said started";
    return undefined;
  }

  #handlers: Record<string, (record: Json) => void> = {
    response: (record) => this.#addResponse(record),
    turn_start: ({ message }) => this.#startTurn(message !== undefined),
    assistant: (record) => this.#addAssistant(record),
    tool_result: (record) => this.#addResult(record),
    not_run: (record) => this.#addNotRun(record),
    steer: () => {
      this.#needModelStep("steer");
      this.#turn.next = "assistant";
    },
    job: (record) => this.#addJob(record),
    compaction: (record) => this.#addCompaction(record),
    subagent_event: (record) => this.#addSubagentEvent(record),
    turn_end: (record) => this.#endTurn(record),
    error: () => {
      this.#interruptTurn();
    },
    agent_settled: () => {
      if (this.#phase === "turn") broken("the turn was not closed by turn_end or error");
      if (this.#phase === "settled") broken("there is no work to settle");
      this.#phase = "settled";
    },
    jobs_stopped: () => {
      if (this.#phase !== "settled" || this.#promised) broken("the work was not settled");
      for (const [id, state] of this.#jobs) {
        if (state === "running") broken(`job ${id} has not ended`);
      }
      this.#stopped = true;
    },
    message_delta: (record) => this.#addDelta(record),
    thinking_delta: (record) => this.#addDelta(record),
    tool_start: (record) => this.#startTool(record),
    tool_output: ({ id }) => {
      this.#needFull();
      const call = this.#turn.calls.find((open) => open.id === id);
      if (!call) return broken(`call ${id} is not open`);
      if (!this.#turn.started.has(call)) broken(`call ${id} was not started`);
    },
  };

  #addResponse(record: Json): void {
    const { command, success, data, error } = record;
    const disposition = (data as Json | undefined)?.disposition;
    const runs = this.#phase !== "settled" || this.#promised;
    if (command === "parse") {
      // A line may also be a command that is really called parse.
      const isBadLine = error === "invalid JSON command" && !Object.hasOwn(record, "id");
      if (!isBadLine && error !== "Unknown command: parse") {
        broken("parse has its fixed error, no id");
      }
    }
    if (["prompt", "steer", "follow_up"].includes(String(command)) && success) {
      if (disposition !== "started" && disposition !== "queued") {
        broken("a prompt is answered with a disposition, started or queued");
      }
      // A turn that finished jobs start runs before its turn_start, so `queued` proves nothing.
      if (disposition === "started" && runs) broken("a turn runs, so the message cannot start one");
      this.#promised ||= disposition === "started";
    }
    if (command === "abort" && success && runs) broken("abort is answered after agent_settled");
    if (["new_session", "set_model", "set_thinking_level"].includes(String(command))) {
      if (success && runs) broken(`${command} is refused while a turn runs`);
    }
    if (command === "get_state" && success && this.#phase !== "settled") {
      if ((data as Json | undefined)?.isStreaming !== true) {
        broken("isStreaming is true until agent_settled");
      }
    }
    if (command === "set_event_detail" && success) {
      this.#full = (data as Json | undefined)?.detail === "full";
      if (!this.#full) this.#turn.fullStep = false;
    }
  }

  #startTurn(hasMessage: boolean): void {
    if (this.#phase === "turn") broken("the turn before was not closed");
    if (this.#phase === "between") {
      if (this.#mustSettle) broken("agent_settled has to follow an error or an abort");
      if (!hasMessage) broken("a turn of finished jobs starts after agent_settled");
    } else if (hasMessage && !this.#promised) {
      broken("the response that says started comes before turn_start");
    }
    if (!hasMessage && this.#promised) broken("the turn that a response promised comes first");
    this.#promised = false;
    this.#phase = "turn";
    this.#mustSettle = false;
    this.#turn = newTurn(this.#full);
  }

  #needTurn(): void {
    if (this.#phase !== "turn") broken("no turn is open");
  }

  /** A model request may come now. */
  #needModelStep(what: string): void {
    this.#needTurn();
    const [open] = this.#turn.calls;
    if (open) broken(`${what} comes before the tool_result of call ${open.id}`);
  }

  #addAssistant(record: Json): void {
    this.#needModelStep("assistant");
    const turn = this.#turn;
    if (turn.next === "end") {
      broken("a reply without tool calls ends the turn, unless steer follows");
    }
    const { id, text, usage } = record as { id: string; text: string; usage: Json };
    if (this.#assistantIds.has(id)) broken(`there was an assistant ${id} before`);
    this.#assistantIds.add(id);
    const deltas = this.#deltas.get(id) ?? "";
    if (turn.fullStep && deltas !== text) broken("its text is not what its deltas joined are");
    this.#deltas.delete(id);
    turn.fullStep = this.#full;
    turn.calls = [...record.tool_calls as Call[]];
    turn.text = text;
    turn.next = turn.calls.length > 0 ? "assistant" : "end";
    for (const [key, count] of Object.entries(usage)) {
      turn.usage[key] = (turn.usage[key] ?? 0) + (count as number);
    }
  }

  #addResult({ id, name, status }: Json): void {
    this.#needTurn();
    const { fullStep, started } = this.#turn;
    const call = this.#turn.calls.shift();
    if (!call) return broken("every call has its tool_result already");
    if (call.id !== id || call.name !== name) {
      broken(`the next tool_result is that of ${call.name} ${call.id}`);
    }
    if (this.#turn.notRun && status !== "error") broken("a call that was not run has an error");
    this.#turn.notRun = false;
    if (fullStep && status === "success" && !started.has(call)) broken("tool_start is missing");
  }

  #addNotRun({ name }: Json): void {
    this.#needTurn();
    const [call] = this.#turn.calls;
    if (!call || call.name !== name) return broken("it stands right before its call's tool_result");
    if (this.#turn.notRun) broken("it comes once for a call");
    if (this.#turn.started.has(call)) broken("the call was started");
    this.#turn.notRun = true;
  }

  #startTool({ id, name }: Json): void {
    this.#needFull();
    const { calls, started } = this.#turn;
    const call = calls.find((open) => open.id === id && open.name === name && !started.has(open));
    if (!call) return broken(`no call ${id} of ${name} waits to be started`);
    if (call.argument_error !== undefined) broken("a call with invalid arguments is never started");
    if (call === calls[0] && this.#turn.notRun) broken("a call that was not run is never started");
    started.add(call);
  }

  #needFull(): void {
    this.#needTurn();
    if (!this.#full) broken("full detail was not asked for");
  }

  #addDelta({ type, id, delta }: Json): void {
    this.#needFull();
    this.#needModelStep(type as string);
    if (this.#turn.next === "end") broken("a reply without tool calls ends the turn");
    if (this.#assistantIds.has(id as string)) broken(`the assistant event of ${id} was before`);
    if (type !== "message_delta") return;
    this.#deltas.set(id as string, (this.#deltas.get(id as string) ?? "") + delta);
  }

  #endTurn(record: Json): void {
    if (record.aborted === true) {
      this.#interruptTurn();
      return;
    }
    this.#needTurn();
    const { next, text, usage } = this.#turn;
    if (next !== "end") {
      broken("an answer ends the turn: an assistant without tool calls comes before");
    }
    if (text === "") broken("a reply without text is no answer, error has to follow");
    if ((record.answer as string).trim() !== text.trim()) {
      broken("answer is the last assistant's text");
    }
    const keys = new Set([...Object.keys(usage), ...Object.keys(record.usage as Json)]);
    for (const key of keys) {
      if ((record.usage as Json)[key] !== usage[key]) broken(`usage.${key} is not the turn's sum`);
    }
    this.#closeTurn();
  }

  #interruptTurn(): void {
    this.#closeTurn();
    this.#mustSettle = true;
    this.#interrupted = new Set(this.#compactions.keys());
  }

  #closeTurn(): void {
    this.#needTurn();
    const [open] = this.#turn.calls;
    if (open) broken(`call ${open.id} has no tool_result`);
    this.#phase = "between";
    this.#deltas.clear(); // A reply that was cut has no assistant event.
  }

  #addJob({ event, job }: Json): void {
    const { id, status } = job as { id: string; status: string };
    const before = this.#jobs.get(id);
    if (before === "ended") broken(`job ${id} has ended`);
    if (event === "started" && before) broken(`job ${id} was started before`);
    if (event !== "started" && !before) broken(`job ${id} was not started`);
    if ((status === "running") === (event === "ended")) broken(`status cannot be ${status}`);
    this.#jobs.set(id, event === "ended" ? "ended" : "running");
  }

  #addCompaction(record: Json): void {
    const { sessionId, phase } = record as { sessionId: string; phase: string };
    const before = this.#compactions.get(sessionId) ?? "";
    const restarts = phase === "start" && this.#interrupted.delete(sessionId);
    if (!restarts && !PHASES_AFTER[before].includes(phase)) {
      broken(`phase ${phase} cannot follow ${before || "nothing"}`);
    }
    if (phase === "done" || phase === "error") this.#compactions.delete(sessionId);
    else this.#compactions.set(sessionId, phase);
  }

  #addSubagentEvent({ event, tags }: Json): void {
    const { subagent, job_id } = tags as { subagent: string; job_id?: string };
    if (job_id === undefined) {
      this.#needTurn();
      if (!this.#turn.calls.some(({ name }) => name === "task")) broken("no task call is open");
    }
    const before = this.#subagents.get(subagent);
    if (before === "ended") broken(`the run of subagent ${subagent} has ended`);
    if ((event === "run_start") === (before !== undefined)) {
      broken("a run begins with one run_start");
    }
    const ended = event === "run_end" || event === "run_error";
    this.#subagents.set(subagent, ended ? "ended" : "running");
  }
}

const PHASES_AFTER: Record<string, string[]> = {
  "": ["start"],
  start: ["saving", "error"],
  saving: ["saved", "error"],
  saved: ["summarizing", "error"],
  summarizing: ["chunks", "summarized", "error"],
  chunks: ["chunks", "summarized", "error"],
  summarized: ["done", "error"],
};

function newTurn(fullStep: boolean) {
  return {
    /** Calls of the last reply without a result, in order. */
    calls: [] as Call[],
    started: new Set<Call>(),
    /** The first open call had its `not_run`. */
    notRun: false,
    /** What the model's side has to do next: go on, or nothing more unless it is steered. */
    next: "assistant" as "assistant" | "end",
    text: "",
    usage: {} as Record<string, number>,
    /** Full detail was on for the whole of the reply that comes next. */
    fullStep,
  };
}

function explainResponses(records: readonly Json[], commands: readonly Json[]): string | undefined {
  const responses = records.filter(({ type }) => type === "response");
  for (const [index, { id, type }] of commands.entries()) {
    const response = responses[index];
    if (!response) return `command ${index + 1} (${type}) has no response`;
    const name = ["string", "number", "boolean"].includes(typeof type) ? String(type) : "";
    const sameId = JSON.stringify(response.id) === JSON.stringify(id ?? undefined);
    if (!sameId || response.command !== name) {
      return `response ${index + 1} is not that of ${show(commands[index])}: ${show(response)}`;
    }
  }
  if (responses.length === commands.length) return undefined;
  return `${responses.length} responses to ${commands.length} commands`;
}
