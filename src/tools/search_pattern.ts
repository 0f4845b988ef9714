/**
 * The pattern of `grep`: a JavaScript regular expression, and the same for ripgrep where that can be said. Knows no file.
 */

import { escape } from "./glob.ts";

/** What is searched for in each line. */
export interface SearchPattern {
  readonly regExp: RegExp;
  /** Finds at least what `regExp` finds; `undefined` when only JavaScript can tell. */
  readonly ripgrep: string | undefined;
  /** The text that is searched for, when the pattern is no more than that; upper and lower case as `regExp` has it. */
  readonly plain: string | undefined;
}

/** Throws `SyntaxError` when it is no regular expression. Unicode rules, or the older lenient ones when only those accept it. */
export function parseSearchPattern(
  pattern: string,
  options: { literal: boolean; ignoreCase: boolean },
): SearchPattern {
  const source = options.literal ? escape(pattern) : pattern;
  const flags = options.ignoreCase ? "i" : "";
  const plain = isPlain(pattern, options) ? pattern : undefined;
  try {
    const regExp = new RegExp(source, `${flags}u`);
    return { regExp, ripgrep: new Translation(source, regExp.flags).text(), plain };
  } catch {
    // The lenient rules know other escapes and other upper and lower case, so they are left to JavaScript.
    return { regExp: new RegExp(source, flags), ripgrep: undefined, plain };
  }
}

/**
 * Whether the bytes of the pattern stand in every line that matches. Bytes that are no UTF-8 may be U+FFFD, the mark at the start of a file is not seen, and
 * without regard to case some letters are equal to letters beyond ASCII.
 */
function isPlain(
  pattern: string,
  { literal, ignoreCase }: { literal: boolean; ignoreCase: boolean },
): boolean {
  if (pattern === "" || /[\n\r\0\uFEFF\uFFFD\uD800-\uDFFF]/.test(pattern)) return false;
  if (ignoreCase && /[^\x20-\x7E]|[ksKS]/.test(pattern)) return false;
  return literal || !/[\\^$.*+?()[\]{}|]/.test(pattern);
}

/** Bytes that are no UTF-8 are one U+FFFD for up to three of them once decoded; ripgrep sees the bytes. */
const BAD_BYTES = "(?-u:[\\x80-\\xFF]{1,3})";
const BYTE_ORDER_MARK = "\\x{FEFF}";
const CLASSES: Readonly<Record<string, string>> = {
  d: "0-9",
  // The last two are letters only when case is ignored.
  w: "A-Za-z0-9_\\x{17F}\\x{212A}",
  s: "\\t\\x0B\\x0C\\r \\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}\\x{FEFF}",
};
/** What a negated class surely leaves out, so that it finds enough. */
const SURE_CLASSES: Readonly<Record<string, string>> = { ...CLASSES, w: "A-Za-z0-9_" };
const CONTROLS: Readonly<Record<string, string>> = { t: "\\t", r: "\\r", f: "\\f", v: "\\x0B" };

