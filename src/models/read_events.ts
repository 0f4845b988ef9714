/**
 * The bytes of a streamed answer as its JSON values. Knows the event stream format and the ways in which endpoints depart from it, but
 * no API. Takes time in proportion to the bytes, wherever they are cut.
 */

import { ModelError } from "../errors.ts";
import type { Connection } from "./connection.ts";
import { cutError, type EndpointContext } from "./model_error.ts";
import { ParseTries } from "./parse_tries.ts";
import { shownText } from "../agent/redact.ts";

/** A line longer than this is no part of a reply. */
const LONGEST_LINE = 64 * 1024 * 1024;

/** What makes a reply of the values of a stream. */
export interface ReplyDecoder {
  /** Takes one value; `eventName` is that of its `event:` line, `""` without one. */
  take(value: unknown, eventName: string): void;
  /** What the sink asked to wait for since the last call. */
  takeWait(): Promise<unknown> | undefined;
  /** The reply has its end; only additions such as the usage may follow. */
  readonly finished: boolean;
  /** Nothing more can follow. */
  readonly complete: boolean;
}

/** How long additions may take after the reply has its end. */
const AFTER_FINISH_MS = 10_000;

/**
 * Gives each value of the answer to `decoder` until it is complete, `[DONE]` comes or the answer ends. Waits when the decoder asks.
 * Throws a `ModelError` when the answer is no event stream or breaks off before the reply is finished.
 */
export async function readEvents(
  connection: Connection,
  options: { decoder: ReplyDecoder; context: EndpointContext },
): Promise<void> {
  const { decoder, context } = options;
  if (connection.contentType === "text/html") throw notAStream(connection);
  const { signal } = connection;
  const lines = new EventLines(decoder, context);
  const text = new TextDecoder();
  try {
    for (;;) {
      const bytes = await connection.read();
      if (bytes === undefined) break;
      const chunk = text.decode(bytes, { stream: true });
      for (let start = 0; start < chunk.length;) {
        start = lines.take(chunk, start);
        if (signal.aborted) throw signal.reason;
        const wait = decoder.takeWait();
        if (wait !== undefined) await connection.wait(wait);
        if (lines.done || decoder.complete) return await connection.drain();
      }
      if (decoder.finished) connection.limitSilence(AFTER_FINISH_MS);
    }
    lines.end();
    const wait = decoder.takeWait();
    if (wait !== undefined) await connection.wait(wait);
  } catch (error) {
    // What the sink still does is not waited for, but must not fail unheard.
    decoder.takeWait()?.catch(() => {});
    const late = error instanceof ModelError &&
      (error.kind === "stream_cut" || error.kind === "stalled");
    // Whatever happens after the reply's end takes nothing from it.
    if (!late || !decoder.finished) throw error;
  }
  if (!lines.isEventStream) throw notAStream(connection);
}

function notAStream({ contentType }: Connection): ModelError {
  const type = contentType === "" ? "no content type" : `content type ${contentType}`;
  return new ModelError("request", `the endpoint did not answer with an event stream (${type})`);
}

/** Lines to values. */
class EventLines {
  /** Whether `[DONE]` has come. */
  done = false;
  /** Whether anything but blank lines and foreign text has come, or nothing at all. */
  isEventStream = true;
  #decoder: ReplyDecoder;
  #context: EndpointContext;
  /** The beginning of a line whose end has not come. */
  #begun = "";
  #eventName = "";
  /** Data of the event so far that is no JSON yet: its value may go on in the next `data:` line. */
  #data: string | undefined;
  readonly #tries = new ParseTries();
  /** An answer that is one JSON value without being a stream. */
  #plain: string | undefined;
  #seen = false;

  constructor(decoder: ReplyDecoder, context: EndpointContext) {
    this.#decoder = decoder;
    this.#context = context;
  }

  /** Takes the text from `start` to the end of a line, or to its end; returns where it stopped. */
  take(text: string, start: number): number {
    const end = text.indexOf("\n", start);
    const stop = end === -1 ? text.length : end;
    if (this.#begun.length + stop - start > LONGEST_LINE) {
      throw new ModelError("stream_error", "the endpoint sent a line that is too long");
    }
    if (end === -1) {
      this.#begun += text.slice(start);
      return text.length;
    }
    const line = this.#begun === "" ? text.slice(start, end) : this.#begun + text.slice(start, end);
    this.#begun = "";
    this.#line(line.endsWith("\r") ? line.slice(0, -1) : line);
    return end + 1;
  }

  /** The answer has ended. */
  end(): void {
    const last = this.#begun;
    this.#begun = "";
    if (last !== "") this.#line(last.endsWith("\r") ? last.slice(0, -1) : last);
    if (this.#plain !== undefined) {
      const value = parse(this.#plain);
      if (value !== undefined) this.#decoder.take(value, "");
      else this.isEventStream = false;
      return;
    }
    if (this.#data !== undefined && !this.#takeData(this.#data)) {
      throw cutError("it ended in the middle of an event");
    }
  }

  #line(line: string): void {
    if (this.#plain !== undefined) {
      this.#plain += "\n" + line;
      if (this.#plain.length > LONGEST_LINE) {
        throw new ModelError("stream_error", "the endpoint sent an answer that is too long");
      }
    } else if (line.startsWith("data:")) {
      this.#dataLine(line.charCodeAt(5) === 32 ? line.slice(6) : line.slice(5));
    } else if (line === "") {
      // Its value may not have been looked for at every line.
      if (this.#data !== undefined && !this.#takeData(this.#data)) {
        throw this.#malformed(this.#data);
      }
      this.#eventName = "";
    } else if (line.startsWith("event:")) {
      this.#eventName = line.slice(6).trim();
      this.#seen = true;
    } else if (line.startsWith(":")) {
      this.#seen = true;
    } else if (!this.#seen && line.trim() !== "") {
      if (/^\s*[{[]/.test(line)) this.#plain = line;
      else this.isEventStream = /^(?:id|retry):?/.test(line);
    }
  }

  #dataLine(data: string): void {
    this.#seen = true;
    this.isEventStream = true;
    if (this.#data !== undefined) return this.#moreData(`${this.#data}\n${data}`, data);
    const trimmed = data.trim();
    if (trimmed === "[DONE]") this.done = true;
    else if (trimmed !== "" && !this.#takeData(data)) {
      this.#data = data;
      this.#tries.reset();
    }
  }

  /** A value over several lines is rare: only then is it tried again, at the line that can end it. */
  #moreData(text: string, lastLine: string): void {
    if (text.length > LONGEST_LINE) throw this.#malformed(text);
    this.#data = text;
    const canEnd = /^\s*[}\]]/.test(lastLine) || lastLine.trimEnd().endsWith("}");
    if (canEnd && this.#tries.allow(text)) this.#takeData(text);
  }

  /** Whether the text was a value; nothing waits then. */
  #takeData(text: string): boolean {
    const value = parse(text);
    if (value === undefined) return false;
    this.#data = undefined;
    this.#decoder.take(value, this.#eventName);
    return true;
  }

  #malformed(data: string): ModelError {
    // Cut last: of a key that is cut, the beginning would not be found.
    const begin = shownText(data.slice(0, 4096), this.#context.secrets).slice(0, 200);
    return new ModelError("stream_error", `the endpoint sent an event that is not JSON: ${begin}`);
  }
}

/** `undefined` when it is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
