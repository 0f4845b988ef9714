/**
 * The program: flags, the machine, a dialect, and the exit code. The only file that exits, and the only one that knows Deno's host.
 */

import {
  type CommandLineEnvironment,
  type DialectName,
  dialectOfArguments,
  parseCommandLine,
  type RunCommandLine,
} from "./cli/command_line.ts";
import { visibleText } from "./agent/visible_text.ts";
import type { CommandIo } from "./cli/command_io.ts";
import { createDenoHost } from "./deno/deno_host.ts";
import { errorOutput, guardConsole } from "./deno/error_output.ts";
import { guardAccess } from "./deno/guard_access.ts";
import { mayUse } from "./deno/permissions.ts";
import { watchOutput } from "./deno/watch_output.ts";
import type { AcpDialect } from "./dialects/acp/dialect.ts";
import type { Dialect } from "./dialects/dialect.ts";
import { errorText, StartError } from "./errors.ts";
import type { Host } from "./host.ts";
import type { StartedAgent } from "./start/start_agent.ts";
import { loadConnectionDialect, loadDialect } from "./start/load_dialect.ts";

/** Signals that end the program, with their exit codes. */
const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** Runs the program with the arguments of the process and exits. */
export async function main(): Promise<never> {
  // stdout carries protocol only; whatever a dependency logs goes to stderr.
  guardConsole();
  guardAccess();
  const code = await runProgram(Deno.args, createDenoHost());
  await errorOutput.settle();
  Deno.exit(code);
}

async function runProgram(args: readonly string[], host: Host): Promise<number> {
  let dialect: Dialect | undefined;
  const environment: CommandLineEnvironment = {
    dialect: host.getEnv("WEIR_DIALECT"),
    isTerminal: Deno.stdin.isTerminal() && Deno.stdout.isTerminal(),
    isFolder: (path) => isFolder(path),
  };
  try {
    const commandLine = parseCommandLine(args, environment);
    if (
      commandLine.kind === "run" && (commandLine.mode === undefined || commandLine.mode === "line")
    ) {
      const { NO_MODE_TEXT } = await import("./cli/help.ts");
      host.warn(NO_MODE_TEXT);
      return 2;
    }
    if (commandLine.kind !== "run") {
      const { runSubcommand } = await import("./cli/run_subcommand.ts");
      return await runSubcommand(commandLine, {
        host,
        currentFolder: Deno.cwd(),
        signal: new AbortController().signal,
        io: await createIo(),
      });
    }
    for (const warning of commandLine.warnings) host.warn(warning);
    const own = await loadConnectionDialect(commandLine.dialect);
    if (own !== undefined) return await runConnection(commandLine, { dialect: own, host });
    dialect = await loadDialect(commandLine.dialect);
    const isLasting = commandLine.mode === "rpc";
    return await (isLasting ? run : runOnce)(commandLine, { dialect, host });
  } catch (error) {
    if (error instanceof StartError) {
      dialect ??= await tryToLoad(dialectOfArguments(args, environment));
      const failure = dialect?.describeStartError(error) ??
        { text: `✖ ${error.message}`, exitCode: error.exitCode };
      host.warn(failure.text);
      return failure.exitCode;
    }
    host.warn(`weir: ${error instanceof Error ? error.stack ?? error.message : errorText(error)}`);
    return 1;
  }
}

async function tryToLoad(name: DialectName | undefined): Promise<Dialect | undefined> {
  return name === undefined ? undefined : await loadDialect(name).catch(() => undefined);
}

async function createIo(): Promise<CommandIo> {
  const { createTerminalPrompt } = await import("./deno/terminal.ts");
  const write = (to: { writeSync(bytes: Uint8Array): number }, line: string) => {
    const bytes = new TextEncoder().encode(line + "\n");
    for (let written = 0; written < bytes.length;) written += to.writeSync(bytes.subarray(written));
  };
  return {
    out: (line) => write(Deno.stdout, Deno.stdout.isTerminal() ? visibleText(line) : line),
    err: (line) => write(Deno.stderr, visibleText(line)),
    prompt: createTerminalPrompt(),
  };
}

