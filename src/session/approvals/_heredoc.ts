/** Where a heredoc ends, for the shell reader. */

/**
 * Finds the line that ends a heredoc whose body begins at `start`: `bodyEnd` is where that line
 * begins, `next` what follows it. `undefined` when there is none.
 */
export function findHeredocEnd(
  text: string,
  start: number,
  options: { delimiter: string; stripsTabs: boolean },
): { bodyEnd: number; next: number } | undefined {
  let lineStart = start;
  while (lineStart <= text.length) {
    const newline = text.indexOf("\n", lineStart);
    const lineEnd = newline < 0 ? text.length : newline;
    const line = text.slice(lineStart, lineEnd).replace(/\r$/, "");
    if ((options.stripsTabs ? line.replace(/^\t+/, "") : line) === options.delimiter) {
      return { bodyEnd: lineStart, next: Math.min(lineEnd + 1, text.length) };
    }
    lineStart = lineEnd + 1;
  }
  return undefined;
}
