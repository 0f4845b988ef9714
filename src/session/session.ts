/**
 * Session: one conversation. Starts turns, holds what waits, stops what runs, and tells everything in order. Knows no wire name and no
 * dialect; where dialects differ it asks the policy.
 */

import type { AgentEvent } from "../agent/agent_event.ts";
import type { TurnHooks } from "../agent/hook.ts";
import type { UserMessage } from "../agent/message.ts";
import type { TurnResult } from "../agent/run_turn.ts";
import { NO_USAGE } from "../agent/usage.ts";
import { ClientCompaction } from "./client_compaction.ts";
import type { CommandResults, CompactionReport } from "./command.ts";
import { createMessage } from "./create_message.ts";
import { Delivery } from "./delivery.ts";
import type { CompactionPhase, QueueDepths, SessionEvent } from "./event.ts";
import type { EndedJob, Jobs } from "./jobs.ts";
import type { QueueName, WaitingMessage } from "./message_queue.ts";
import { Notices } from "./notices.ts";
import { NoticeTurns } from "./notice_turns.ts";
import { planRetry } from "./plan_retry.ts";
import type { Settings } from "./settings.ts";
import { storeNotices } from "./store_notices.ts";
import type { Transcript } from "./transcript.ts";
import { errorReport, turnErrorText } from "./turn_error.ts";
import { describeOpening, type Opening, unsavedTurn } from "./turn_opening.ts";
import type { TurnKit, Workshop } from "./workshop.ts";

/** Why turns are stopped; the reason of the abort signal. */
export class AbortedError extends Error {
  override readonly name = "AbortedError";
  constructor() {
    super("The turn was stopped");
  }
}

export interface SessionOptions {
  readonly settings: Settings;
  readonly transcript: Transcript;
  readonly workshop: Workshop;
  readonly jobs: Jobs;
  /** Takes an event in order; a returned promise asks producers to wait. */
  emit(event: SessionEvent): Promise<void> | undefined;
}

export class Session implements AsyncDisposable {
  readonly #settings: Settings;
  readonly #workshop: Workshop;
  readonly #jobs: Jobs;
  readonly #notices = new Notices();
  readonly #noticeTurns = new NoticeTurns({ start: () => void this.#startNoticeTurn("due") });
  /** Ids of the subagents that run. */
  readonly #subagents = new Set<string>();
  #kit: Promise<TurnKit> | undefined;
  readonly #emitEvent: SessionOptions["emit"];
  readonly #delivery: Delivery;
  readonly transcript: Transcript;
  #turn = 0;
  #controller = new AbortController();
  /** Resolves when `#controller` is aborted: one listener, however often somebody waits. */
  #aborted = abortOf(this.#controller.signal);
  #running: Promise<void> | undefined;
  #busy = false;
  /** The message that opens the next turn, once the running one is over. */
  #next: Opening | undefined;
  #noted = Promise.withResolvers<void>();
  #pendingNote: (() => void) | undefined;
  /** Tells whoever started the running turn that its opening has been told. */
  #onOpened: () => void = () => {};
  #batchOpen = false;
  #lastAnswer: string | undefined;
  /** Ends the pause before another try. */
  #retryPause: AbortController | undefined;
  #compactions = 0;
  readonly #clientCompaction = new ClientCompaction();
  /** Messages that are stored when the running turn is over. */
  readonly #later: UserMessage[] = [];
  /** Whether the last turn of this process ended with an answer. */
  answered = false;
  /** Whether the last reply was cut off by its length limit. */
  isCutOff = false;
  /** False once a turn failed in this process. */
  success = true;

