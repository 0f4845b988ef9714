/**
 * The grammar of what a nimlet process writes: which record may follow which. It needs nothing but
 * the records; what a model or a tool should have said is for other checks.
 */

import { explainFields } from "./_nimlet_fields.ts";

type Json = Record<string, unknown>;

/** What is known besides the records. */
export interface NimletCheckOptions {
  /** `midway`: the process was killed or still runs. `ended` (default): the last record is `session_end`. */
  state?: "midway" | "ended";
  /** The ids that the responses carry, in order. */
  ids?: readonly string[];
}

/**
 * Throws with the place and the broken rule when the records of one process, from its first on, are
 * not what the nimlet dialect allows. Linear in their number.
 */
export function checkNimletRecords(
  records: readonly Json[],
  options: NimletCheckOptions = {},
): void {
  const grammar = new NimletGrammar();
  for (const [index, record] of records.entries()) {
    try {
      const reason = explainFields(record);
      if (reason !== undefined) broken(reason);
      grammar.add(record);
    } catch (error) {
      if (!(error instanceof BrokenRule)) throw error;
      const before = records.slice(Math.max(0, index - 10), index + 1).map(show);
      throw new Error(
        `Record ${index + 1} (${record.type}): ${error.message}\n${before.join("\n")}`,
      );
    }
  }
  const reason = (options.state === "midway" ? undefined : grammar.explainEnd()) ??
    explainIds(records, options.ids);
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

/** A call that has no result yet. */
interface OpenCall {
  id: string;
  name: string;
}

/** Where a run is. */
type Phase =
  /** No run is under way. */
  | "idle"
  /** The message that opens a run was told. */
  | "opening"
  /** Before the first step, or after a step has ended. */
  | "between"
  /** Messages were taken for delivery and are not told yet. */
  | "delivery"
  /** A step has begun; deltas come. */
  | "reply"
  /** The reply is complete; calls come. */
  | "calls";

const PARALLEL = [["read", "grep", "find", "ls", "list_jobs"], ["task"]];

/** The state of one process after the records that were added. */
class NimletGrammar {
  #sessionId = "";
  #ended = false;
  #phase: Phase = "idle";
  #turn = 0;
  #runId = "";
  #step = -1;
  /** The first record of a run that a client opened; `run_start` repeats it. */
  #openingText: string | undefined;
  /** A queued message is about to open a run. */
  #opensFromQueue = false;
  /** Content of queued messages by queue, oldest first. */
  readonly #queues: Record<string, { content: string; requestId: unknown }[]> = {
    steer: [],
    follow_up: [],
  };
  /** Messages that were taken and must be told in this order. */
  #taken: string[] = [];
  #replyText = "";
  #final: boolean | undefined;
  #calls: OpenCall[] = [];
  /** The open group is parallel: all calls were told, results come. */
  #resultsBegun = false;
  /** A response promised its `queue` record. */
  #promised: { id: unknown } | undefined;
  /** A response said that a run starts, and `message` has not come. */
  #starting = false;
  #failed = false;

  add(record: Json): void {
    if (this.#ended) broken("nothing comes after session_end");
    const { type } = record;
    if (this.#sessionId === "") {
      if (type !== "session_start") broken("the first record is session_start");
      this.#sessionId = record.session_id as string;
      return;
    }
    if ("session_id" in record && record.session_id !== this.#sessionId) {
      broken("the session_id is another one");
    }
    const isPromised = type === "queue" && record.action === "enqueue";
    if (this.#promised && !isPromised) broken("the enqueue record of the response is missing");
    this.#handlers[type as string](record);
  }

  explainEnd(): string | undefined {
    return this.#ended ? undefined : "session_end is missing";
  }

  #handlers: Record<string, (record: Json) => void> = {
    session_start: () => broken("session_start comes once"),
    session_end: ({ success }) => {
      if (this.#phase !== "idle") broken("a run is open");
      if (this.#opensFromQueue || this.#starting) broken("a run was promised");
      if (this.#depth() > 0) broken("messages wait");
      if (success === this.#failed) broken(`success cannot be ${success}`);
      this.#ended = true;
    },
    response: (record) => this.#addResponse(record),
    diagnostic: ({ level }) => {
      if (level === "error") this.#failed = true;
    },
    queue: (record) => this.#addQueue(record),
    message: (record) => this.#addMessage(record),
    run_start: (record) => this.#addRunStart(record),
    run_end: (record) => {
      this.#needRun(record);
      if (this.#phase !== "between" || this.#step < 0) broken("a step is open, or there was none");
      this.#closeRun();
    },
    step_start: (record) => this.#addStepStart(record),
    step_end: (record) => this.#addStepEnd(record),
    message_delta: (record) => {
      this.#needStep(record, "reply");
      this.#replyText += record.delta as string;
    },
    thinking_delta: (record) => this.#needStep(record, "reply"),
    tool_call: (record) => this.#addCall(record),
    tool_output_delta: (record) => {
      this.#needStep(record, "calls");
      const [call] = this.#calls;
      if (this.#calls.length !== 1 || call.id !== record.tool_id) broken("this call is not alone");
      if (record.tool_name !== "bash") broken("only bash has output");
    },
    tool_result: (record) => this.#addResult(record),
    error: (record) => this.#addError(record),
  };

  #addResponse({ state, id, steering }: Json): void {
    if (Array.isArray(steering) && this.#depth() > 0) broken("messages still wait");
    if (state === "queued") this.#promised = { id };
    if (state === "started") {
      if (this.#phase !== "idle") broken("a run is open");
      this.#starting = true;
    }
  }

  #addQueue({ action, depth, content, request_id, mode }: Json): void {
    if (action === "clear") {
      if (this.#depth() === 0) broken("nothing was waiting");
      this.#queues.steer = [];
      this.#queues.follow_up = [];
      return;
    }
    const queue = this.#queues[mode as string];
    if (action === "enqueue") {
      if (!this.#promised) broken("no response said queued");
      if ((this.#promised!.id || undefined) !== request_id) broken("request_id is another one");
      this.#promised = undefined;
      queue.push({ content: content as string, requestId: request_id });
    } else {
      const taken = queue.shift();
      if (!taken) broken(`nothing waits in ${mode}`);
      if (taken!.requestId !== request_id) broken("an older message waits");
      this.#taken.push(taken!.content);
      if (this.#phase === "idle") this.#takeOpening(mode as string);
      // In a reply: the step was given up, and the next one repeats it.
      else if (["between", "delivery", "reply"].includes(this.#phase)) this.#phase = "delivery";
      else broken("no message can be delivered here");
    }
    if (depth !== this.#depth()) broken(`depth should be ${this.#depth()}`);
  }

  #takeOpening(mode: string): void {
    if (this.#opensFromQueue || this.#starting) broken("a run is opened by one message");
    if (mode === "follow_up" && this.#queues.steer.length > 0) broken("steering comes first");
    this.#opensFromQueue = true;
  }

  #addMessage(record: Json): void {
    const { role, content, turn_id } = record;
    if (role === "assistant") return this.#addReply(record);
    if (this.#phase === "idle") {
      if (!this.#opensFromQueue && !this.#starting) broken("nobody has sent a message");
      if (this.#opensFromQueue && !(content as string).startsWith(this.#taken[0]!)) {
        broken("another message was taken");
      }
      this.#taken = [];
      this.#enterRun(turn_id);
      this.#openingText = content as string;
      this.#phase = "opening";
      return;
    }
    if (turn_id !== this.#runId) broken("turn_id is another one");
    if (this.#phase !== "delivery") broken("no message was taken for delivery");
    if (this.#taken.shift() !== content) broken("another message was taken");
  }

  #addReply({ content, final, turn_id }: Json): void {
    if (turn_id !== this.#runId) broken("turn_id is another one");
    if (this.#phase !== "reply") broken("no reply is open");
    if (content !== this.#replyText) broken("the deltas say something else");
    if (final === false && content === "") broken("nothing was said");
    this.#final = final as boolean;
    this.#phase = "calls";
  }

  #addRunStart(record: Json): void {
    if (this.#phase === "opening") {
      if (record.prompt !== this.#openingText) broken("prompt is not the message");
    } else {
      if (this.#phase !== "idle") broken("a run is open");
      if (this.#starting || this.#opensFromQueue) broken("the message that opens it is missing");
      if ("prompt" in record) broken("a job's run has no prompt");
      this.#enterRun(record.turn_id);
    }
    if (record.run_id !== this.#runId || record.turn_id !== this.#runId) broken("ids differ");
    this.#starting = false;
    this.#opensFromQueue = false;
    this.#phase = "between";
  }

  #enterRun(id: unknown): void {
    this.#runId = `${this.#sessionId}:turn:${++this.#turn}`;
    this.#step = -1;
    if (id !== this.#runId) broken(`turn_id should be ${this.#runId}`);
  }

  #addStepStart(record: Json): void {
    this.#needRun(record);
    // A step that is given up has no end; the next one repeats it.
    const follows = this.#phase === "between" || this.#phase === "delivery" ||
      this.#phase === "reply";
    if (!follows) broken("a step is open");
    if (this.#taken.length > 0) broken("a message that was taken is missing");
    if (record.step !== ++this.#step) broken(`step should be ${this.#step}`);
    this.#phase = "reply";
    this.#replyText = "";
    this.#final = undefined;
  }

  #addStepEnd(record: Json): void {
    this.#needRun(record);
    if (record.step !== this.#step) broken("step is another one");
    if (this.#phase !== "reply" && this.#phase !== "calls") broken("no step is open");
    if (this.#calls.length > 0) broken("a result is missing");
    if (this.#final === undefined && this.#replyText !== "") broken("the message is missing");
    this.#phase = "between";
  }

  #addCall(record: Json): void {
    const { tool_id, tool_name } = record;
    if (this.#phase === "reply") {
      if (this.#replyText !== "") broken("the message is missing");
      this.#phase = "calls";
    }
    this.#needStep(record, "calls");
    if (this.#final === true) broken("a final message has no calls");
    if (this.#resultsBegun && this.#calls.length > 0) broken("results of the group are missing");
    const isParallel = PARALLEL.some((names) =>
      names.includes(tool_name as string) && this.#calls.every(({ name }) => names.includes(name))
    );
    if (this.#calls.length > 0 && !isParallel) broken("these calls do not run in parallel");
    this.#resultsBegun = false;
    this.#calls.push({ id: tool_id as string, name: tool_name as string });
  }

  #addResult(record: Json): void {
    this.#needStep(record, "calls");
    const call = this.#calls.shift();
    if (!call) broken("no call is open");
    if (call!.id !== record.tool_id || call!.name !== record.tool_name) {
      broken("results come in call order");
    }
    this.#resultsBegun = true;
  }

  #addError(record: Json): void {
    const { step, message, turn_id, run_id } = record;
    const isSoft = SOFT_STOPS.includes(message as string);
    if (isSoft) {
      this.#needRun(record);
      if (this.#phase !== "between") broken("it stands after a step_end");
      this.#failed = true;
      return;
    }
    // A run that failed before its start.
    if (this.#phase === "idle") this.#enterRun(turn_id);
    if (turn_id !== this.#runId || run_id !== this.#runId) broken("ids are those of another run");
    if (step !== this.#step) broken(`step should be ${this.#step}`);
    if (this.#calls.length > 0) broken("a result is missing");
    if (message !== "Interrupted") this.#failed = true;
    this.#closeRun();
  }

  #closeRun(): void {
    this.#phase = "idle";
    this.#starting = false;
    this.#opensFromQueue = false;
    this.#taken = [];
  }

  #needRun({ run_id, turn_id }: Json): void {
    if (this.#phase === "idle" || this.#phase === "opening") broken("no run is open");
    if (run_id !== this.#runId || turn_id !== this.#runId) broken("ids are those of another run");
  }

  #needStep(record: Json, phase: Phase): void {
    this.#needRun(record);
    if (this.#phase !== phase) broken(`it cannot stand here (${this.#phase})`);
    if (record.step !== this.#step) broken(`step should be ${this.#step}`);
  }

  #depth(): number {
    return this.#queues.steer.length + this.#queues.follow_up.length;
  }
}

const SOFT_STOPS = [
  "The model stopped without a user-facing answer.",
  "Stopped after repeated output-token limits.",
];

function explainIds(
  records: readonly Json[],
  ids: readonly string[] | undefined,
): string | undefined {
  if (ids === undefined) return undefined;
  const answered = records.filter(({ type }) => type === "response").map(({ id }) => id);
  if (JSON.stringify(answered) === JSON.stringify(ids)) return undefined;
  return `responses to ${JSON.stringify(answered)}, commands ${JSON.stringify(ids)}`;
}
