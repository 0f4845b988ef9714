/** Serves one client of a dialect over streams that the caller has. */

import type { HubEnd } from "../session/command.ts";
import { Hub } from "../session/hub.ts";
import { serve as serveHub } from "../serve.ts";
import { loadDialect } from "../start/load_dialect.ts";
import { openAgent } from "./open_agent.ts";
import type { ClientStreams, ServeOptions } from "./serve_options.ts";

/**
 * Serves one client until its input ends, it goes away or `signal` is aborted; resolves when everything is stopped and saved. Throws
 * `StartError` when the session cannot be opened, before anything is read, and `signal.reason` when it was aborted before.
 *
 * @example One prompt, one answer
 * ```ts
 * import { createDemoModel, serve } from "@weir/weir";
 *
 * const lines: string[] = [];
 * const end = await serve({
 *   readable: new Blob(['{"type":"prompt","message":"Hello"}\n']).stream(),
 *   writable: new WritableStream({
 *     write(chunk) {
 *       lines.push(...new TextDecoder().decode(chunk).trimEnd().split("\n"));
 *     },
 *   }),
 * }, { model: createDemoModel() });
 * if (end.cause !== "input" || !end.success) throw new Error("it should have ended well");
 * if (lines.at(-1) !== '{"type":"jobs_stopped","count":0}') throw new Error(lines.join("\n"));
 * ```
 */
export async function serve(
  streams: ClientStreams,
  options: ServeOptions,
): Promise<HubEnd> {
  const signal = options.signal ?? new AbortController().signal;
  signal.throwIfAborted();
  const dialect = await loadDialect(options.dialect ?? "circle");
  const hub = new Hub(await openAgent(options, { policy: dialect.policy, signal }));
  const stop = () => hub.stop("signal");
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  try {
    await serveHub({ stdin: streams.readable, stdout: streams.writable, dialect, hub });
    return await hub.ended;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