  constructor(options: SessionOptions) {
    this.#settings = options.settings;
    this.#workshop = options.workshop;
    this.#jobs = options.jobs;
    this.transcript = options.transcript;
    this.#emitEvent = options.emit;
    this.#delivery = new Delivery({
      settings: options.settings,
      transcript: options.transcript,
      emit: (event) => this.#emit(event),
    });
  }

  get id(): string {
    return this.transcript.id;
  }

  /** From accepting a message that starts a turn until everything that follows from it is over and taken note of. */
  get busy(): boolean {
    return this.#busy;
  }

  get waiting(): QueueDepths {
    return this.#delivery.depths;
  }

  /** The answer of the last turn of this process that ended with one, else of the conversation. */
  get lastAnswer(): string {
    return this.#lastAnswer ?? this.transcript.lastReplyText();
  }

  /**
   * Starts a turn; nothing may run. It is busy at once; the returned function lets the turn begin and resolves when its opening has been
   * told, so that the caller can write its response first.
   */
  start(message: WaitingMessage): () => Promise<void> {
    this.#noticeTurns.lift();
    return this.#start({ ...message, kind: "message", origin: "prompt" });
  }

  /** Lets a message wait for the running turn. The returned function tells of it; the caller writes its response first or after that. */
  enqueue(queue: QueueName, message: WaitingMessage): () => undefined {
    this.#noticeTurns.lift();
    return this.#delivery.enqueue(queue, message);
  }

  /** Whether a summary is being made. */
  get compacting(): boolean {
    return this.#compactions > 0 || this.#clientCompaction.isRunning;
  }

  /** Ends the pause before another try, and with it the turn; nothing happens when there is none. */
  cancelRetry(): void {
    if (this.#retryPause === undefined) return;
    this.#emit({ type: "retry_cancelled" });
    this.#retryPause.abort(new Error("The client wants no other try"));
    this.#retryPause = undefined;
  }

  /** Tells an event of this conversation that comes from elsewhere. */
  tell(event: SessionEvent): Promise<void> | undefined {
    return this.#emit(event);
  }

  /** Adds a message that nobody sent to the conversation: at once, or when the running turn is over. */
  async addMessage(message: UserMessage): Promise<void> {
    if (this.#busy) {
      this.#later.push(message);
      return;
    }
    await this.transcript.prepare();
    this.transcript.append(message);
    await this.transcript.flush();
  }

  /** Shortens what the model is sent because the client wants it. Stops what runs first; no turn can start before it is over. Throws `RequestError`. */
  async compactForClient(instructions: string | undefined): Promise<CompactionReport> {
    return await this.#clientCompaction.run((signal) => this.#compactNow(instructions, signal));
  }

  async #compactNow(
    instructions: string | undefined,
    signal: AbortSignal,
  ): Promise<CompactionReport> {
    if (this.#busy) this.#controller.abort(new AbortedError());
    await this.#running;
    signal.throwIfAborted();
    const { compactor } = await this.#openKit();
    await this.transcript.prepare();
    return await compactor.compactForClient({ instructions, signal });
  }

  /** Removes and returns what waits; the running turn goes on. */
  clearQueues(): CommandResults["clear_queue"] {
    return this.#delivery.clear();
  }

  /** Stops the running turn. Returns at once; `idle()` resolves when it has stopped. */
  abort(): void {
    this.#noticeTurns.hold();
    if (this.#settings.policy.abortClearsQueues) this.clearQueues();
    this.#controller.abort(new AbortedError());
    this.#clientCompaction.stop(new AbortedError());
  }

  /** Resolves when nothing runs. Never rejects. */
  async idle(): Promise<void> {
    await this.#clientCompaction.idle();
    await this.#running;
  }

  /** A job of this conversation has ended: the model is told in the running turn, else in one of its own. */
  noteJobEnd(job: EndedJob): void {
    this.#notices.add(job);
    this.#noticeTurns.schedule();
  }

  /** No turn starts by itself until the client says something. */
  holdNoticeTurns(): void {
    this.#noticeTurns.hold();
  }

  /** From now on `runNoticeTurn` is the only way that notices start a turn. */
  endNoticeTurns(): void {
    this.#noticeTurns[Symbol.dispose]();
  }

  /** Whether a notice waits that may start a turn now. */
  get hasNoticeTurn(): boolean {
    return this.#notices.wantsTurn && this.mayTakeNoticeTurns;
  }

  /** Whether turns for notices are neither held nor too many in a row. */
  get mayTakeNoticeTurns(): boolean {
    return this.#noticeTurns.isAllowed && this.#settings.policy.jobTurns;
  }

  /** Runs a turn for the notices that wait. Nothing may run. */
  async runNoticeTurn(): Promise<void> {
    await this.#startNoticeTurn("asked");
    await this.#running;
  }

  /** Makes the conversation shorter because a person asks for it, and says what came of it. Nothing may run. Throws `signal.reason`. */
  async compact(
    options: { instructions: string; signal: AbortSignal },
  ): Promise<"done" | "failed" | "nothing_to_do"> {
    const kit = await this.#openKit();
    await this.transcript.prepare();
    const outcome = await kit.compactor.compactNow(options);
    await this.transcript.flush();
    return outcome;
  }

  /** Stores model and thinking level, where they changed, if the conversation has a file already. */
  async recordSetting(): Promise<void> {
    if (this.transcript.messages.length === 0) return;
    if (!this.#busy) await this.transcript.prepare();
    this.#recordSetting();
    if (!this.#busy) await this.transcript.flush();
  }

  #recordSetting(): void {
    const { model, thinkingLevel } = this.#settings;
    // What stands in for a model that is not set up has no name.
    if (model.id === "") return;
    this.transcript.recordSetting({
      provider: model.provider,
      model: model.id,
      thinkingLevel: thinkingLevel ?? "off",
    });
  }

  /** Keeps the notices that nobody read in the conversation, so that the model knows after it is opened again. */
  async saveNotices(): Promise<void> {
    if (this.#notices.isEmpty) return;
    await this.transcript.prepare();
    this.#storeNotices();
    await this.transcript.flush();
  }

  /** Commands of one read are about to be handled: the end of a turn may have to wait for the last of them. */
  openBatch(): void {
    this.#batchOpen = this.#settings.policy.settleAfterBatch;
  }

  /** Takes note of a turn that ended while the batch was handled. */
  closeBatch(): void {
    this.#batchOpen = false;
    const note = this.#pendingNote;
    this.#pendingNote = undefined;
    note?.();
  }

  /** Stops what runs and closes the file. Safe to call twice. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#noticeTurns[Symbol.dispose]();
    this.#controller.abort(new AbortedError());
    this.#clientCompaction.stop(new AbortedError());
    await this.idle();
    await this.transcript[Symbol.asyncDispose]();
  }

  #start(opening: Opening): () => Promise<void> {
    this.#busy = true;
    this.#renewController();
    const opened = Promise.withResolvers<void>();
    return () => {
      this.#running = this.#work(opening, opened.resolve);
      return opened.promise;
    };
  }

  async #startNoticeTurn(reason: "due" | "asked"): Promise<void> {
    if (this.#busy || !this.hasNoticeTurn) return;
    // Done before, so that the turn is told in the moment in which the session becomes busy. A failure shows in the turn.
    const isPrepared = await this.transcript.prepare().then(() => true, () => false);
    if (this.#busy || !this.hasNoticeTurn) return;
    if (reason === "due" && this.#noticeTurns.isOff) return;
    this.#noticeTurns.countTurn();
    void this.#start({ kind: "notices", isPrepared })();
  }

  #renewController(): void {
    this.#controller = new AbortController();
    this.#aborted = abortOf(this.#controller.signal);
  }

  #emit(event: SessionEvent): Promise<void> | undefined {
    const room = this.#emitEvent(event);
    if (event.type === "step_start" || event.type === "turn_end") this.#retryPause = undefined;
    if (event.type === "compaction") this.#countCompactions(event.phase);
    if (event.type === "diagnostic" && event.level === "error") this.success = false;
    // A compaction before the first request takes long; commands are not kept waiting for it.
    if (event.type === "step_start" || event.type === "compaction") this.#onOpened();
    const { signal } = this.#controller;
    // Whoever stops a turn wants it to stop also when nobody reads.
    return room === undefined || signal.aborted ? undefined : Promise.race([room, this.#aborted]);
  }

  #countCompactions(phase: CompactionPhase["phase"]): void {
    if (phase === "start") this.#compactions++;
    if (phase === "done" || phase === "error" || phase === "aborted") this.#compactions--;
  }

  /** Runs turns until nothing is left to do. */
  async #work(first: Opening, onOpened: () => void): Promise<void> {
    this.#onOpened = onOpened;
    this.#next = first;
    while (this.#next !== undefined) {
      const opening = this.#next;
      this.#next = undefined;
      this.#noted = Promise.withResolvers<void>();
      await this.#runTurn(opening);
      onOpened();
      await this.#noted.promise;
    }
  }

  async #runTurn(opening: Opening): Promise<void> {
    const turn = ++this.#turn;
    let startedAt = Date.now();
    let closed = false;
    let isOpen = false;
    const close = (result: TurnResult) => {
      closed = true;
      this.#closeTurn(turn, { ...result, durationMs: Math.max(1, Date.now() - startedAt) });
    };
    const fail = (error: unknown): TurnResult => ({
      ...(this.#controller.signal.aborted
        ? { outcome: "aborted" }
        : { outcome: "failed", error: turnErrorText(error), cause: error }),
      usage: NO_USAGE,
      durationMs: 0,
    });
    let result: TurnResult;
    try {
      await this.#openTurn(turn, opening);
      isOpen = true;
      startedAt = Date.now();
      const kit = await this.#openKit();
      const { policy } = this.#settings;
      result = await kit.runTurn({
        sessionId: this.id,
        conversation: this.transcript,
        hooks: this.#hooks({ close, kit }),
        texts: policy.texts,
        exitCodeIsError: policy.exitCodeIsError,
        emptyAnswer: policy.emptyAnswer,
        lengthCut: policy.lengthCut,
        failures: policy.failures,
        announceCalls: policy.announceCalls,
        readsWhileAsked: policy.readsWhileAsked,
        watchOutput: kit.watchOutput,
        maxRequests: this.#settings.maxTurnRequests,
        toolContext: kit.toolContext,
        signal: this.#controller.signal,
        setting: kit.setting,
        emit: (event) => {
          const room = this.#emit(event);
          this.#watch(event);
          return room;
        },
      });
    } catch (error) {
      if (!this.#controller.signal.aborted) this.#settings.host.warn(`weir: ${errorReport(error)}`);
      if (!isOpen) this.#emit(unsavedTurn(turn, opening));
      result = fail(error);
    }
    if (opening.kind === "notices" && result.outcome === "failed") this.#noticeTurns.hold();
    if (closed) return;
    this.#storeLater();
    try {
      await this.transcript.flush();
    } catch (error) {
      result = result.outcome === "aborted" ? result : fail(error);
    }
    close(result);
  }

  /** Stores the message that opens a turn and tells of it. */
  async #openTurn(turn: number, opening: Opening): Promise<void> {
    if (opening.kind === "message" || !opening.isPrepared) await this.transcript.prepare();
    this.#recordSetting();
    if (opening.kind === "notices") {
      this.#storeNotices();
      await this.#emit({ type: "turn_start", turn, opening: undefined });
      return;
    }
    const message = await createMessage(opening, {
      expand: true,
      settings: this.#settings,
      signal: this.#controller.signal,
    });
    const id = this.transcript.append(message);
    await this.#emit({
      type: "turn_start",
      turn,
      opening: describeOpening(opening, { id, message }),
    });
  }

  #openKit(): Promise<TurnKit> {
    this.#kit ??= this.#workshop.equip({
      sessionId: this.id,
      transcript: this.transcript,
      jobs: this.#jobs,
      subagents: this.#subagents,
      takeNotices: (filter) => this.#notices.take(filter),
      emit: (event) => this.#emit(event),
    });
    return this.#kit;
  }

  /** Stores what was to wait for the end of the turn. */
  #storeLater(): void {
    try {
      for (; this.#later.length > 0; this.#later.shift()) this.transcript.append(this.#later[0]!);
    } catch (error) {
      this.#settings.host.warn(`weir: ${errorReport(error)}`);
    }
  }

  /** Puts the waiting notices into the conversation, all as one message. */
  #storeNotices(): void {
    storeNotices(this.#notices, {
      transcript: this.transcript,
      settings: this.#settings,
      subagents: this.#subagents,
    });
  }

  #hooks(
    { close, kit }: { close: (result: TurnResult) => void; kit: TurnKit },
  ): TurnHooks {
    return {
      beforeRequest: async ({ afterAnswer, signal }) => {
        await this.#delivery.deliver(afterAnswer, { signal: this.#controller.signal });
        this.#storeNotices();
        await kit.compactor.compactIfFull(signal);
      },
      beforeEnd: () => this.transcript.flush(),
      goesOn: (result) => {
        if (this.#delivery.isDue) return true;
        this.#storeLater();
        close(result);
        return false;
      },
      ...kit.callHooks,
      makeRoom: (signal) => kit.compactor.makeRoom(signal),
      mayMakeRoom: () => kit.compactor.mayMakeRoom(),
      planRetry: (error, attempt) => {
        const plan = planRetry(this.#settings, error, attempt);
        if (plan === undefined) return undefined;
        this.#retryPause = new AbortController();
        return { ...plan, signal: this.#retryPause.signal };
      },
    };
  }

  /** Ends a turn and decides in the same moment what follows, so that no command can come in between. */
  #closeTurn(turn: number, result: TurnResult): void {
    if (result.outcome === "answered") this.#lastAnswer = result.answer;
    if (result.outcome === "failed") this.success = false;
    this.answered = result.outcome === "answered";
    this.#emit({ type: "turn_end", turn, ...result });
    const note = () => this.#noteEnd(result.outcome);
    if (this.#batchOpen) this.#pendingNote = note;
    else note();
  }

  #noteEnd(outcome: TurnResult["outcome"]): void {
    const { policy } = this.#settings;
    this.#next = this.#chooseNext(outcome);
    if (this.#next !== undefined) {
      // From here on a stop is meant for the turn that comes.
      if (this.#controller.signal.aborted && !policy.abortClearsQueues) this.#renewController();
    } else {
      this.#busy = false;
      this.#emit({ type: "settled", aborted: outcome === "aborted" });
      if (this.#notices.wantsTurn) this.#noticeTurns.schedule();
    }
    this.#noted.resolve();
  }

  #chooseNext(outcome: TurnResult["outcome"]): Opening | undefined {
    const { policy } = this.#settings;
    if (outcome !== "answered" && policy.queuesAfterFailure === "hold") return undefined;
    const waiting = this.#delivery.takeNext();
    if (waiting === undefined) return undefined;
    this.#noticeTurns.lift();
    return { ...waiting, kind: "message" };
  }

  /** What the session itself learns from the events of a turn. */
  #watch(event: AgentEvent): void {
    if (event.type === "soft_stop") this.success = false;
    if (event.type === "reply_end") this.isCutOff = event.message.stopReason === "length";
    if (event.type !== "call_end" || event.call.name !== "todo" || event.message.isError) return;
    const items = event.message.details?.items;
    if (Array.isArray(items)) this.#emit({ type: "plan_change", items });
  }
}

function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true })
  );
}
