/**
 * The tool `bash`: runs a shell command. Knows how its result reads; refuses to know who may run what (approvals) and what becomes of
 * jobs.
 */

import type { JsonObject } from "../agent/message.ts";
import {
  type CommandOutput,
  errorOutcome,
  type ParsedArguments,
  textOutcome,
  type Tool,
  type ToolContext,
  type ToolJobs,
  type ToolOutcome,
} from "../agent/tool.ts";
import { errorText } from "../errors.ts";
import { parseArguments } from "./arguments.ts";
import { childEnvironment } from "./child_environment.ts";
import { ShellRun, type WaitEnd } from "./shell_run.ts";

/** The arguments of `bash`. */
export interface BashArguments {
  readonly command: string;
  /** Seconds. */
  readonly timeout?: number;
  readonly background?: boolean;
}

const MAX_FOREGROUND_SECONDS = 600;
const MAX_BACKGROUND_SECONDS = 86_400;
/** A command without a timeout becomes a job after this time. */
const MOVE_AFTER_MS = 120_000;
const ONLY_SLEEP = /^\s*sleep\s+\d+(\.\d+)?[smhd]?\s*$/;

const PARAMETERS: JsonObject = {
  type: "object",
  properties: {
    command: { type: "string", description: "The command, as for `bash -c`" },
    timeout: {
      type: "number",
      description:
        "Seconds after which the command is ended. At most 600; at most 86400 in the background, where 0 means no limit",
    },
    background: {
      type: "boolean",
      description: "Return at once and let the command run as a background job",
    },
  },
  required: ["command"],
  additionalProperties: false,
};

/** The tool `bash`. An abort gives an outcome with what was written so far and `details.interrupted`, and leaves nothing running. */
export const bashTool: Tool<BashArguments> = {
  name: "bash",
  description: "Runs a shell command in the workspace. Gives stdout and stderr as they were " +
    "written and the exit code. Only the last 2000 lines or 50 KB are shown; a file holds the rest. " +
    "There is no input and no terminal.",
  parameters: PARAMETERS,

  parse(args: JsonObject): ParsedArguments<BashArguments> {
    const parsed = parseArguments(PARAMETERS, args);
    return parsed.ok ? { ok: true, value: parsed.value as unknown as BashArguments } : parsed;
  },

  async run(args: BashArguments, context: ToolContext): Promise<ToolOutcome> {
    context.signal.throwIfAborted();
    const { jobs } = context;
    const background = args.background === true;
    const problem = timeoutProblem(args) ??
      (background && jobs === undefined ? "background jobs are not available here" : undefined) ??
      (background ? jobs?.refusal() : undefined);
    if (problem !== undefined) return errorOutcome(problem);
    let run: ShellRun;
    try {
      run = startRun(args, context);
    } catch (error) {
      return errorOutcome(`Cannot run the command: ${errorText(error)}`);
    }
    return background && jobs !== undefined
      ? await moveToJobs(run, jobs, { prefix: "In background: ", timeout: args.timeout })
      : await runInForeground(run, args, context);
  },
};

function timeoutProblem({ timeout, background }: BashArguments): string | undefined {
  if (timeout === undefined) return undefined;
  if (background) {
    return timeout >= 0 && timeout <= MAX_BACKGROUND_SECONDS
      ? undefined
      : "background timeout must be between 0 and 86400 seconds";
  }
  return timeout > 0 && timeout <= MAX_FOREGROUND_SECONDS
    ? undefined
    : "foreground timeout must be positive and at most 600 seconds";
}

function startRun(args: BashArguments, context: ToolContext): ShellRun {
  const { host, allowedVariables, secretVariables } = context;
  return new ShellRun({
    host,
    command: args.command,
    folder: context.workspace,
    environment: childEnvironment(host.processes?.environment() ?? {}, {
      allowed: allowedVariables,
      secrets: secretVariables,
    }),
    outputFolder: () => context.outputFolder(),
    ...(args.background ? {} : { onOutput: (delta: string) => context.onOutput(delta) }),
  });
}

