/** The `@path` words of a command line as what comes with the first message. Reads files; the dialect says how a text is put. */

import type { ImageBlock } from "../agent/message.ts";
import type { OneShot } from "../dialects/one_shot.ts";
import { StartError } from "../errors.ts";
import { attachFile, type Attachment } from "../session/attachments.ts";
import type { MessageExtras } from "../session/command.ts";
import type { Settings } from "../session/settings.ts";

type Refusal = Exclude<Attachment["kind"], "text" | "image">;

const REFUSALS: Record<Refusal, (path: string) => string> = {
  missing: (path) => `no such file: ${path}`,
  unsuitable: (path) => `${path} is not a text file`,
  folder: (path) => `${path} is not a text file`,
  too_large: (path) =>
    `${path} is too large: text may have 64 KiB, an image 20 MiB; name it in the message instead`,
  outside: (path) => `${path} is outside the folder; pipe it in instead`,
  credential: (path) => `${path} is a credential file and is not sent to a model`,
};

/**
 * Reads the files, each once, in their order. Paths are relative to the workspace. Throws `StartError` (`usage`) for the first one that
 * cannot be attached, and `signal.reason`.
 */
export async function readFiles(
  given: readonly string[],
  { settings, oneShot, signal }: { settings: Settings; oneShot: OneShot; signal: AbortSignal },
): Promise<Pick<MessageExtras, "files" | "images">> {
  const { host, workspace, policy, isCredentialFile } = settings;
  const style = policy.mentions;
  const seen = new Set<string>();
  const texts: string[] = [];
  const images: ImageBlock[] = [];
  for (const path of given) {
    const attachment = await attachFile(path, {
      style,
      host,
      workspace,
      isCredentialFile,
      signal,
    });
    if (attachment.kind !== "text" && attachment.kind !== "image") {
      throw new StartError("usage", REFUSALS[attachment.kind](path));
    }
    if (seen.has(attachment.path)) continue;
    seen.add(attachment.path);
    if (attachment.kind === "text") texts.push(oneShot.encodeFile(attachment));
    else images.push(attachment.image);
  }
  if (images.length > style.maxImages) {
    throw new StartError("usage", `too many images: at most ${style.maxImages} in one message`);
  }
  return {
    ...(texts.length === 0 ? {} : { files: texts.join("\n\n") }),
    ...(images.length === 0 ? {} : { images }),
  };
}
