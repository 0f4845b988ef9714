// Stands in for `jsr:@std/jsonc` where only the npm registry is reachable. Knows nothing of the project.
import { parse as parseTolerant, type ParseError, printParseErrorCode } from "jsonc-parser";

/** Any value that JSON can hold. */
export type JsonValue =
  | { [key: string]: JsonValue | undefined }
  | JsonValue[]
  | string
  | number
  | boolean
  | null;

/** What {@linkcode parse} accepts besides comments. */
export interface ParseOptions {
  /** Commas after the last item are fine. Default: true. */
  allowTrailingComma?: boolean;
}

/** Parses JSON with comments. Throws a `SyntaxError` that names what stands in the way and its position. */
export function parse(text: string, options: ParseOptions = {}): JsonValue {
  const errors: ParseError[] = [];
  const value = parseTolerant(text, errors, {
    allowTrailingComma: options.allowTrailingComma ?? true,
    disallowComments: false,
    allowEmptyContent: false,
  });
  if (errors.length > 0) throw new SyntaxError(describeError(text, errors[0]));
  return value;
}

function describeError(text: string, { offset, length, error }: ParseError): string {
  const isCutOff = offset >= text.trimEnd().length ||
    /^UnexpectedEndOf(Comment|String)$/.test(printParseErrorCode(error)) &&
      !text.slice(offset).includes("\n");
  if (isCutOff) return "Unexpected end of JSONC input";
  const token = text.slice(offset, offset + Math.max(length, 1));
  const shown = token.length > 30 ? `${token.slice(0, 30)}...` : token;
  return `Unexpected token ${shown} in JSONC at position ${offset}`;
}
