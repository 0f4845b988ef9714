/**
 * Keeps modules of other people from writing between the records on stdout. What takes the file descriptor itself, such as
 * `/dev/stdout` or a child process that inherits it, cannot be kept from it.
 */

import { builtInModule } from "./built_in_module.ts";
import { errorOutput } from "./error_output.ts";

/**
 * From now on `Deno.stdout.write`, `Deno.stdout.writeSync` and Node's `process.stdout` write to stderr. Whoever owns stdout takes
 * `Deno.stdout.writable` before.
 */
export function guardStdout(): void {
  const writeSync = (bytes: Uint8Array) => {
    errorOutput.writeBytes(bytes);
    return bytes.length;
  };
  const instead = {
    write: (bytes: Uint8Array) => Promise.resolve(writeSync(bytes)),
    writeSync,
    writable: new WritableStream<Uint8Array>({ write: (bytes) => void writeSync(bytes) }),
    close: () => {},
  };
  for (const [name, value] of Object.entries(instead)) {
    Object.defineProperty(Deno.stdout, name, { value, configurable: true, writable: true });
  }
  const process = builtInModule<typeof import("node:process")>("node:process");
  // Node's own way would wait for whoever reads stderr.
  const writeNode: typeof process.stderr.write = (
    data: string | Uint8Array,
    encoding?: BufferEncoding | ((error?: Error | null) => void),
    onDone?: (error?: Error | null) => void,
  ) => {
    const done = typeof encoding === "function" ? encoding : onDone;
    const { Buffer } = builtInModule<typeof import("node:buffer")>("node:buffer");
    const code = typeof encoding === "string" ? encoding : "utf8";
    errorOutput.writeBytes(typeof data === "string" ? Buffer.from(data, code) : data);
    if (done !== undefined) queueMicrotask(() => done());
    return true;
  };
  process.stderr.write = writeNode;
  Object.defineProperty(process, "stdout", { value: process.stderr, configurable: true });
}
