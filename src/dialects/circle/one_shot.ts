/** The one-shot modes of the circle dialect. */

import { encodeTextBlock } from "../../session/attachments.ts";
import type { OneShot } from "../one_shot.ts";

export const CIRCLE_ONE_SHOT: OneShot = {
  stdin: { read: "last", firstByteMs: 3000 },
  nothingToDo: "Nothing to do: give a prompt after -p or pipe one in.",

  compose({ stdin, words }) {
    const piped = stdin.trimEnd();
    const [first, ...rest] = words.filter((word) => word.trim() !== "");
    const others = rest.map((text) => ({ text }));
    if (first === undefined) return piped === "" ? [] : [{ text: piped }];
    if (piped === "") return [{ text: first }, ...others];
    const before = `${piped}\n\n`;
    return [{ text: before + first, mentionsFrom: before.length }, ...others];
  },

  encodeFile: ({ path, text }) => encodeTextBlock("file", { path, text }),
  exitCode: ({ signalCode, cause, answered }) =>
    signalCode ?? (answered && cause === "input" ? 0 : 1),
};
