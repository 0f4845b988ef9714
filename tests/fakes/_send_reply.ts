/**
 * Puts one scripted reply on an HTTP connection: waits, delays, stalls and cuts where the reply says
 * so. It knows the event stream format, but not what the events mean.
 */

import type { HttpConnection } from "./_http_connection.ts";
import type { PieceGate, Reply, ReplyFrame } from "./reply.ts";

const encoder = new TextEncoder();

/** Ends after `ms` milliseconds; rejects with the signal's reason when it aborts before. */
export function delay(ms: number, { signal }: { signal: AbortSignal }): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}

/** Ends when `gate` settles; rejects with the signal's reason when it aborts before. */
export function waitFor(gate: Promise<unknown>, { signal }: { signal: AbortSignal }) {
  return new Promise<void>((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    const open = () => {
      signal.removeEventListener("abort", stop);
      resolve();
    };
    gate.then(open, open);
  });
}

/** Sends a body that is not a stream of events. */
export async function sendWhole(connection: HttpConnection, reply: Reply): Promise<void> {
  const { status = 200, body } = reply;
  const isText = typeof body === "string";
  const type = !isText
    ? "application/json"
    : body.trimStart().startsWith("<")
    ? "text/html; charset=utf-8"
    : "text/plain; charset=utf-8";
  const text = isText ? body : JSON.stringify(
    body ?? {
      error: { message: `scripted status ${status}`, type: "scripted", param: null, code: null },
    },
  );
  const headers = { "content-type": type, ...reply.headers };
  await connection.sendWhole(status, { headers, body: encoder.encode(text) });
}

/** Sends the frames as an event stream. Throws when the client goes; ends after a scripted cut. */
export async function sendStream(
  connection: HttpConnection,
  { reply, frames }: { reply: Reply; frames: Iterable<ReplyFrame> },
): Promise<void> {
  const gates = [reply.pieceGate ?? []].flat() as PieceGate[];
  const encode = createFrameEncoder(reply);
  connection.startStream(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    ...reply.headers,
  });
  let sent = 0;
  // What is buffered leaves before the next frame is looked at, so that the last one leaves together
  // with the end of the body: a client that closes after it has not aborted anything.
  for (const frame of frames) {
    if (reply.pieces === undefined || connection.full) await connection.flush();
    if (await holdOrCut(connection, { reply, sent, gates })) return;
    if (frame.piece && reply.pieceDelayMs !== undefined) {
      await connection.flush();
      await delay(reply.pieceDelayMs, { signal: connection.gone });
    }
    for (const [index, chunk] of encode(frame).entries()) {
      if (index > 0) await connection.flush();
      connection.addChunk(chunk);
    }
    if (frame.piece) sent++;
  }
  if (await holdOrCut(connection, { reply, sent: Infinity, gates })) return;
  await connection.endStream();
}

/** The exact chunks of `raw` as frames, each a piece. */
export function rawFrames(raw: NonNullable<Reply["raw"]>): ReplyFrame[] {
  const parts = typeof raw === "string" || raw instanceof Uint8Array ? [raw] : raw;
  return parts.map((part) => ({
    data: typeof part === "string" ? encoder.encode(part) : part,
    piece: true,
  }));
}

/** Whether the reply was cut here. */
async function holdOrCut(
  connection: HttpConnection,
  { reply, sent, gates }: { reply: Reply; sent: number; gates: PieceGate[] },
): Promise<boolean> {
  const signal = connection.gone;
  for (const gate of gates.filter(({ after }) => sent >= after)) {
    gates.splice(gates.indexOf(gate), 1);
    await connection.flush();
    await waitFor(gate.gate, { signal });
  }
  if (reply.stallAfter !== undefined && sent >= reply.stallAfter) {
    await connection.flush();
    await waitFor(new Promise(() => {}), { signal });
  }
  if (reply.cutAfter === undefined || sent < reply.cutAfter) return false;
  await connection.flush();
  connection.close();
  return true;
}

function createFrameEncoder(reply: Reply): (frame: ReplyFrame) => Uint8Array[] {
  let lastFrame: ReplyFrame | undefined;
  let lastChunks: Uint8Array[] = [];
  const newline = reply.crlf ? "\r\n" : "\n";
  return (frame) => {
    if (frame === lastFrame) return lastChunks;
    const { event, data } = frame;
    if (data instanceof Uint8Array) return [data];
    const lines = [
      ...(reply.comments ? [": keep-alive"] : []),
      ...(event === undefined ? [] : [`event: ${event}`]),
      `data: ${typeof data === "string" ? data : JSON.stringify(data)}`,
    ];
    const bytes = encoder.encode(lines.map((line) => line + newline).join("") + newline);
    lastFrame = frame;
    lastChunks = reply.splitUtf8 ? splitCharacters(bytes) : [bytes];
    return lastChunks;
  };
}

function splitCharacters(bytes: Uint8Array): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let start = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] < 0xc0) continue; // Not the first of several bytes.
    chunks.push(bytes.subarray(start, at + 1));
    start = at + 1;
  }
  chunks.push(bytes.subarray(start));
  return chunks;
}
