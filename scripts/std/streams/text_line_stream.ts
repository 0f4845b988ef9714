// Stands in for `jsr:@std/streams` where only the npm registry is reachable. Knows nothing of the project.

/** How {@linkcode TextLineStream} finds the end of a line. */
export interface TextLineStreamOptions {
  /** A lone `\r` ends a line too. Default: false. */
  allowCR?: boolean;
}

/** Text in any pieces in, one chunk per line out, without its `\n` or `\r\n`; a last line needs no end. Linear in its input. */
export class TextLineStream extends TransformStream<string, string> {
  constructor(options: TextLineStreamOptions = {}) {
    const end = options.allowCR ? /\r\n|\n|\r(?!$)/ : /\r?\n/;
    // Pieces of the unfinished line; joined once, so that a long line in many chunks stays linear.
    let pending: string[] = [];
    // A `\r` that ended a chunk may have been half of `\r\n`: it counts only with what follows it.
    const mayEnd = (text: string) =>
      options.allowCR ? pending.at(-1)?.endsWith("\r") || /[\r\n]/.test(text) : text.includes("\n");
    super({
      transform(text, controller) {
        if (!mayEnd(text)) {
          if (text !== "") pending.push(text);
          return;
        }
        const lines = (pending.join("") + text).split(end);
        const rest = lines.pop() ?? "";
        for (const line of lines) controller.enqueue(line);
        pending = rest === "" ? [] : [rest];
      },
      flush(controller) {
        const rest = pending.join("");
        if (rest === "") return;
        controller.enqueue(options.allowCR && rest.endsWith("\r") ? rest.slice(0, -1) : rest);
      },
    });
  }
}
