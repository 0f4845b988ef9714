/** Numbers as they were written, for values that are only passed on: JavaScript's own numbers lose digits, signs of zero and what is too large. */

interface SourceJson {
  parse(
    text: string,
    reviver: (this: unknown, key: string, value: unknown, context?: { source?: string }) => unknown,
  ): unknown;
  rawJSON?(text: string): unknown;
}

/**
 * The member `name` of the object on a line of JSON, so that encoding it gives the numbers in it, however deep, as they were written. `value` is what
 * `JSON.parse` made of it, and is returned where nothing is lost or the runtime cannot tell.
 */
export function keepNumbers(line: string, name: string, value: unknown): unknown {
  const json = JSON as unknown as SourceJson;
  if (isExact(value) || json.rawJSON === undefined) return value;
  try {
    const root = json.parse(line, (_key, part, context) => {
      const source = context?.source;
      return typeof part !== "number" || source === undefined || String(part) === source
        ? part
        : json.rawJSON!(source);
    });
    return (root as Readonly<Record<string, unknown>>)[name];
  } catch (error) {
    // What is on the line is nested deeper than the engine's parser goes with a function.
    if (error instanceof RangeError) return value;
    throw error;
  }
}

/** Zero may stand for a number that is too small. */
function isExact(value: unknown): boolean {
  if (typeof value === "number") return Number.isSafeInteger(value) && value !== 0;
  return typeof value !== "object" || value === null;
}
