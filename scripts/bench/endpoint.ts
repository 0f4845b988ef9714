// A model endpoint that costs as little as possible, because what it takes would count as the program's. It looks at no request;
// the tests have one that does.

/** Pieces that are sent in one go, so that the endpoint is not what is measured. */
const PIECES_AT_ONCE = 250;
const encoder = new TextEncoder();

/** The body of an answer, chunk by chunk. */
export type Answer = readonly Uint8Array[];

/** A call that the model makes. */
export interface Call {
  readonly name: string;
  readonly args: Record<string, unknown>;
}

/** Speaks Chat Completions on 127.0.0.1. The caller disposes it. */
export class Endpoint implements AsyncDisposable {
  /** Gives the answer to the next request. */
  answer: () => Answer = () => textAnswer("fine");
  /** The bodies of requests, kept while this is a list. */
  recorded: Uint8Array[] | undefined;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {}, onError: () => new Response(null) },
      (request) => this.#handle(request),
    );
  }

  /** The base URL for clients. */
  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/v1`;
  }

  async #handle(request: Request): Promise<Response> {
    if (request.method === "GET") return Response.json({ object: "list", data: [{ id: "m" }] });
    const body = await request.bytes();
    this.recorded?.push(body);
    const chunks = this.answer();
    const headers = { "content-type": "text/event-stream" };
    if (chunks.length === 1) return new Response(chunks[0] as BodyInit, { headers });
    let next = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (next === chunks.length) controller.close();
        else controller.enqueue(chunks[next++]!);
      },
    });
    return new Response(stream, { headers });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

/** An answer that comes in so many pieces, each with this text. */
export function textAnswer(text: string, pieces = 1): Answer {
  const chunks = [frame({ role: "assistant", content: "" })];
  for (let sent = 0; sent < pieces; sent += PIECES_AT_ONCE) {
    chunks.push(frame({ content: text }).repeat(Math.min(PIECES_AT_ONCE, pieces - sent)));
  }
  chunks.push(end("stop"));
  return (pieces === 1 ? [chunks.join("")] : chunks).map((chunk) => encoder.encode(chunk));
}

/** An answer that makes these calls. */
export function callAnswer(calls: readonly Call[]): Answer {
  const tool_calls = calls.map(({ name, args }, index) => ({
    index,
    id: `call_${index}_${crypto.randomUUID()}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  return [encoder.encode(frame({ role: "assistant", tool_calls }) + end("tool_calls"))];
}

function frame(delta: object, finish_reason: string | null = null): string {
  return data({ choices: [{ index: 0, delta, finish_reason }] });
}

function end(reason: string): string {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  return frame({}, reason) + data({ choices: [], usage }) + "data: [DONE]\n\n";
}

function data(chunk: object): string {
  const head = { id: "c", object: "chat.completion.chunk", created: 0, model: "m" };
  return `data: ${JSON.stringify({ ...head, ...chunk })}\n\n`;
}
