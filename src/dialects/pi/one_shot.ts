/** The one-shot modes of the pi dialect. */

import type { OneShot } from "../one_shot.ts";

export const PI_ONE_SHOT: OneShot = {
  stdin: { read: "first", firstByteMs: undefined },
  nothingToDo: "Nothing to do: give a message or pipe one in.",

  compose({ stdin, words }) {
    const piped = stdin.trim();
    const messages = words.filter((word) => word.trim() !== "");
    const [first, ...others] = messages;
    if (first === undefined) return piped === "" ? [] : [{ text: piped }];
    const whole = piped === "" ? first : `${piped}\n\n${first}`;
    return [{ text: whole }, ...others.map((text) => ({ text }))];
  },

  encodeFile: ({ path, text }) => `<file name="${path}">\n${text}\n</file>`,
  exitCode: ({ signalCode, answered, isCutOff }) => signalCode ?? (answered && !isCutOff ? 0 : 1),
};