async function runInForeground(
  run: ShellRun,
  args: BashArguments,
  context: ToolContext,
): Promise<ToolOutcome> {
  const { jobs, signal } = context;
  // The run is disposed here unless a job takes it over.
  await using owner = new AsyncDisposableStack();
  owner.use(run);
  using watch = jobs === undefined ? undefined : watchJobs(run, args, { jobs, signal });
  const timeoutMs = args.timeout === undefined ? undefined : args.timeout * 1000;
  const startMs = performance.now();
  const end = await run.wait({ signal, timeoutMs });
  if (end.kind === "aborted") return interrupted(run.snapshot());
  if (end.kind === "moved" && jobs !== undefined) {
    owner.move();
    const prefix = "Command continues in background: ";
    if (args.timeout === undefined) return await moveToJobs(run, jobs, { prefix });
    // Its own time counts from its start.
    const timeout = Math.max(0.001, args.timeout - (performance.now() - startMs) / 1000);
    return await moveToJobs(run, jobs, { prefix, timeout });
  }
  const slept = watch?.wokeUp() === true;
  const outcome = result(end, { output: run.snapshot(), slept });
  if (slept || end.kind !== "exited" || !end.leftRunning) return outcome;
  if (jobs === undefined) return withLine(outcome, "What it left running was ended.");
  run.detach();
  owner.move();
  const job = await moveToJobs(run, jobs, { prefix: "Still running: ", kind: "adopted" });
  return withLine(outcome, textOf(job));
}

/** What may end a foreground command besides itself: the person, the time, and, for one that only waits, the end of a job. */
function watchJobs(
  run: ShellRun,
  args: BashArguments,
  { jobs, signal }: { jobs: ToolJobs; signal: AbortSignal },
): Disposable & { wokeUp(): boolean } {
  const done = new AbortController();
  let woke = false;
  const shown = jobs.foreground(run, { moveToBackground: () => run.detach() });
  const timer = args.timeout === undefined
    ? setTimeout(() => jobs.refusal() === undefined && run.detach(), MOVE_AFTER_MS)
    : undefined;
  if (ONLY_SLEEP.test(args.command)) {
    jobs.nextEnd({ signal: AbortSignal.any([signal, done.signal]) }).then(() => {
      if (done.signal.aborted) return;
      woke = true;
      return run.stop({ graceMs: 0 });
    }).catch(() => {});
  }
  return {
    wokeUp: () => woke,
    [Symbol.dispose]() {
      clearTimeout(timer);
      done.abort();
      shown[Symbol.dispose]();
    },
  };
}

async function moveToJobs(
  run: ShellRun,
  jobs: ToolJobs,
  options: { prefix: string; timeout?: number | undefined; kind?: "shell" | "adopted" },
): Promise<ToolOutcome> {
  try {
    const line = await jobs.add(run, {
      kind: options.kind ?? "shell",
      timeoutMs: options.timeout ? options.timeout * 1000 : undefined,
    });
    return textOutcome(options.prefix + line);
  } catch (error) {
    await run.stop({ graceMs: 1000 });
    return errorOutcome(`Cannot keep the command in the background: ${errorText(error)}`);
  }
}

function result(
  end: WaitEnd,
  { output, slept }: { output: CommandOutput; slept: boolean },
): ToolOutcome {
  const lines: string[] = [];
  if (end.kind === "timeout" || end.kind === "output limit") {
    lines.push(`Command ended: ${end.kind}`);
  } else if (end.kind === "output unavailable") {
    lines.push(`Command ended: ${end.kind} (${end.problem})`);
  }
  const code = slept ? 0 : "code" in end ? end.code : undefined;
  if (code !== undefined) lines.push(`Exit code: ${code}`);
  const text = shownOutput(output);
  const lineBreak = text === "" || text.endsWith("\n") ? "" : "\n";
  return {
    content: [{ type: "text", text: text + lineBreak + lines.join("\n") }],
    isError: end.kind !== "exited",
    details: {
      ...(code === undefined ? {} : { exitCode: code }),
      ...cutDetails(output),
    },
  };
}

/** For dialects that show what an interrupted command had written; the others say `Interrupted`. */
function interrupted(output: CommandOutput): ToolOutcome {
  return errorOutcome(shownOutput(output), {
    details: { interrupted: true, ...cutDetails(output) },
  });
}

function shownOutput({ text, truncated, logPath }: CommandOutput): string {
  if (!truncated) return text;
  const where = logPath === undefined ? "the rest could not be kept" : `all of it is in ${logPath}`;
  return `[The end of the output; ${where}]\n${text}`;
}

function cutDetails({ truncated, logPath }: CommandOutput): JsonObject {
  if (!truncated) return {};
  return { truncated, ...(logPath === undefined ? {} : { fullOutputPath: logPath }) };
}

function withLine(outcome: ToolOutcome, line: string): ToolOutcome {
  return { ...outcome, content: [{ type: "text", text: `${textOf(outcome)}\n${line}` }] };
}

function textOf({ content }: ToolOutcome): string {
  return content.map((block) => block.type === "text" ? block.text : "").join("");
}
