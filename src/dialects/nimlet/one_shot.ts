/** The one-shot modes of the nimlet dialect. */

import { encodeTextBlock } from "../../session/attachments.ts";
import type { OneShot } from "../one_shot.ts";

export const NIMLET_ONE_SHOT: OneShot = {
  stdin: { read: "first", firstByteMs: undefined },
  nothingToDo: "Non-interactive mode requires a prompt or piped stdin.",

  compose({ stdin, words }) {
    const piped = stdin.trim();
    const said = words.join(" ");
    if (said.trim() === "") {
      return piped === "" ? [] : [{ text: piped, mentionsFrom: piped.length }];
    }
    if (piped === "") return [{ text: said }];
    const before = `${piped}\n\n`;
    return [{ text: before + said, mentionsFrom: before.length }];
  },

  encodeFile: ({ path, text }) => encodeTextBlock("file", { path, text }),
  exitCode: ({ signalCode, success }) => signalCode ?? (success ? 0 : 1),
};
