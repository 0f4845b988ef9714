/** Keeps a very long tool result out of the conversation: all of it goes into a file, an excerpt with the path stays. */

import { textOf, type ToolResultMessage } from "../agent/message.ts";
import { errorText } from "../errors.ts";
import { takeLogName } from "../tools/shell_run.ts";
import type { Settings } from "./settings.ts";

/** Characters that a result may have. */
const MAX_CHARACTERS = 80_000;
const EXCERPT_CHARACTERS = 20_000;

/** The result itself when it is short enough. Images stay. Never throws: a call has a result also when the disk is full. */
export async function shortenResult(
  result: ToolResultMessage,
  settings: Settings,
): Promise<ToolResultMessage> {
  const text = textOf(result);
  if (text.length <= MAX_CHARACTERS) return result;
  const half = EXCERPT_CHARACTERS / 2;
  const excerpt = [
    `[${text.length} characters, of which the beginning and the end follow; ${await saveWhole(
      text,
      settings,
    )}]`,
    text.slice(0, half).toWellFormed(),
    "[…]",
    text.slice(-half).toWellFormed(),
  ].join("\n");
  const images = result.content.filter((block) => block.type === "image");
  return { ...result, content: [{ type: "text", text: excerpt }, ...images] };
}

/** Says where all of the text is. */
async function saveWhole(text: string, settings: Settings): Promise<string> {
  const { host } = settings;
  try {
    const path = host.paths.join(await settings.outputFolder(), takeLogName());
    const { signal } = new AbortController();
    await host.files.replace(path, new TextEncoder().encode(text), { mode: 0o600, signal });
    return `all of it is in ${path}`;
  } catch (error) {
    return `the rest could not be kept: ${errorText(error)}`;
  }
}
