/**
 * Seat: one of the conversations of a connection, with its own settings, jobs, servers and lock. Opened by a `SeatKeeper`. Knows no wire;
 * which message is sent when is the business of its owner.
 */

import { errorText } from "../errors.ts";
import type { PlannedChange } from "./plan_change.ts";
import type { ToolCall } from "../agent/message.ts";
import { redactLines } from "./notices.ts";
import { type EndedJob, Jobs } from "./jobs.ts";
import type { SeatWish } from "./seats.ts";
import { Session } from "./session.ts";
import type { OpenedSession, Settings } from "./settings.ts";
import { Transcript } from "./transcript.ts";
import { Workshop } from "./workshop.ts";

export interface SeatOptions {
  readonly settings: Settings;
  readonly opened: OpenedSession;
  readonly wish: Pick<SeatWish, "onEvent" | "onJobEnd">;
  /** Names of the MCP servers whose tools there are. */
  readonly serverNames: readonly string[];
  /** `provider/model` of every configured model. */
  readonly modelNames: readonly string[];
  /** How long a person may take to answer; `undefined`: for ever. */
  readonly approvalTimeoutMs: number | undefined;
  /** Finds a usable model, when there was none, or throws `SeatError` (`model`). */
  requireModel(settings: Settings): Promise<void>;
}

export class Seat {
  readonly settings: Settings;
  readonly session: Session;
  readonly jobs: Jobs;
  readonly serverNames: readonly string[];
  readonly modelNames: readonly string[];
  readonly approvalTimeoutMs: number | undefined;
  readonly #options: SeatOptions;
  #closing: Promise<void> | undefined;

  constructor(options: SeatOptions) {
    const { settings, wish } = options;
    this.#options = options;
    this.settings = settings;
    this.serverNames = options.serverNames;
    this.modelNames = options.modelNames;
    this.approvalTimeoutMs = options.approvalTimeoutMs;
    this.jobs = new Jobs({
      onChange: (change, job) => void wish.onEvent({ type: "job_change", change, job }),
      onEnd: (job) => this.#noteJobEnd(job),
    });
    this.session = new Session({
      settings,
      transcript: new Transcript(options.opened),
      workshop: new Workshop(settings),
      jobs: this.jobs,
      emit: (event) => wish.onEvent(event),
    });
    const { extensions, workspace } = settings;
    void extensions?.sessionStart({ id: this.session.id, workspace });
  }

  get id(): string {
    return this.session.id;
  }

  /** Real absolute path of the folder that the agent works in. */
  get folder(): string {
    return this.settings.workspace;
  }

  /** Resolves when there is a usable model; throws `SeatError` (`model`). Costs nothing once there is one. */
  requireModel(): Promise<void> {
    return this.#options.requireModel(this.settings);
  }

  /** What a `write` or `edit` call would change, as far as it may be looked at; `undefined` for other calls. Throws `signal.reason`. */
  async planChange(call: ToolCall, signal: AbortSignal): Promise<PlannedChange | undefined> {
    if (call.name !== "write" && call.name !== "edit") return undefined;
    const { host, workspace, client } = this.settings;
    const { planChange } = await import("./plan_change.ts");
    return await planChange({ name: call.name, args: call.arguments }, {
      host,
      workspace,
      client,
      signal,
      isCredentialFile: (path) => this.settings.isCredentialFile(path),
    });
  }

  /** Stops what runs, saves, releases the lock, stops the servers. What fails is a line on stderr. Safe to call twice. */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  #noteJobEnd(job: EndedJob): void {
    this.#options.wish.onJobEnd({ ...job, output: redactLines(job.output, this.settings.redact) });
    this.session.noteJobEnd(job);
  }

  async #close(): Promise<void> {
    const { session, settings } = this;
    session.endNoticeTurns();
    const steps = [
      async () => {
        if (session.busy) session.abort();
        await session.idle();
      },
      () => this.jobs.stopAll("exit"),
      () => session.saveNotices(),
      () => session[Symbol.asyncDispose](),
      () => settings.extensions?.sessionEnd({ id: session.id, workspace: settings.workspace }),
      () => settings.stopServers?.(),
      () => settings.removeOutput(),
    ];
    for (const step of steps) {
      try {
        await step();
      } catch (error) {
        settings.host.warn(`weir: ${errorText(error)}`);
      }
    }
  }
}
