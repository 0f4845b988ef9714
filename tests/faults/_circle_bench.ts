/** A circle process with a scripted endpoint for tests that care about what calls give, not about records. Knows no single test. */

import {
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from "../fakes/model_server.ts";
import { type HomeOptions, type PreparedHome, prepareHome } from "../fakes/prepare_home.ts";
import { startWeir, type WeirProcess, type WireRecord } from "../fakes/weir_process.ts";

type Json = Record<string, unknown>;

export interface BenchOptions extends Omit<HomeOptions, "server">, ModelServerOptions {
  /** Options before the folder; default `--yolo`. */
  args?: readonly string[];
  env?: Record<string, string>;
  program?: readonly string[];
  /** Starts the process in the workspace, as editors do. */
  inWorkspace?: boolean;
  /** Changes the place before the process starts. */
  prepare?: (place: PreparedHome) => Promise<void>;
}

/** What a call gave; `reason` when it was not run. */
export interface CallResult {
  status: unknown;
  output: string;
  reason?: unknown;
}

export interface Bench {
  readonly server: ModelServer;
  readonly place: PreparedHome;
  readonly weir: WeirProcess;
  /** Has the model make these calls in one reply and gives their results in order. */
  call(...calls: (readonly [name: string, args: Json])[]): Promise<CallResult[]>;
  /** Runs one turn and gives its records. */
  turn(message: string): Promise<WireRecord[]>;
}

/** Runs `test` with a started process and a home and workspace of its own; cleans up whatever happens. */
export async function withBench(
  options: BenchOptions,
  test: (bench: Bench) => Promise<void>,
): Promise<void> {
  await using server = startModelServer(options);
  await using place = await prepareHome({ ...options, server });
  await options.prepare?.(place);
  await using weir = await startWeir({
    args: ["--mode", "rpc", ...options.args ?? ["--yolo"], place.workspace],
    home: place.home,
    ...(options.inWorkspace ? { cwd: place.workspace } : {}),
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.program === undefined ? {} : { program: options.program }),
  });
  const turn = async (message: string) => {
    await weir.send({ type: "prompt", message });
    return await weir.settled();
  };
  await test({
    server,
    place,
    weir,
    turn,
    async call(...calls) {
      server.reply(
        { toolCalls: calls.map(([name, args], index) => ({ id: `c${index}`, name, args })) },
        { text: "done" },
      );
      return resultsOf(await turn("go"));
    },
  });
}

function resultsOf(records: readonly WireRecord[]): CallResult[] {
  const results: CallResult[] = [];
  let reason: unknown;
  for (const record of records) {
    if (record.type === "not_run") reason = record.reason;
    if (record.type !== "tool_result") continue;
    const { status, output } = record;
    results.push({ status, output: String(output), ...(reason === undefined ? {} : { reason }) });
    reason = undefined;
  }
  return results;
}
