/**
 * One HTTP/1.1 connection of the model server, on plain TCP: each chunk border, a stall and a cut
 * are exactly where a test puts them. It knows nothing of models.
 */

const MAX_BUFFERED = 65_536;
const encoder = new TextEncoder();
const CRLF = encoder.encode("\r\n");

/** A request with its whole body. */
export interface HttpRequest {
  method: string;
  /** Path and query as sent. */
  path: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Reads requests and writes answers; the owner closes it. Closing twice is safe. */
export class HttpConnection {
  #conn: Deno.TcpConn;
  #received: Uint8Array[] = [];
  #receivedLength = 0;
  #filling: Promise<boolean> | undefined;
  #unsent: Uint8Array[] = [];
  #unsentLength = 0;
  #gone = new AbortController();
  #closed = false;

  constructor(conn: Deno.TcpConn) {
    this.#conn = conn;
    conn.setNoDelay(true);
  }

  /** Aborts when the client has closed the connection or `close()` was called. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** The next request; `undefined` when the client closed instead. Throws on malformed ones. */
  async readRequest(): Promise<HttpRequest | undefined> {
    const head = await this.#readHead();
    if (head === undefined) return undefined;
    const [requestLine, ...lines] = head.split("\r\n");
    const [method, path] = requestLine.split(" ");
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(":");
      headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim();
    }
    if (headers["transfer-encoding"]) {
      throw new Error("Cannot read a request: it has a transfer-encoding, send a content-length");
    }
    const length = Number(headers["content-length"] ?? 0);
    while (this.#receivedLength < length) {
      if (!await this.#fill()) return undefined;
    }
    return { method, path, headers, body: this.#take(length) };
  }

  /** Makes `gone` notice a client that leaves while no request is read. */
  watch(): void {
    this.#fill();
  }

  /** Begins a streamed answer. */
  startStream(status: number, headers: Record<string, string>): void {
    this.#buffer(encodeHead(status, { ...headers, "transfer-encoding": "chunked" }));
  }

  /** Adds one body chunk; it leaves with the next `flush()` or `endStream()`. */
  addChunk(bytes: Uint8Array): void {
    if (bytes.length === 0) return; // An empty chunk would end the body.
    this.#buffer(encoder.encode(bytes.length.toString(16) + "\r\n"));
    this.#buffer(bytes);
    this.#buffer(CRLF);
  }

  /** Whether enough is buffered that it should be flushed even without need. */
  get full(): boolean {
    return this.#unsentLength >= MAX_BUFFERED;
  }

  /** Writes what is buffered; waits while the client does not read. Throws when it has gone. */
  async flush(): Promise<void> {
    const bytes = join(this.#unsent, this.#unsentLength);
    this.#unsent = [];
    this.#unsentLength = 0;
    try {
      for (let sent = 0; sent < bytes.length;) {
        sent += await this.#conn.write(bytes.subarray(sent));
      }
    } catch (error) {
      this.#gone.abort(error);
    }
    this.#gone.signal.throwIfAborted();
  }

  /** Ends a streamed answer; its last chunk and its end leave together. */
  async endStream(): Promise<void> {
    this.#buffer(encoder.encode("0\r\n\r\n"));
    await this.flush();
  }

  /** Writes a whole answer. */
  async sendWhole(
    status: number,
    options: { headers: Record<string, string>; body: Uint8Array },
  ): Promise<void> {
    const headers = { ...options.headers, "content-length": String(options.body.length) };
    this.#buffer(encodeHead(status, headers));
    this.#buffer(options.body);
    await this.flush();
  }

  /** Closes the connection, whatever it is doing. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#gone.abort(new Error("Cannot go on with the answer: the connection was closed"));
    this.#conn.close();
  }

  #buffer(bytes: Uint8Array): void {
    this.#unsent.push(bytes);
    this.#unsentLength += bytes.length;
  }

  async #readHead(): Promise<string | undefined> {
    for (;;) {
      this.#received = [join(this.#received, this.#receivedLength)];
      const text = new TextDecoder("latin1").decode(this.#received[0]);
      const end = text.indexOf("\r\n\r\n");
      if (end >= 0) {
        this.#take(end + 4);
        return text.slice(0, end);
      }
      if (text.length > MAX_BUFFERED) {
        throw new Error("Cannot read a request: its head is too long");
      }
      if (!await this.#fill()) return undefined;
    }
  }

  #take(length: number): Uint8Array {
    const all = join(this.#received, this.#receivedLength);
    this.#received = [all.subarray(length)];
    this.#receivedLength = all.length - length;
    return all.subarray(0, length);
  }

  // Only one read is ever pending, so `watch()` and the next `readRequest()` share it.
  #fill(): Promise<boolean> {
    return this.#filling ??= this.#read().finally(() => this.#filling = undefined);
  }

  async #read(): Promise<boolean> {
    const chunk = new Uint8Array(MAX_BUFFERED);
    const length = await this.#conn.read(chunk).catch(() => null);
    if (length === null) {
      this.#gone.abort(new Error("Cannot go on with the answer: the client has gone"));
      return false;
    }
    this.#received.push(chunk.subarray(0, length));
    this.#receivedLength += length;
    return true;
  }
}

function encodeHead(status: number, headers: Record<string, string>): Uint8Array {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return encoder.encode(`HTTP/1.1 ${status} Scripted\r\n${lines.join("")}\r\n`);
}

function join(parts: readonly Uint8Array[], length: number): Uint8Array {
  if (parts.length === 1) return parts[0];
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
