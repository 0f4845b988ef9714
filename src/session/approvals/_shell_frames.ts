/** What the shell reader keeps while it reads: words, parts and what it is inside of. */

/** A word without its quotes; a substitution in it reads `$()`. */
export interface ShellWord {
  text: string;
  /** The same with the backslashes of escapes kept, for Windows paths that nobody quoted. */
  literal: string;
  /** Whether any of it was quoted or escaped. */
  isQuoted: boolean;
}

/** One simple command. `depth` counts the substitutions around it, 0 at the top of the text. */
export interface ShellPart {
  words: ShellWord[];
  redirections: { operator: string; target: ShellWord }[];
  /** Bodies of the part's heredocs, as written. */
  heredocs: string[];
  depth: number;
}

/** Commands: the top of a text, or the inside of a substitution. */
export interface CommandFrame {
  kind: "command";
  outer: Frame | undefined;
  enclosing: CommandFrame | undefined;
  part: ShellPart;
  word: ShellWord | undefined;
  /** A redirection operator whose target is the next word. */
  operator: string;
  parens: number;
  /** For each open `case`, how many brackets were open at it: `)` at that level ends a pattern. */
  cases: number[];
}

/** The inside of `"…"` or `${…}`; what it holds belongs to the word around it. */
export interface QuoteFrame {
  kind: "double" | "parameter";
  outer: Frame;
  isInDouble: boolean;
}

/** The inside of `$((…))` or `((…))`, which may turn out to be two subshells. */
export interface ArithmeticFrame {
  kind: "arithmetic";
  outer: Frame;
  /** Where the second bracket is. */
  start: number;
  parens: number;
  /** Behind the first bracket that leaves only one open; 0 before that. */
  closedAt: number;
  /** Whether it is a command of its own, not a number in a word. */
  isCommand: boolean;
}

/** What the reader is inside of. */
export type Frame = CommandFrame | QuoteFrame | ArithmeticFrame;

/** A frame for commands at `depth`, still empty. */
export function openCommand(
  outer: Frame | undefined,
  enclosing: CommandFrame | undefined,
  depth: number,
): CommandFrame {
  const part = createPart(depth);
  return {
    kind: "command",
    outer,
    enclosing,
    part,
    word: undefined,
    operator: "",
    parens: 0,
    cases: [],
  };
}

/** A part with nothing in it. */
export function createPart(depth: number): ShellPart {
  return { words: [], redirections: [], heredocs: [], depth };
}
