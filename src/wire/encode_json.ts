/** JSON text of any value that came in as JSON, however deep. */

/** Compact JSON; lone surrogates are escaped. Values nested too deep for the engine's own writer are written without recursion. */
export function encodeJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return encodeDeep(value);
    throw error;
  }
}

type Frame = {
  readonly close: string;
  readonly parts: Iterator<readonly [string, unknown]>;
  first: boolean;
};

/** A number that stands for itself as it was written. */
function isRaw(value: object): boolean {
  return (JSON as { isRawJSON?(value: unknown): boolean }).isRawJSON?.(value) ?? false;
}

/** Values are plain JSON data: what `JSON.parse` gives, numbers as they were written, and objects made of them. */
function encodeDeep(root: unknown): string {
  const pieces: string[] = [];
  const stack: Frame[] = [];
  const write = (value: unknown) => {
    if (typeof value !== "object" || value === null || isRaw(value)) {
      pieces.push(JSON.stringify(value) ?? "null");
    } else if (Array.isArray(value)) {
      pieces.push("[");
      stack.push({ close: "]", parts: arrayParts(value), first: true });
    } else {
      pieces.push("{");
      stack.push({ close: "}", parts: objectParts(value), first: true });
    }
  };
  write(root);
  while (stack.length > 0) {
    const frame = stack.at(-1)!;
    const next = frame.parts.next();
    if (next.done) {
      pieces.push(frame.close);
      stack.pop();
      continue;
    }
    pieces.push(frame.first ? "" : ",", next.value[0]);
    frame.first = false;
    write(next.value[1]);
  }
  return pieces.join("");
}

function* arrayParts(values: readonly unknown[]): Generator<readonly [string, unknown]> {
  for (const value of values) yield ["", value];
}

function* objectParts(value: object): Generator<readonly [string, unknown]> {
  for (const [key, part] of Object.entries(value)) {
    if (part !== undefined) yield [`${JSON.stringify(key)}:`, part];
  }
}
