/** Reads a stream of strings or of UTF-8 bytes to its end; resolves to the whole text. */
export async function toText(
  stream: ReadableStream<string> | ReadableStream<Uint8Array>,
): Promise<string> {
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  for await (const chunk of stream as ReadableStream<string | Uint8Array>) {
    pieces.push(typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true }));
  }
  pieces.push(decoder.decode());
  return pieces.join("");
}
