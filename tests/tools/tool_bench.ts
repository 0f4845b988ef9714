// A folder and a context for tests of tools on the real machine.

import type { ToolContext, ToolOutcome } from "../../src/agent/tool.ts";
import { createDenoHost } from "../../src/deno/deno_host.ts";

/** What a test gets. */
export interface ToolBench {
  readonly folder: string;
  readonly context: ToolContext;
  /** What the tool told while it ran. */
  readonly deltas: string[];
}

/** Runs a test in a folder of its own, which is removed afterwards with the logs. */
export async function withToolBench(
  run: (bench: ToolBench) => Promise<void>,
  overrides: Partial<ToolContext> = {},
): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  const folder = `${root}/project`;
  await Deno.mkdir(folder);
  const deltas: string[] = [];
  const context: ToolContext = {
    host: createDenoHost(),
    workspace: folder,
    callId: "c1",
    signal: new AbortController().signal,
    onOutput(delta) {
      deltas.push(delta);
      return undefined;
    },
    isCredentialFile: (path) => path.endsWith(".secret"),
    async outputFolder() {
      await Deno.mkdir(`${root}/logs`, { recursive: true, mode: 0o700 });
      return `${root}/logs`;
    },
    allowedVariables: [],
    secretVariables: [],
    ...overrides,
  };
  try {
    await run({ folder, context, deltas });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

/** The text that a model would read. */
export function outcomeText(outcome: ToolOutcome): string {
  return outcome.content.map((block) => block.type === "text" ? block.text : "").join("");
}
