/**
 * One session of the connection: its prompts, one after another, what the client may change of it, and its end. The events become updates in
 * `live_updates.ts`. Knows no line and no other session.
 */

import type { AssistantMessage } from "../../agent/message.ts";
import { AUTH_REQUIRED, INVALID_REQUEST, paramError, RpcError, type RpcId } from "./rpc.ts";
import { errorText, RequestError, StartError } from "../../errors.ts";
import type { ApprovalRequest, ClientHelp } from "../../session/client_help.ts";
import type { SessionEvent } from "../../session/event.ts";
import type { EndedJob } from "../../session/jobs.ts";
import type { Seat } from "../../session/seat.ts";
import { SeatError } from "../../session/seats.ts";
import type { PendingCalls } from "../../wire/pending_calls.ts";
import { type CommandPrompt, COMMANDS, readCommand, runCommand } from "./commands.ts";
import { createEditor } from "./editor.ts";
import { LiveUpdates } from "./live_updates.ts";
import {
  describeModes,
  describeOptions,
  findMode,
  modelName,
  toThinkingLevel,
  valuesOf,
} from "./options.ts";
import { type PermissionAccess, Permissions } from "./permissions.ts";
import type { ClientAbilities } from "./read_params.ts";
import type { Prompt } from "./read_prompt.ts";
import { replayMessages } from "./replay.ts";
import { internalError, judgeTurn } from "./turn_end.ts";
import { createPlace } from "./place.ts";
import type { ViewPlace } from "./tool_view.ts";
import type {
  SessionConfigOption,
  SessionModeState,
  SessionUpdate,
  StopReason,
} from "@agentclientprotocol/sdk";

/** Prompts that may wait for the running one. */
const MAX_WAITING = 32;

/** What a session needs of its connection. */
export interface SessionLink {
  readonly calls: PendingCalls;
  readonly access: PermissionAccess;
  readonly abilities: ClientAbilities;
  notify(method: string, params: object): void;
  answer(id: RpcId, result: object): void;
  refuse(id: RpcId, error: RpcError): void;
  room(): Promise<void> | undefined;
}

/** A prompt that waits or runs. */
interface Turn {
  readonly id: RpcId;
  readonly prompt: Prompt;
  readonly command: CommandPrompt | undefined;
  readonly stopper: AbortController;
}

export class AcpSession {
  readonly #link: SessionLink;
  readonly #folder: string;
  readonly #permissions: Permissions;
  /** What the core asks of this session's client. */
  readonly client: ClientHelp;
  #seat: Seat | undefined;
  #updates: LiveUpdates | undefined;
  /** Warnings from before there was a session. */
  #warnings: string[] = [];
  #waiting: Turn[] = [];
  /** Waited when a cancel came; answered behind the running one. */
  #cancelled: Turn[] = [];
  #running: Turn | undefined;
  /** Set from the answer of a turn until the next one may begin. */
  #pause: Promise<void> | undefined;
  #lastReply: AssistantMessage | undefined;
  #settled = Promise.withResolvers<void>();

