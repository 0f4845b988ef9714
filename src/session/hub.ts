/**
 * Hub: the joint of a connection. Commands go in, one after another; results and events come out, in the order in which they happen. Turns
 * run beside it, so that abort and steer are read while one runs. Knows no wire name.
 */

import { errorText, ModelError, RequestError, StartError } from "../errors.ts";
import type { EndCause, HubEnd, OutRecord, Request } from "./command.ts";
import type { SessionEvent } from "./event.ts";
import { handleCommand, type HandledCommand } from "./handle_command.ts";
import { finishWork } from "./finish_work.ts";
import { type EndedJob, Jobs } from "./jobs.ts";
import { RecordQueue } from "./record_queue.ts";
import { Session } from "./session.ts";
import type { OpenedSession, Settings } from "./settings.ts";
import { Transcript } from "./transcript.ts";
import { Workshop } from "./workshop.ts";

/** Bytes, about, that may wait to be written before producers wait. */
const QUEUE_LIMIT = 6 * 1024 * 1024;
const BATCH_WEIGHT = 64 * 1024;
const RESPONSE_WEIGHT = 256;

export class Hub {
  readonly #settings: Settings;
  readonly #workshop: Workshop;
  readonly #queue: RecordQueue<OutRecord>;
  readonly #ended = Promise.withResolvers<HubEnd>();
  readonly jobs: Jobs;
  #session: Session;
  /** Earlier sessions whose jobs still run. */
  readonly #earlier = new Set<Session>();
  /** Resolves when the earlier sessions whose jobs have ended are saved. */
  #earlierClosed = Promise.resolve();
  readonly #hardEnd = new AbortController();
  readonly #watchClient: ((onGone: () => void) => Disposable) | undefined;
  #endCause: EndCause | undefined;
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
    /** Tells when the client is gone although nothing is written to it; used while work is finished after the end of the input. */
    watchClient?: (onGone: () => void) => Disposable;
  }) {
    this.#settings = options.settings;
    this.#watchClient = options.watchClient;
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
    this.#session = this.#createSession(options.opened);
    this.writable = new WritableStream<readonly Request[]>({
      start: (controller) => {
        this.#stopInput = (reason) => controller.error(reason);
      },
      write: (requests) => this.#batch = this.#handleBatch(requests),
      close: () => this.#end("input"),
      abort: () => this.#end("input"),
    }, { highWaterMark: 1 });
    const { workspace, model } = options.settings;
    this.#emit(this.#session, { type: "session_open", workspace, model: model.id });
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
    return this.#endCause !== undefined;
  }

  /** Puts an empty session in the place of the current one, which is closed. */
  async replaceSession(): Promise<Session> {
    const old = this.#session;
    // A job that ends in this moment must not start a turn in the session that is left.
    old.holdNoticeTurns();
    const opened = await this.#settings.openSession();
    this.#session = this.#createSession(opened);
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

  #createSession(opened: OpenedSession): Session {
    const session: Session = new Session({
      settings: this.#settings,
      transcript: new Transcript(opened),
      workshop: this.#workshop,
      jobs: this.jobs,
      emit: (event) => this.#emit(session, event),
    });
    const { extensions, workspace } = this.#settings;
    void extensions?.sessionStart({ id: session.id, workspace });
    return session;
  }

  #emit(session: Session, event: SessionEvent): Promise<void> | undefined {
    this.#queue.push({ kind: "event", sessionId: session.id, event }, weigh(event));
    return this.#queue.ready();
  }

  async #handleBatch(requests: readonly Request[]): Promise<void> {
    const session = this.#session;
    session.openBatch();
    try {
      for (const request of requests) {
        const wait = this.#handle(request);
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
    return handled.after?.() ?? this.#queue.ready();
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
    return this.#queue.ready();
  }

  /** Finishes or stops what runs, saves, tells the last event. The first cause counts, but a harder one stops what an end of input lets finish. */
  async #end(cause: EndCause): Promise<void> {
    const hard = cause !== "input" || this.#settings.policy.endOfInput === "interrupt";
    if (hard) this.#stopTurn();
    if (this.#endCause !== undefined) {
      if (cause === "signal") this.#endCause = cause;
      return;
    }
    this.#endCause = cause;
    const session = this.#session;
    session.endNoticeTurns();
    const { jobs } = this;
    // A client that is gone has closed its end of our input too, and may be the reason.
    using _watch = session.busy || jobs.runningOf(session.id).length > 0
      ? this.#watchClient?.(() => this.clientGone(new Error("nobody reads the output")))
      : undefined;
    await session.idle();
    await jobs.stopAll("exit", (job) => job.kind === "adopted");
    await finishWork({ session, jobs, host: this.#settings.host, signal: this.#hardEnd.signal });
    const jobsStopped = await jobs.stopAll("exit");
    const { success } = session;
    await this.#closeSession(session);
    for (const earlier of this.#earlier) await this.#closeSession(earlier);
    await this.#earlierClosed;
    const warn = (error: unknown) => this.#settings.host.warn(`weir: ${errorText(error)}`);
    await this.#settings.stopServers?.().catch(warn);
    await this.#settings.removeOutput().catch(warn);
    // Whoever sent commands together with the one that ends everything gets an answer to each.
    if (this.#settings.policy.settleAfterBatch) await this.#batch.catch(() => {});
    const end = { cause: this.#endCause, success };
    this.#emit(session, { type: "session_close", jobsStopped, ...end });
    this.#queue.close();
    this.#stopInput(new Error("the session is over"));
    this.#ended.resolve(end);
  }

  #stopTurn(): void {
    this.#hardEnd.abort(new Error("the client is gone or does not wait"));
    this.#session.clearQueues();
    if (this.#session.busy) this.#session.abort();
  }
}

/** About how many bytes an event will have on the wire. */
function weigh(event: SessionEvent): number {
  switch (event.type) {
    case "text_delta":
    case "thinking_delta":
    case "tool_input_delta":
    case "tool_output":
      return 96 + event.delta.length;
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
