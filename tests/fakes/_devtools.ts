/** A connection to a browser's debugging port. Knows the protocol's frame, no command of it. */

/** What a command gave back, or what an event tells. */
export type DevtoolsRecord = Record<string, unknown>;

/** Is told every event, with the session of the page it is of. */
export type DevtoolsListener = (method: string, params: DevtoolsRecord) => void;

interface Waiting {
  readonly method: string;
  readonly answer: PromiseWithResolvers<DevtoolsRecord>;
}

/** Connects to the address that the browser printed. The caller disposes the result. */
export async function connectDevtools(
  url: string,
  onEvent: DevtoolsListener,
): Promise<Devtools> {
  const socket = new WebSocket(url);
  const opened = Promise.withResolvers<void>();
  socket.onopen = () => opened.resolve();
  socket.onerror = () => opened.reject(new Error(`Cannot connect to ${url}`));
  await opened.promise;
  return new Devtools(socket, onEvent);
}

/** An open connection. */
export class Devtools implements AsyncDisposable {
  /** Of the page that commands are for; `undefined`: the browser itself. */
  sessionId: string | undefined;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #closed = Promise.withResolvers<void>();
  #nextId = 1;

  constructor(socket: WebSocket, onEvent: DevtoolsListener) {
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#take(JSON.parse(String(data)), onEvent);
    socket.onerror = () => {}; // A close follows.
    socket.onclose = () => this.#close();
  }

  /** Sends a command; rejects with the browser's words when it is refused or the connection ends. */
  send(method: string, params: DevtoolsRecord = {}): Promise<DevtoolsRecord> {
    const id = this.#nextId++;
    const answer = Promise.withResolvers<DevtoolsRecord>();
    this.#waiting.set(id, { method, answer });
    this.#socket.send(JSON.stringify({ id, method, params, sessionId: this.sessionId }));
    return answer.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await this.#closed.promise;
  }

  #take(record: DevtoolsRecord, onEvent: DevtoolsListener): void {
    if (typeof record.method === "string") {
      onEvent(record.method, record.params as DevtoolsRecord);
      return;
    }
    const waiting = this.#waiting.get(record.id as number);
    if (waiting === undefined) return;
    this.#waiting.delete(record.id as number);
    if (record.error === undefined) waiting.answer.resolve(record.result as DevtoolsRecord);
    else waiting.answer.reject(new Error(`${waiting.method}: ${JSON.stringify(record.error)}`));
  }

  #close(): void {
    for (const { method, answer } of this.#waiting.values()) {
      answer.reject(new Error(`${method}: the browser is gone`));
    }
    this.#waiting.clear();
    this.#closed.resolve();
  }
}
