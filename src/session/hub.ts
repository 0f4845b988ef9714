/**
 * Hub: the joint of a connection. Commands go in, one after another; results and events come out, in the order in which they happen. Turns
 * run beside it, so that abort and steer are read while one runs. Knows no wire name.
 */

import { errorText, ModelError, RequestError, StartError } from "../errors.ts";
import { type Model, THINKING_LEVELS, type ThinkingLevel } from "../agent/model.ts";
import { ClientCommands } from "./client_commands.ts";
import { ClientWatch } from "./client_watch.ts";
import type { EndCause, HubEnd, OutRecord, Request } from "./command.ts";
import type { SessionEvent } from "./event.ts";
import { handleCommand, type HandledCommand } from "./handle_command.ts";
import { finishWork } from "./finish_work.ts";
import { type EndedJob, Jobs } from "./jobs.ts";
import { LateCommands } from "./late_commands.ts";
import { QuestionDesk } from "./question_desk.ts";
import { RecordQueue } from "./record_queue.ts";
import { Session } from "./session.ts";
import { type OpenedSession, settingOf, type Settings } from "./settings.ts";
import { Transcript } from "./transcript.ts";
import { Workshop } from "./workshop.ts";

/** Bytes, about, that may wait to be written before producers wait. */
const QUEUE_LIMIT = 6 * 1024 * 1024;
const BATCH_WEIGHT = 64 * 1024;
const RESPONSE_WEIGHT = 256;
/** How long accepted work may take after the end of the input. */
const END_WAIT_SECONDS = 1800;

