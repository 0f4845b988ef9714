/** Numbers as they were written, for values that are only passed on: JavaScript's own numbers lose digits, signs of zero and what is too large. */

interface SourceJson {
  parse(
    text: string,
    reviver: (this: unknown, key: string, value: unknown, context?: { source?: string }) => unknown,
  ): unknown;
  rawJSON?(text: string): unknown;
}

/**
 * The member `name` of the object on a line of JSON, so that encoding it gives what was written. `value` is what `JSON.parse` made of it, and is
 * returned where nothing is lost or the runtime cannot tell.
 */
export function keepNumber(line: string, name: string, value: unknown): unknown {
  const json = JSON as unknown as SourceJson;
  if (typeof value !== "number" || isExact(value) || json.rawJSON === undefined) return value;
  const sources = new Map<unknown, string>();
  try {
    const root = json.parse(line, function (key, part, context) {
      if (key === name && context?.source !== undefined) sources.set(this, context.source);
      return part;
    });
    const source = sources.get(root);
    return source === undefined ? value : json.rawJSON(source);
  } catch (error) {
    // What else is on the line is nested deeper than the engine's parser goes with a function.
    if (error instanceof RangeError) return value;
    throw error;
  }
}

function isExact(value: number): boolean {
  return Number.isSafeInteger(value) && !Object.is(value, -0);
}
