/** A one-shot run of the real program, from its start to its exit, with a scripted endpoint, a home and a workspace. */

import { assertEquals } from "@std/assert";
import { type ModelServer, startModelServer } from "../fakes/model_server.ts";
import { type HomeOptions, type PreparedHome, prepareHome } from "../fakes/prepare_home.ts";
import type { Reply } from "../fakes/reply.ts";
import { cleanEnvironment, defaultProgram } from "../fakes/weir_process.ts";

export interface PlaceOptions extends Omit<HomeOptions, "server"> {
  replies?: readonly Reply[];
}

export interface Place {
  readonly server: ModelServer;
  readonly home: PreparedHome;
  /** Runs `weir` with these arguments in the workspace. */
  run(args: readonly string[], options?: RunOptions): Promise<Run>;
}

export interface RunOptions {
  /** All of stdin; default: empty. `open` is never closed. */
  stdin?: string | "open";
  env?: Record<string, string>;
}

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the test; afterwards every reply must have been used and no request refused. */
export async function withPlace(
  options: PlaceOptions,
  test: (place: Place) => Promise<void>,
): Promise<void> {
  await using server = startModelServer();
  server.reply(...options.replies ?? []);
  await using home = await prepareHome({ ...options, server });
  await test({ server, home, run: (args, run = {}) => runOnce(args, { home, ...run }) });
  assertEquals([server.complaints, server.unused], [[], 0]);
}

async function runOnce(
  args: readonly string[],
  { home, stdin, env }: RunOptions & { home: PreparedHome },
): Promise<Run> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "weir_once_" }));
  try {
    await Deno.mkdir(`${folder}/tmp`);
    const [command, ...first] = defaultProgram();
    const child = new Deno.Command(command, {
      args: [...first, ...args],
      cwd: home.workspace,
      clearEnv: true,
      env: { ...cleanEnvironment(folder), WEIR_HOME: home.home, ...env },
      stdin: stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const input = stdin === undefined ? undefined : child.stdin.getWriter();
    if (stdin !== undefined && stdin !== "open") {
      // A run that ends without reading breaks the pipe.
      await input!.write(new TextEncoder().encode(stdin)).catch(() => {});
      await input!.close().catch(() => {});
    }
    const { code, stdout, stderr } = await child.output();
    if (stdin === "open") await input!.close().catch(() => {});
    const decoder = new TextDecoder();
    return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A reply with calls, of the ids `c0`, `c1`, … */
export function calls(...wanted: readonly [name: string, args: Record<string, unknown>][]): Reply {
  return { toolCalls: wanted.map(([name, args], index) => ({ id: `c${index}`, name, args })) };
}

/** The text of the last user message of a request. */
export function lastUserText(messages: readonly Record<string, unknown>[]): unknown {
  const content = messages.findLast((message) => message.role === "user")?.content;
  if (!Array.isArray(content)) return content;
  return content.find((part) => part.type === "text")?.text;
}