/** Reads a regular expression that is known to be valid under Unicode rules. */
class Translation {
  readonly #source: string;
  readonly #flags: string;
  #at = 0;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags;
  }

  /** `undefined` when something has no equal in ripgrep. */
  text(): string | undefined {
    let text = this.#flags.includes("i") ? "(?i)" : "";
    while (this.#at < this.#source.length) {
      const start = this.#at;
      const part = this.#part();
      if (part === undefined) return undefined;
      text += this.#isAtom(start) ? this.#withBadBytes(part, start) : part;
    }
    return text;
  }

  #part(): string | undefined {
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at)!);
    this.#at += character.length;
    switch (character) {
      case "\\":
        return this.#escape();
      case "[":
        return this.#class();
      case "(":
        return this.#group();
      case "^":
        // An anchor in the middle is rare, and ripgrep looks at it line by line in its own way.
        if (!"(|:>".includes(this.#source[this.#at - 2] ?? "|")) return undefined;
        // JavaScript does not see the mark at the start of a file.
        return `(?:^${BYTE_ORDER_MARK}?)`;
      case "$":
        if (!")|".includes(this.#source[this.#at] ?? "|")) return undefined;
        // Nor the CR at the end of a line.
        return "(?:\\r?$)";
      case "\n":
        return undefined;
      case ".":
      case "*":
      case "+":
      case "?":
      case "{":
      case "}":
      case ")":
      case "|":
        return character;
      default:
        // Digits and the like within braces stay what they are.
        return /^[\w,]$/.test(character) ? character : codePoint(character);
    }
  }

  #group(): string | undefined {
    const rest = this.#source.slice(this.#at, this.#at + 3);
    if (!rest.startsWith("?")) return "(?:";
    if (rest.startsWith("?:")) {
      this.#at += 2;
      return "(?:";
    }
    if (!rest.startsWith("?<") || rest[2] === "=" || rest[2] === "!") return undefined;
    this.#at = this.#source.indexOf(">", this.#at) + 1;
    return "(?:";
  }

  #escape(): string | undefined {
    const next = this.#source[this.#at]!;
    if (next === "b" || next === "B") {
      this.#at++;
      return "(?:)";
    }
    const lower = next.toLowerCase();
    if (CLASSES[lower] !== undefined) {
      this.#at++;
      return next === lower ? `[${CLASSES[lower]}]` : `[^${SURE_CLASSES[lower]}]`;
    }
    return this.#escapedCharacter();
  }

  #escapedCharacter(): string | undefined {
    const rest = this.#source.slice(this.#at);
    const [hex] = rest.match(/^(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]+\})/) ?? [];
    if (hex !== undefined) {
      this.#at += hex.length;
      const value = Number.parseInt(hex.replace(/[ux{}]/g, ""), 16);
      if (value === 10 || (value >= 0xd800 && value <= 0xdfff)) return undefined;
      return codePoint(String.fromCodePoint(value));
    }
    const next = rest[0]!;
    this.#at++;
    if (CONTROLS[next] !== undefined) return CONTROLS[next];
    return /[0-9A-Za-z]/.test(next) ? undefined : codePoint(next);
  }

  #class(): string | undefined {
    let text = "[";
    const isNegated = this.#source[this.#at] === "^";
    if (isNegated) {
      this.#at++;
      text += "^";
    }
    if (this.#source[this.#at] === "]") return undefined;
    while (this.#source[this.#at] !== "]") {
      const part = this.#classPart(isNegated);
      if (part === undefined) return undefined;
      text += part;
      const isRange = this.#source[this.#at] === "-" && this.#source[this.#at + 1] !== "]";
      if (!isRange || part.startsWith("[") || part.length > 12) continue;
      this.#at++;
      const last = this.#classPart(isNegated);
      if (last === undefined) return undefined;
      text += `-${last}`;
    }
    this.#at++;
    return `${text}]`;
  }

  #classPart(isNegated: boolean): string | undefined {
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at)!);
    this.#at += character.length;
    if (character !== "\\") return character === "\n" ? undefined : codePoint(character);
    const next = this.#source[this.#at]!;
    const lower = next.toLowerCase();
    if (next === "b") {
      this.#at++;
      return "\\x08";
    }
    const classes = isNegated === (next === lower) ? SURE_CLASSES : CLASSES;
    if (classes[lower] === undefined) return this.#escapedCharacter();
    this.#at++;
    return next === lower ? classes[lower] : `[^${classes[lower]}]`;
  }

  /** Whether the part from `start` on stands for one character. */
  #isAtom(start: number): boolean {
    const first = this.#source[start]!;
    if (first === "\\") return !"bB".includes(this.#source[start + 1]!);
    return !"^$()|*+?{}".includes(first);
  }

  #withBadBytes(part: string, start: number): string {
    const alone = new RegExp(`^${this.#source.slice(start, this.#at)}$`, this.#flags);
    return alone.test("\ufffd") ? `(?:${part}|${BAD_BYTES})` : part;
  }
}

function codePoint(character: string): string {
  if (/^\w$/.test(character)) return character;
  return `\\x{${character.codePointAt(0)!.toString(16)}}`;
}
