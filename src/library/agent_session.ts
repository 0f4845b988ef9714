/**
 * A session for the program that holds it: methods in place of lines. Speaks to a hub like any other client and has no loop of its own.
 */

import type { Usage } from "../agent/message.ts";
import { RequestError } from "../errors.ts";
import type { Command, OutRecord, Request, StoredMessage } from "../session/command.ts";
import type { SessionEvent } from "../session/event.ts";
import type { Hub } from "../session/hub.ts";
import { EventChannel, type EventReader } from "../wire/event_channel.ts";

/** How a turn ended. `usage` is the sum of its model calls. */
export type TurnEnd =
  | { readonly outcome: "answered"; readonly answer: string; readonly usage: Usage }
  | { readonly outcome: "aborted" }
  | { readonly outcome: "failed"; readonly error: string };

/** A conversation with an agent in this process. Made by `createSession`; the caller disposes it. */
export interface AgentSession extends AsyncDisposable {
  /** Id of the conversation. */
  readonly id: string;
  /** The messages of the conversation, each with its id. */
  readonly messages: readonly StoredMessage[];
  /** Starts a turn; resolves when it is over. Rejects with `RequestError` while another one runs. */
  prompt(text: string): Promise<TurnEnd>;
  /** Lets the running turn read a message before its next model request. Rejects with `RequestError` when none runs. */
  steer(text: string): Promise<void>;
  /** A turn of its own after the running one, or at once; resolves when it is over, with `aborted` also when it was dropped before it began. */
  followUp(text: string): Promise<TurnEnd>;
  /** Stops what runs and drops what waits; resolves when nothing runs. */
  abort(): Promise<void>;
  /** What happens from now on, for one reader. */
  events(): EventReader<SessionEvent>;
  /** Stops what runs and saves the conversation. Safe to call twice. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** One command on its way: the answer to it and, for messages that open a turn, the end of that turn. */
interface Call {
  readonly answer: PromiseWithResolvers<void>;
  readonly turnEnd: PromiseWithResolvers<TurnEnd>;
}

/** The session of a hub whose ends nobody else holds. */
export class HubSession implements AgentSession {
  readonly #hub: Hub;
  readonly #input: WritableStreamDefaultWriter<readonly Request[]>;
  readonly #channel = new EventChannel<SessionEvent>();
  /** Those that were not answered yet, by the id of their request. */
  readonly #asked = new Map<unknown, Call>();
  /** Messages that wait for a turn of their own, in order, by the id of their request. */
  readonly #queued = new Map<unknown, Call>();
  /** Whose turn runs. */
  #current: Call | undefined;
  /** Whether the start of the turn that runs was told. */
  #isOpen = false;
  #lastId = 0;
  readonly #reading: Promise<void>;

  constructor(hub: Hub) {
    this.#hub = hub;
    this.#input = hub.writable.getWriter();
    // A hub that ends breaks its input off; every call is told by itself.
    this.#input.closed.catch(() => {});
    this.#reading = this.#read();
  }

  get id(): string {
    return this.#hub.session.id;
  }

  get messages(): readonly StoredMessage[] {
    return this.#hub.session.transcript.messages;
  }

  async prompt(text: string): Promise<TurnEnd> {
    return await this.#turn({ type: "prompt", message: checkText(text), whileBusy: "refuse" });
  }

  async steer(text: string): Promise<void> {
    await this.#send({ type: "steer", message: checkText(text) }).answer.promise;
  }

  async followUp(text: string): Promise<TurnEnd> {
    return await this.#turn({ type: "prompt", message: checkText(text), whileBusy: "follow_up" });
  }

  async abort(): Promise<void> {
    await this.#send({ type: "abort" }).answer.promise;
  }

  events(): EventReader<SessionEvent> {
    return this.#channel.read();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hub.stop("shutdown");
    await this.#hub.ended;
    await this.#reading;
  }

  async #turn(command: Command): Promise<TurnEnd> {
    const call = this.#send(command);
    await call.answer.promise;
    return await call.turnEnd.promise;
  }

  #send(command: Command): Call {
    const call: Call = { answer: Promise.withResolvers(), turnEnd: Promise.withResolvers() };
    // Only one of the two is waited for at a time.
    call.answer.promise.catch(() => {});
    const id = ++this.#lastId;
    this.#asked.set(id, call);
    this.#input.write([{ id, name: command.type, command }]).catch(() => this.#drop(call));
    return call;
  }

  #drop(call: Call): void {
    call.answer.reject(new RequestError("shutting_down", "the session is over"));
    call.turnEnd.resolve({ outcome: "aborted" });
  }

  async #read(): Promise<void> {
    for await (const records of readAll(this.#hub.readable)) {
      for (const record of records) this.#take(record);
    }
    for (const call of [...this.#asked.values(), ...this.#queued.values()]) this.#drop(call);
    this.#channel.close();
  }

  #take(record: OutRecord): void {
    if (record.kind === "event") {
      this.#follow(record.event);
      this.#channel.send(record.event);
      return;
    }
    const { id } = record.request;
    const call = this.#asked.get(id);
    this.#asked.delete(id);
    if (call === undefined) return;
    if (record.kind === "refusal") return call.answer.reject(refusalOf(record.error));
    if (record.result.type === "prompt") {
      if (record.result.value.disposition === "started") this.#current = call;
      else this.#queued.set(id, call);
    }
    call.answer.resolve();
  }

  /** Finds out which turn is whose, and when it is over. */
  #follow(event: SessionEvent): void {
    if (event.type === "turn_start") {
      const id = event.opening?.requestId;
      this.#isOpen = true;
      this.#current ??= this.#queued.get(id);
      this.#queued.delete(id);
    } else if (event.type === "turn_end") {
      // A turn that could not even store its message is that of whoever waited longest.
      if (!this.#isOpen) this.#current ??= this.#takeQueued();
      this.#current?.turnEnd.resolve(endOf(event));
      this.#current = undefined;
      this.#isOpen = false;
    } else if (event.type === "queue_clear") {
      for (const call of this.#queued.values()) call.turnEnd.resolve({ outcome: "aborted" });
      this.#queued.clear();
    }
  }

  #takeQueued(): Call | undefined {
    for (const [id, call] of this.#queued) {
      this.#queued.delete(id);
      return call;
    }
    return undefined;
  }
}

function checkText(text: string): string {
  if (text.trim() !== "") return text;
  throw new RequestError("invalid", "Cannot send a message: it is empty, give it some text");
}

function refusalOf(error: Error): Error {
  if (!(error instanceof RequestError) || error.code !== "behavior_required") return error;
  return new RequestError(
    "busy",
    "Cannot prompt: a turn is running, use steer or followUp or wait for its end",
    { cause: error },
  );
}

function endOf(event: SessionEvent & { type: "turn_end" }): TurnEnd {
  switch (event.outcome) {
    case "answered":
      return { outcome: "answered", answer: event.answer, usage: event.usage };
    case "aborted":
      return { outcome: "aborted" };
    case "failed":
      return { outcome: "failed", error: event.error };
  }
}

/** Not every engine can loop over a stream. */
async function* readAll<Item>(stream: ReadableStream<Item>): AsyncGenerator<Item> {
  const reader = stream.getReader();
  while (true) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
