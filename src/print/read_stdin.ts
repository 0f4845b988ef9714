/** What is piped into a one-shot run, as text. Knows no dialect and no terminal. */

import { StartError } from "../errors.ts";

/** Far more than any model reads; what is longer is a mistake, not a prompt. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Reads the input to its end; a read error is an end too. With `firstByteMs` it is given up, and the result is `undefined`, when nothing came
 * within that time. Bytes that are not UTF-8 become U+FFFD. Throws `StartError` above 64 MiB, and `signal.reason`.
 */
export async function readStdin(
  stdin: ReadableStream<Uint8Array>,
  options: { firstByteMs: number | undefined; signal: AbortSignal },
): Promise<string | undefined> {
  const { firstByteMs, signal } = options;
  const reader = stdin.getReader();
  const wait = waitFor({ ms: firstByteMs, signal });
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  try {
    for (;;) {
      const read = reader.read().catch(() => ({ done: true, value: undefined }) as const);
      const chunk = await Promise.race([read, wait.aborted, ...(size === 0 ? [wait.late] : [])]);
      if (chunk === "late") return undefined;
      if (chunk.done) return text + decoder.decode();
      size += chunk.value.length;
      if (size > MAX_BYTES) {
        throw new StartError("usage", "standard input is longer than 64 MiB; pipe in less");
      }
      text += decoder.decode(chunk.value, { stream: true });
    }
  } finally {
    wait[Symbol.dispose]();
    // A read that still waits may settle only when the other side closes.
    void reader.cancel().catch(() => {});
  }
}

function waitFor({ ms, signal }: { ms: number | undefined; signal: AbortSignal }) {
  const late = Promise.withResolvers<"late">();
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const timer = ms === undefined ? undefined : setTimeout(() => late.resolve("late"), ms);
  const onAbort = () => aborted.reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  return {
    late: late.promise,
    aborted: aborted.promise,
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    },
  };
}
