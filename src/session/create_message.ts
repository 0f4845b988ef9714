/** From a message as it was sent to the message that the model reads. Knows no queue and no turn. */

import type { UserMessage } from "../agent/message.ts";
import { expandMentions } from "./attachments.ts";
import type { WaitingMessage } from "./message_queue.ts";
import type { Settings } from "./settings.ts";

/** The message with its files and images; words that name files become the files with `expand`. Throws what reading them throws. */
export async function createMessage(
  waiting: WaitingMessage,
  { expand, settings, signal }: { expand: boolean; settings: Settings; signal: AbortSignal },
): Promise<UserMessage> {
  const { host, policy, workspace, isCredentialFile } = settings;
  const { text, extras } = waiting;
  if (extras?.content !== undefined) {
    return { role: "user", content: extras.content, timestamp: Date.now(), display: text };
  }
  const start = extras?.mentionsFrom ?? 0;
  const words = text.slice(start);
  const expanded = !expand ? { text: words, images: [] } : await expandMentions(words, {
    style: policy.mentions,
    host,
    workspace,
    isCredentialFile,
    signal,
  }).catch((error) => {
    // The message itself is kept, whatever came of its files.
    if (signal.aborted) return { text: words, images: [] };
    throw error;
  });
  const files = extras?.files === undefined ? "" : `${extras.files}\n\n`;
  const whole = files + text.slice(0, start) + expanded.text;
  const images = [...extras?.images ?? [], ...expanded.images];
  return {
    role: "user",
    content: [{ type: "text", text: whole }, ...images],
    timestamp: Date.now(),
    ...(whole === text && images.length === 0 ? {} : { display: text }),
  };
}
