/**
 * A file that only grows, for journals and logs. Writes are synchronous: when `write` returns, the bytes are the system's. Knows
 * nothing of what is written.
 */

import type { AppendFile } from "../host.ts";
import { toHostError } from "./deno_error.ts";

/** Opens for appending, made with `mode` when it is new. The caller disposes it. Throws `HostError`. */
export function openAppendFile(path: string, options: { mode: number }): AppendFile {
  try {
    const file = Deno.openSync(path, { append: true, create: true, mode: options.mode });
    try {
      return new DenoAppendFile(file, path);
    } catch (error) {
      file.close();
      throw error;
    }
  } catch (error) {
    throw toHostError(error, path);
  }
}

class DenoAppendFile implements AppendFile {
  readonly #file: Deno.FsFile;
  readonly #path: string;
  #size: number;
  #open = true;

  constructor(file: Deno.FsFile, path: string) {
    this.#file = file;
    this.#path = path;
    this.#size = file.statSync().size;
  }

  get size(): number {
    return this.#size;
  }

  write(bytes: Uint8Array): void {
    try {
      for (let done = 0; done < bytes.length;) {
        const written = this.#file.writeSync(done === 0 ? bytes : bytes.subarray(done));
        done += written;
        this.#size += written;
      }
    } catch (error) {
      throw toHostError(error, this.#path);
    }
  }

  async flush(): Promise<void> {
    try {
      await this.#file.syncData();
    } catch (error) {
      throw toHostError(error, this.#path);
    }
  }

  truncate(size: number): void {
    try {
      this.#file.truncateSync(size);
      this.#size = size;
    } catch (error) {
      throw toHostError(error, this.#path);
    }
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#file.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }
}