function isFolder(path: string): boolean {
  try {
    return mayUse("read", path) && Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

async function run(
  commandLine: RunCommandLine,
  { dialect, host }: { dialect: Dialect; host: Host },
): Promise<number> {
  const { startAgent } = await import("./start/start_agent.ts");
  const stdout = Deno.stdout.writable;
  if (commandLine.options.extensions) await keepStdout();
  const start = new AbortController();
  let stop = () => start.abort(new Error("the program was told to end"));
  const signals = listenForSignals({ host, dialect, onSignal: () => stop() });
  let agent: StartedAgent;
  let Hub: typeof import("./session/hub.ts").Hub;
  let serve: typeof import("./serve.ts").serve;
  try {
    const starting = startAgent({
      host,
      dialect,
      commandLine,
      currentFolder: Deno.cwd(),
      signal: start.signal,
    });
    // The rest of the program is loaded while files are read.
    [agent, { Hub }, { serve }] = await Promise.all([
      starting,
      import("./session/hub.ts"),
      import("./serve.ts"),
    ]);
  } catch (error) {
    if (signals.code === undefined) throw error;
    host.processes?.endRecord();
    return signals.code;
  }
  const hub = new Hub({ ...agent, watchClient: watchOutput });
  stop = () => hub.stop("signal");
  if (signals.code !== undefined) stop();
  const served = serve({ stdin: Deno.stdin.readable, stdout, dialect, hub });
  const { dropOutputAfterMs } = dialect.policy;
  if (dropOutputAfterMs === undefined) await served;
  else await Promise.race([served, untilDropped(hub.ended, { signals, dropOutputAfterMs })]);
  const end = await hub.ended;
  host.processes?.endRecord();
  return dialect.exitCode({ ...end, signalCode: signals.code });
}

/** Serves a client whose dialect opens its conversations itself. */
async function runConnection(
  commandLine: RunCommandLine,
  { dialect, host }: { dialect: AcpDialect; host: Host },
): Promise<number> {
  const [{ startConnection }, { serve }] = await Promise.all([
    import("./start/start_connection.ts"),
    import("./serve.ts"),
  ]);
  const stdout = Deno.stdout.writable;
  if (commandLine.options.extensions) await keepStdout();
  const connection = await startConnection({
    host,
    dialect,
    commandLine,
    currentFolder: Deno.cwd(),
    watchClient: watchOutput,
    signal: new AbortController().signal,
  });
  const signals = listenForSignals({ host, dialect, onSignal: () => connection.stop("signal") });
  await serve({ stdin: Deno.stdin.readable, stdout, dialect, hub: connection });
  const end = await connection.ended;
  host.processes?.endRecord();
  return dialect.exitCode({ ...end, signalCode: signals.code });
}

/** Modules of other people are about to be loaded, and stdout is taken. */
async function keepStdout(): Promise<void> {
  const { guardStdout } = await import("./deno/guard_stdout.ts");
  guardStdout();
}

async function runOnce(
  commandLine: RunCommandLine,
  { dialect, host }: { dialect: Dialect; host: Host },
): Promise<number> {
  const oneShot = await dialect.loadOneShot?.();
  if (oneShot === undefined) {
    throw new StartError("usage", `--dialect ${dialect.name} needs --mode rpc`);
  }
  const { runPrint } = await import("./print/run_print.ts");
  const stop = new AbortController();
  const signals = listenForSignals({ host, dialect, onSignal: () => stop.abort() });
  const stdout = Deno.stdout.writable;
  if (commandLine.options.extensions) await keepStdout();
  const end = await runPrint({
    host,
    dialect,
    oneShot,
    commandLine,
    currentFolder: Deno.cwd(),
    stdin: Deno.stdin.isTerminal() ? undefined : Deno.stdin.readable,
    stdout,
    isTerminal: Deno.stdout.isTerminal(),
    watchClient: watchOutput,
    signal: stop.signal,
  }).catch((error) => {
    if (stop.signal.aborted && error === stop.signal.reason) return undefined;
    throw error;
  });
  host.processes?.endRecord();
  if (end === undefined) return signals.code!;
  return oneShot.exitCode({ ...end, signalCode: signals.code });
}

/** What is written last has at least this long to get out. */
const LAST_OUTPUT_MS = 150;

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

interface Signals {
  /** Exit code of the first one. */
  readonly code: number | undefined;
  /** Resolves when the first one has come. */
  readonly came: Promise<void>;
}

/** Resolves when a client that does not read has had its time: so long after a signal, and when everything is saved. */
async function untilDropped(
  ended: Promise<unknown>,
  { signals, dropOutputAfterMs }: { signals: Signals; dropOutputAfterMs: number },
): Promise<void> {
  await signals.came;
  const time = pause(dropOutputAfterMs);
  await ended;
  // The last records are on their way only now.
  await Promise.all([time, pause(LAST_OUTPUT_MS)]);
}

/** The first signal ends the run in order; what a further one does is said by the dialect. */
function listenForSignals({ host, dialect, onSignal }: {
  host: Host;
  dialect: Pick<Dialect, "furtherSignals">;
  onSignal: () => void;
}): Signals {
  const came = Promise.withResolvers<void>();
  const state: Signals & { code: number | undefined } = { code: undefined, came: came.promise };
  for (const [name, code] of Object.entries(SIGNALS) as [keyof typeof SIGNALS, number][]) {
    if (host.platform === "windows" && name !== "SIGINT") continue;
    Deno.addSignalListener(name, () => {
      if (state.code === undefined) {
        state.code = code;
        came.resolve();
        onSignal();
      } else if (dialect.furtherSignals === "exit") {
        host.processes?.killAll();
        Deno.exit(code);
      }
    });
  }
  return state;
}

if (import.meta.main) await main();
