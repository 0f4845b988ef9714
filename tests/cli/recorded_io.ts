/** A terminal that answers from a list and keeps what is written. */

import type { CommandIo } from "../../src/cli/command_io.ts";

export interface RecordedIo extends CommandIo {
  /** Lines of stdout. */
  readonly output: string[];
  /** Lines of stderr. */
  readonly errors: string[];
  /** What was asked; hidden questions begin with `hidden: `. */
  readonly questions: string[];
}

/** With `answers` there is somebody to ask; after the last one the input has ended. */
export function recordIo(answers?: readonly string[]): RecordedIo {
  const output: string[] = [];
  const errors: string[] = [];
  const questions: string[] = [];
  const left = [...answers ?? []];
  const prompt: CommandIo["prompt"] = answers && {
    ask(question, { isHidden }) {
      questions.push(`${isHidden ? "hidden: " : ""}${question}`);
      return Promise.resolve(left.shift());
    },
  };
  return {
    output,
    errors,
    questions,
    out: (line) => void output.push(line),
    err: (line) => void errors.push(line),
    prompt,
  };
}
