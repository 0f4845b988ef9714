/** The system prompt as the options of the command line want it. */

import type { Settings } from "../session/settings.ts";
import type { StartOptions } from "./start_agent.ts";

/** Options name a text or a file with it. Throws `HostError` for a file that cannot be read. */
export async function readPromptChoice(start: StartOptions): Promise<Settings["prompt"]> {
  const { options } = start.commandLine;
  const append: string[] = [];
  for (const text of options.appendSystemPrompt) append.push(await readTextOrFile(text, start));
  const system = options.systemPrompt;
  return {
    system: system === undefined ? undefined : await readTextOrFile(system, start),
    append,
    contextFiles: !options.noContextFiles,
  };
}

/** The content of the file that the text names, else the text itself. */
async function readTextOrFile(
  text: string,
  { host, currentFolder, signal }: StartOptions,
): Promise<string> {
  if (text === "" || text.includes("\n")) return text;
  const path = host.paths.resolve(currentFolder, text);
  const info = await host.files.stat(path).catch(() => undefined);
  if (info?.kind !== "file") return text;
  return new TextDecoder().decode(await host.files.read(path, { signal }));
}