  /** `folder`: the working folder as the client names it. */
  constructor(options: { link: SessionLink; folder: string }) {
    this.#link = options.link;
    this.#folder = options.folder;
    const { calls, access } = this.#link;
    this.#permissions = new Permissions({
      calls,
      access,
      sessionId: () => this.id,
      timeoutMs: () => this.seat.approvalTimeoutMs,
      mode: () => this.seat.settings.approvals,
      withdraw: (requestId) => this.#link.notify("$/cancel_request", { requestId }),
      onCancelled: () => this.cancel(),
    });
    this.client = createEditor({
      calls,
      abilities: this.#link.abilities,
      sessionId: () => this.id,
      turnSignal: () => this.#running?.stopper.signal,
      clientPath: (path) => this.#place.clientPath(path),
      toolCallId: (callId) => this.#updates?.idOf(callId),
      askApproval: (request, signal) => this.#askApproval(request, signal),
    });
  }

  get seat(): Seat {
    if (this.#seat === undefined) throw new Error("the session is not open yet");
    return this.#seat;
  }

  get id(): string {
    return this.seat.id;
  }

  get isBusy(): boolean {
    return this.#running !== undefined || this.#waiting.length > 0;
  }

  /** From here on the session can be used. */
  attach(seat: Seat): void {
    this.#seat = seat;
    this.#updates = new LiveUpdates({
      seat,
      place: this.#place,
      abilities: this.#link.abilities,
      send: (update) => this.#send(update),
      room: () => this.#link.room(),
    });
  }

  takeEvent(event: SessionEvent): Promise<void> | undefined {
    if (event.type === "reply_end") this.#lastReply = event.message;
    if (event.type === "turn_end") {
      this.#endTurn(judgeTurn(event, this.#lastReply));
      return undefined;
    }
    return this.#updates?.take(event);
  }

  takeJobEnd(job: EndedJob): void {
    this.#updates?.tellJobEnd(job);
  }

  takeWarning(text: string): void {
    this.#warnings.push(text.replace(/^weir: /, ""));
  }

  describe(): { modes: SessionModeState; configOptions: SessionConfigOption[] } {
    return { modes: describeModes(this.seat.settings), configOptions: this.#describeOptions() };
  }

  /** What follows the answer that opens the session. */
  greet(): void {
    this.#send({ sessionUpdate: "available_commands_update", availableCommands: [...COMMANDS] });
    for (const text of this.#warnings) this.#updates?.notice(text, { isOnStderr: true });
    this.#warnings = [];
  }

  /** Tells the tokens of the last reply, if they are known. */
  tellLastUsage(): void {
    const { messages } = this.seat.session.transcript;
    for (const { message } of messages.toReversed()) {
      if (message.role !== "assistant" || message.usage === undefined) continue;
      return this.#updates?.tellUsage(message.usage);
    }
  }

  /** Tells the whole conversation. */
  async replay(signal: AbortSignal): Promise<void> {
    const { messages } = this.seat.session.transcript;
    for (const update of replayMessages(messages, this.#place)) {
      signal.throwIfAborted();
      this.#send(update);
      const room = this.#link.room();
      if (room !== undefined) await room;
    }
  }

  /** Takes a prompt. It is answered when its turn ends. */
  prompt(id: RpcId, prompt: Prompt): void {
    this.#checkImages(prompt);
    if (this.#waiting.length >= MAX_WAITING) {
      throw new RpcError(INVALID_REQUEST, `${MAX_WAITING} prompts wait already`);
    }
    const stopper = new AbortController();
    this.#waiting.push({ id, prompt, command: readCommand(prompt), stopper });
    this.#next();
  }

  /** Gives the model a message in the running turn. */
  steer(prompt: Prompt): void {
    const turn = this.#running;
    const { session } = this.seat;
    const mayTake = turn !== undefined && turn.command === undefined &&
      !turn.stopper.signal.aborted && session.busy;
    if (!mayTake) throw new RpcError(INVALID_REQUEST, "No turn is running: send a prompt instead");
    this.#checkImages(prompt);
    const { text, content } = prompt;
    session.enqueue("steer", { text, requestId: undefined, extras: { content } })();
  }

  /** Ends the running prompt and those that wait. */
  cancel(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (this.#running === undefined) {
      for (const turn of waiting) this.#answer(turn, "cancelled");
      return;
    }
    this.#cancelled.push(...waiting);
    this.#stop(this.#running);
  }

  /** Ends one prompt. Returns whether it is one of this session's. */
  cancelRequest(id: RpcId): boolean {
    if (this.#running?.id === id) {
      this.#stop(this.#running);
      return true;
    }
    const index = this.#waiting.findIndex((turn) => turn.id === id);
    if (index < 0) return false;
    const [turn] = this.#waiting.splice(index, 1);
    this.#answer(turn!, "cancelled");
    return true;
  }

  /** Returns what is to be told behind the answer. */
  setMode(modeId: string): () => void {
    const mode = findMode(modeId);
    if (mode === undefined) throw paramError("modeId", "must be ask, allow or deny");
    const { settings } = this.seat;
    const isNew = settings.approvals !== mode;
    settings.approvals = mode;
    return () => {
      if (!isNew) return;
      this.#send({
        sessionUpdate: "config_option_update",
        configOptions: this.#describeOptions(),
      });
    };
  }

  /** Changes an option. Resolves to all of them, with what is to be told behind the answer. */
  async setOption(
    { configId, value }: { configId: string; value: unknown },
  ): Promise<{ configOptions: SessionConfigOption[]; after: () => void }> {
    const { settings, modelNames, session } = this.seat;
    const allowed = valuesOf(configId, settings, modelNames);
    if (allowed === undefined) {
      throw paramError("configId", "must be the id of an option of this session");
    }
    if (typeof value !== "string" || !allowed.includes(value)) {
      throw paramError("value", "must be one of the option's values", { allowed });
    }
    let after = () => {};
    if (configId === "mode") {
      const isNew = settings.approvals !== value;
      this.setMode(value);
      after = () => {
        if (!isNew) return;
        this.#send({ sessionUpdate: "current_mode_update", currentModeId: value });
      };
    } else if (configId === "thinking") settings.thinkingLevel = toThinkingLevel(value);
    else await this.#setModel(value);
    if (configId !== "mode") await session.recordSetting();
    return { configOptions: this.#describeOptions(), after };
  }

  /** Stops everything; resolves when the prompts are answered and nothing runs. */
  async close(): Promise<void> {
    this.cancel();
    if (this.#running !== undefined) await this.#settled.promise;
    await this.#pause;
    await this.seat.close();
  }

  get #place(): ViewPlace {
    return createPlace(this.seat, this.#folder);
  }

  #describeOptions(): SessionConfigOption[] {
    return describeOptions(this.seat.settings, this.seat.modelNames);
  }

  async #setModel(name: string): Promise<void> {
    const { settings } = this.seat;
    if (name === modelName(settings)) return;
    try {
      settings.model = await settings.resolveModel(name, settings.model);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      if (error.cause instanceof StartError && error.cause.kind === "key") {
        throw new RpcError(AUTH_REQUIRED, error.message);
      }
      throw paramError("value", `cannot be used: ${error.message}`);
    }
  }

  #checkImages({ firstImage }: Prompt): void {
    const { model } = this.seat.settings;
    if (firstImage === undefined || model.id === "" || model.info.input.includes("image")) return;
    throw paramError(`prompt[${firstImage}]`, "must not be an image: the model takes none");
  }

  #send(update: SessionUpdate): void {
    this.#link.notify("session/update", { sessionId: this.id, update });
  }

  /** Starts the oldest prompt that waits, unless one runs. */
  #next(): void {
    if (this.#running !== undefined || this.#pause !== undefined) return;
    const turn = this.#waiting.shift();
    if (turn === undefined) return;
    this.#running = turn;
    this.#settled = Promise.withResolvers<void>();
    this.#lastReply = undefined;
    this.#updates?.beginTurn(turn.stopper.signal);
    if (turn.command !== undefined && turn.command.name !== "compact") void this.#run(turn);
    else if (this.seat.settings.model.id === "") void this.#startWithModel(turn);
    else this.#start(turn);
  }

  async #startWithModel(turn: Turn): Promise<void> {
    try {
      await this.seat.requireModel();
      if (turn.stopper.signal.aborted) this.#endTurn("cancelled");
      else this.#start(turn);
    } catch (error) {
      const text = errorText(error);
      this.#endTurn(
        error instanceof SeatError ? new RpcError(AUTH_REQUIRED, text) : internalError(),
      );
    }
  }

  #start(turn: Turn): void {
    if (turn.command !== undefined) return void this.#run(turn);
    const { text, content } = turn.prompt;
    const begin = this.seat.session.start({ text, requestId: turn.id, extras: { content } });
    void begin();
  }

  /** Runs a command as a turn. Never rejects. */
  async #run(turn: Turn): Promise<void> {
    const { signal } = turn.stopper;
    try {
      const text = await runCommand(turn.command!, { seat: this.seat, signal });
      if (!signal.aborted) this.#updates?.tellOwnText(text);
      this.#endTurn(signal.aborted ? "cancelled" : "end_turn");
    } catch (error) {
      if (signal.aborted) return this.#endTurn("cancelled");
      this.seat.settings.host.warn(`weir: ${errorText(error)}`);
      this.#endTurn(internalError());
    }
  }

  #stop(turn: Turn): void {
    turn.stopper.abort(new Error("the client cancelled the prompt"));
    if (this.seat.session.busy) this.seat.session.abort();
  }

  #endTurn(end: StopReason | RpcError): void {
    const turn = this.#running;
    if (turn === undefined) return;
    this.#updates?.endTurn();
    this.#running = undefined;
    this.#answer(turn, end);
    for (const waiting of this.#cancelled) this.#answer(waiting, "cancelled");
    this.#cancelled = [];
    // What the turn was asked about by its own subagents must not stay open.
    turn.stopper.abort(new Error("the turn is over"));
    this.#pause = this.#afterTurn();
    this.#settled.resolve();
  }

  /** The next prompt begins when the core has taken note of the end. */
  async #afterTurn(): Promise<void> {
    await Promise.resolve();
    await this.seat.session.idle();
    this.#pause = undefined;
    this.#next();
  }

  #answer(turn: Turn, end: StopReason | RpcError): void {
    if (end instanceof RpcError) this.#link.refuse(turn.id, end);
    else this.#link.answer(turn.id, { stopReason: end });
  }

  async #askApproval(request: ApprovalRequest, signal: AbortSignal) {
    const turn = this.#running;
    const updates = this.#updates;
    // Between turns nobody is asked: the client could not tell what for.
    if (turn === undefined || updates === undefined) return undefined;
    const both = AbortSignal.any([signal, turn.stopper.signal]);
    const { view, change } = await updates.reportAsked(request);
    signal.throwIfAborted();
    if (change?.ok === false) return { allowed: false, text: change.problem } as const;
    return await this.#permissions.ask({ request, view }, both);
  }
}