export class Hub {
  readonly #settings: Settings;
  readonly #workshop: Workshop;
  readonly #queue: RecordQueue<OutRecord>;
  readonly #ended = Promise.withResolvers<HubEnd>();
  readonly jobs: Jobs;
  /** Commands that the client itself runs. */
  readonly commands = new ClientCommands({ onStart: () => this.#clientWatch?.workBegins() });
  /** Where a client is asked about calls; absent where it is not, or in another way. */
  readonly questions: QuestionDesk | undefined;
  readonly #late: LateCommands | undefined;
  /** The model and level that the program was started with. */
  readonly #initial: { readonly model: Model; readonly thinkingLevel: ThinkingLevel | undefined };
  #session: Session;
  /** Earlier sessions whose jobs still run. */
  readonly #earlier = new Set<Session>();
  /** Resolves when the earlier sessions whose jobs have ended are saved. */
  #earlierClosed = Promise.resolve();
  readonly #hardEnd = new AbortController();
  readonly #hardEnded = Promise.withResolvers<void>();
  readonly #clientWatch: ClientWatch | undefined;
  #endCause: EndCause | undefined;
  /** The input has ended, and commands that were read before wait for their turn. */
  #takesRest = false;
  #stopInput: (reason: unknown) => void = () => {};
  /** Resolves when the commands of the last read are answered. */
  #batch: Promise<void> = Promise.resolve();
  /** Commands. Closing it is the end of input; so is a read error. */
  readonly writable: WritableStream<readonly Request[]>;
  /** Results and events. Cancelling it says that the client has gone. */
  readonly readable: ReadableStream<readonly OutRecord[]>;

  constructor(options: {
    settings: Settings;
    opened: OpenedSession;
    /** Tells when the client is gone although nothing is written to it; used while work goes on in silence or after the end of the input. */
    watchClient?: (onGone: () => void) => Disposable;
  }) {
    this.#settings = options.settings;
    const { watchClient } = options;
    this.#clientWatch = watchClient && new ClientWatch({
      watch: () => watchClient(() => this.clientGone(new Error("nobody reads the output"))),
      // As long as the client may send more, a job does not need it.
      isWorking: () => this.#isWorking({ countJobs: this.#endCause !== undefined }),
    });
    this.#workshop = new Workshop(options.settings);
    this.#queue = new RecordQueue({
      limit: QUEUE_LIMIT,
      batchWeight: BATCH_WEIGHT,
      onCancel: (reason) => this.clientGone(reason),
    });
    this.readable = this.#queue.readable;
    this.jobs = new Jobs({
      onChange: (change, job) =>
        this.#queue.push({
          kind: "event",
          sessionId: job.sessionId,
          event: { type: "job_change", change, job },
        }, RESPONSE_WEIGHT),
      onEnd: (job) => this.#noteJobEnd(job),
    });
    const { model, thinkingLevel, policy: { lateCommands } } = options.settings;
    this.#initial = { model, thinkingLevel };
    this.#late = lateCommands &&
      new LateCommands({ rules: lateCommands, handle: (request) => this.#handle(request) });
    if (options.settings.policy.asksByEvents) {
      this.questions = new QuestionDesk({
        settings: options.settings,
        emit: (event) => void this.#emit(this.#session, event),
      });
      options.settings.client = this.questions;
    }
    this.#session = this.#createSession(options.opened, { isFirst: true });
    this.writable = new WritableStream<readonly Request[]>({
      start: (controller) => {
        this.#stopInput = (reason) => controller.error(reason);
      },
      write: (requests) => this.#batch = this.#handleBatch(requests),
      close: () => this.#end("input"),
      abort: (reason) => {
        options.settings.host.warn(`weir: the input cannot be read: ${errorText(reason)}`);
        return this.#end("input");
      },
    }, { highWaterMark: 1 });
    const header = { ...this.#session.transcript.header };
    const { workspace } = options.settings;
    this.#emit(this.#session, { type: "session_open", workspace, model: model.id, header });
  }

  /** Resolves when the last record is in the queue and everything is saved. Never rejects. */
  get ended(): Promise<HubEnd> {
    return this.#ended.promise;
  }

  get session(): Session {
    return this.#session;
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** The client reads no more: stops what runs and ends. */
  clientGone(_reason: unknown): void {
    void this.#end("client_gone");
  }

  /** Stops what runs and ends, after a signal or a command that asks for it. */
  stop(cause: "signal" | "shutdown"): void {
    void this.#end(cause);
  }

  /** Whether the end has begun. */
  get ending(): boolean {
    return this.#endCause !== undefined && !this.#takesRest;
  }

  /** Puts an empty session in the place of the current one, which is closed. */
  async replaceSession(opened?: OpenedSession): Promise<Session> {
    const old = this.#session;
    // A job that ends in this moment must not start a turn in the session that is left.
    old.holdNoticeTurns();
    opened ??= await this.#settings.openSession();
    this.#session = this.#createSession(opened);
    this.questions?.forget();
    this.#session.holdNoticeTurns();
    old.endNoticeTurns();
    if (this.jobs.runningOf(old.id).length > 0) this.#earlier.add(old);
    else await this.#closeSession(old);
    return this.#session;
  }

  /** Tells the session of a job that it has ended; an earlier session keeps the notice in its file. */
  #noteJobEnd(job: EndedJob): void {
    if (job.owner.sessionId === this.#session.id) return this.#session.noteJobEnd(job);
    for (const session of this.#earlier) {
      if (session.id !== job.owner.sessionId) continue;
      session.noteJobEnd(job);
      if (this.jobs.runningOf(session.id).length > 0) continue;
      this.#earlier.delete(session);
      const closed = this.#closeSession(session);
      this.#earlierClosed = this.#earlierClosed.then(() => closed);
    }
  }

  /** Saves what the model has not read, and closes the file. What cannot be saved is said on stderr. */
  async #closeSession(session: Session): Promise<void> {
    try {
      await session.saveNotices();
    } catch (error) {
      this.#settings.host.warn(`weir: ${errorText(error)}`);
    }
    try {
      await session[Symbol.asyncDispose]();
    } catch (error) {
      this.#settings.host.warn(`weir: ${errorText(error)}`);
    }
    const { extensions, workspace } = this.#settings;
    await extensions?.sessionEnd({ id: session.id, workspace });
  }

  /** Stops what runs, jobs and the client's commands included, as for another session. Nothing waits any more. */
  async stopWork(): Promise<void> {
    const session = this.#session;
    session.clearQueues();
    session.abort();
    await Promise.all([
      session.idle(),
      this.commands.stopAll(),
      this.jobs.stopAll("exit", (_job, owner) => owner.sessionId === session.id),
    ]);
    await this.commands.idle();
  }

  #createSession(opened: OpenedSession, { isFirst } = { isFirst: false }): Session {
    const { policy } = this.#settings;
    const session: Session = new Session({
      settings: this.#settings,
      transcript: new Transcript({
        sendsPartial: policy.sendsPartial,
        journal: opened.journal,
        entries: opened.entries,
        allEntries: policy.keepsEntries ? opened.allEntries ?? opened.entries : undefined,
      }),
      workshop: this.#workshop,
      jobs: this.jobs,
      emit: (event) => this.#emit(session, event),
    });
    const { extensions, workspace } = this.#settings;
    void extensions?.sessionStart({ id: session.id, workspace });
    if (policy.recordsSettings === "at_once") this.#takeSettings(session, { isFirst });
    return session;
  }

  /** The model and level are those recorded in the conversation, as far as they still exist, else those of the start. */
  #takeSettings({ transcript }: Session, { isFirst }: { isFirst: boolean }): void {
    const settings = this.#settings;
    const { recorded } = transcript;
    const { fixed } = settings;
    settings.model = this.#initial.model;
    settings.thinkingLevel = this.#initial.thinkingLevel;
    if (recorded.model !== "" && !(isFirst && fixed.model)) {
      const known = settings.configuredModels().find(({ provider, id }) =>
        `${provider}/${id}` === recorded.model
      );
      if (known !== undefined) settings.model = known;
    }
    if (recorded.thinkingLevel !== "" && !(isFirst && fixed.thinking)) {
      const level = THINKING_LEVELS.find((name) => name === recorded.thinkingLevel);
      // A level that nobody chose is recorded as `off`.
      const isUnset = level === "off" && this.#initial.thinkingLevel === undefined;
      if (level !== undefined && !isUnset) settings.thinkingLevel = level;
    }
    // Opening a file writes nothing to it.
    if (recorded.model === "" && transcript.entries.every(({ type }) => type === "session_info")) {
      transcript.recordSetting(settingOf(settings), { hold: true });
    }
  }

  #emit(session: Session, event: SessionEvent): Promise<void> | undefined {
    this.#queue.push({ kind: "event", sessionId: session.id, event }, weigh(event));
    if (event.type === "turn_start") this.#clientWatch?.workBegins();
    else this.#clientWatch?.written();
    return this.#queue.ready();
  }

  async #handleBatch(requests: readonly Request[]): Promise<void> {
    const session = this.#session;
    session.openBatch();
    try {
      for (const request of requests) {
        const wait = this.#late === undefined ? this.#handle(request) : this.#late.take(request);
        if (wait !== undefined) await wait;
      }
    } finally {
      session.closeBatch();
    }
  }

  /**
   * Carries out one command and writes its answer. A command that need not wait is done, answered and has told what it causes without a turn
   * of the event loop, so that nothing comes in between.
   */
  #handle(request: Request): Promise<void> | undefined {
    try {
      if (request.command instanceof RequestError) throw request.command;
      const handled = handleCommand(request.command, { hub: this, requestId: request.id });
      if (!(handled instanceof Promise)) return this.#finish(request, handled);
      return handled.then(
        (later) => this.#finish(request, later),
        (error) => this.#refuse(request, error),
      );
    } catch (error) {
      return this.#refuse(request, error);
    }
  }

  #finish(request: Request, handled: HandledCommand): Promise<void> | undefined {
    this.#queue.push({ kind: "result", request, result: handled.result }, RESPONSE_WEIGHT);
    return handled.after?.() ?? this.#room();
  }

  /** `undefined` when there is room for more records, else a promise for it. Nobody is waited for once everything has to end. */
  #room(): Promise<void> | undefined {
    const room = this.#queue.ready();
    if (room === undefined || this.#hardEnd.signal.aborted) return undefined;
    return Promise.race([room, this.#hardEnded.promise]);
  }

  #refuse(request: Request, error: unknown): Promise<void> | undefined {
    const isExpected = error instanceof RequestError || error instanceof ModelError ||
      error instanceof StartError;
    if (!isExpected) {
      const detail = error instanceof Error ? error.stack ?? error.message : String(error);
      this.#settings.host.warn(`weir: ${request.name} failed: ${detail}`);
    }
    const refusal = error instanceof Error ? error : new Error(errorText(error));
    this.#queue.push({ kind: "refusal", request, error: refusal }, RESPONSE_WEIGHT);
    return this.#room();
  }

  /** Finishes or stops what runs, saves, tells the last event. The first cause counts, but a harder one stops what an end of input lets finish. */
  async #end(cause: EndCause): Promise<void> {
    const hard = cause !== "input" || this.#settings.policy.endOfInput === "interrupt";
    if (hard) this.#stopTurn();
    if (this.#endCause !== undefined) {
      if (cause === "signal" || cause === "overdue") this.#endCause = cause;
      return;
    }
    this.#endCause = cause;
    this.questions?.close();
    const overdue = this.#watchEndTime();
    const { jobs } = this;
    // A client that is gone has closed its end of our input too, and may be the reason.
    using watch = this.#clientWatch;
    if (this.#isWorking({ countJobs: true })) watch?.start();
    this.#takesRest = !hard;
    await this.#late?.idle();
    this.#takesRest = false;
    const session = this.#session;
    session.endNoticeTurns();
    await session.idle();
    await this.commands.idle();
    await this.#late?.idle();
    await jobs.stopAll("exit", (job) => job.kind === "adopted");
    await finishWork({ session, jobs, host: this.#settings.host, signal: this.#hardEnd.signal });
    const jobsStopped = await jobs.stopAll("exit");
    clearTimeout(overdue);
    const { success, answered, isCutOff } = session;
    await this.#closeSession(session);
    for (const earlier of this.#earlier) await this.#closeSession(earlier);
    await this.#earlierClosed;
    const warn = (error: unknown) => this.#settings.host.warn(`weir: ${errorText(error)}`);
    await this.#settings.stopServers?.().catch(warn);
    await this.#settings.removeOutput().catch(warn);
    // Whoever sent commands together with the one that ends everything gets an answer to each.
    if (this.#settings.policy.settleAfterBatch) await this.#batch.catch(() => {});
    const end = { cause: this.#endCause, success, answered, ...(isCutOff && { isCutOff }) };
    this.#emit(session, { type: "session_close", jobsStopped, ...end });
    this.#queue.close();
    this.#stopInput(new Error("the session is over"));
    this.#ended.resolve(end);
  }

  /** Whether anything runs, with the jobs of the session or without. */
  #isWorking({ countJobs }: { countJobs: boolean }): boolean {
    const { busy, compacting, id } = this.#session;
    if (busy || compacting || this.commands.count > 0) return true;
    return countJobs && this.jobs.runningOf(id).length > 0;
  }

  /** What was accepted may take only so long after the end of the input, where the dialect has such a limit. */
  #watchEndTime(): ReturnType<typeof setTimeout> | undefined {
    const { policy: { endWaitVariable }, host } = this.#settings;
    if (endWaitVariable === undefined) return undefined;
    const text = host.getEnv(endWaitVariable)?.trim();
    const seconds = text === undefined || text === "" ? NaN : Number(text);
    const waitMs = 1000 * (seconds >= 0 ? seconds : END_WAIT_SECONDS);
    return setTimeout(() => void this.#end("overdue"), Math.min(waitMs, 2 ** 31 - 1));
  }

  #stopTurn(): void {
    this.#hardEnd.abort(new Error("the client is gone or does not wait"));
    this.#hardEnded.resolve();
    this.#session.clearQueues();
    this.#session.abort();
    this.commands.close();
  }
}

/** About how many bytes an event will have on the wire. */
function weigh(event: SessionEvent): number {
  switch (event.type) {
    case "text_delta":
    case "thinking_delta":
    case "tool_input_delta":
    case "tool_output":
    case "command_output":
      return 96 + event.delta.length;
    case "tool_snapshot":
      return 512 + event.snapshot.content.reduce((sum, { text }) => sum + text.length, 0);
    case "call_done":
    case "call_end":
    case "reply_end":
      return 512 +
        event.message.content.reduce(
          (sum, block) => sum + (block.type === "text" ? block.text.length : 128),
          0,
        );
    default:
      return 256;
  }
}
