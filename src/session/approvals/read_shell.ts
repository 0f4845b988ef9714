/**
 * Reads the text of a shell command into its parts. The first step of classifying a command: it
 * knows quotes, splits, redirections and substitutions, and refuses to know what any program does.
 */

import { decodeAnsiQuote, findAnsiQuoteEnd } from "./_ansi_quote.ts";
import { findHeredocEnd } from "./_heredoc.ts";
import type { ArithmeticFrame, CommandFrame, Frame, QuoteFrame } from "./_shell_frames.ts";
import type { ShellPart, ShellWord } from "./_shell_frames.ts";
import { createPart, openCommand } from "./_shell_frames.ts";

export type { ShellPart, ShellWord };

/** Whose quoting rules apply: a POSIX shell's, PowerShell's or those of `cmd.exe`. */
export type ShellSyntax = "posix" | "powershell" | "cmd";

/** What `readShell` found. */
export interface ShellReading {
  parts: ShellPart[];
  /** Texts that the shell runs as well: as commands, or (`isBody`) only the substitutions in it. */
  nested: { text: string; depth: number; isBody: boolean }[];
  /** False when a quote or a substitution never ends; `parts` then holds what could be read. */
  isBalanced: boolean;
}

const ESCAPES = { posix: "\\", powershell: "`", cmd: "^" };
const REDIRECTION = /&>>?|<<<|<<-?|<>|<&|>>|>&|>\||[<>]/y;
const BEFORE_CASE = new Set(["do", "then", "else", "!", "if", "while", "until"]);

/**
 * Splits `text` into its simple commands, those inside `$(…)` and `<(…)` included. With `isBody`
 * it is the body of a heredoc: only the substitutions in it count. Time and memory are linear in
 * the length of the text; never throws.
 */
export function readShell(
  text: string,
  options: { syntax: ShellSyntax; isBody: boolean },
): ShellReading {
  return new ShellReader(text, options.syntax).read(options.isBody);
}

class ShellReader {
  readonly #text: string;
  readonly #syntax: ShellSyntax;
  readonly #escape: string;
  readonly #reading: ShellReading = { parts: [], nested: [], isBalanced: true };
  #at = 0;
  #command: CommandFrame = openCommand(undefined, undefined, 0);
  #frame: Frame = this.#command;
  #isBody = false;
  #openArithmetic = 0;
  #heredocs: { part: ShellPart; delimiter: ShellWord; stripsTabs: boolean }[] = [];
  #heredocsEnd = true;

  constructor(text: string, syntax: ShellSyntax) {
    this.#text = text;
    this.#syntax = syntax;
    this.#escape = ESCAPES[syntax];
  }

  read(isBody: boolean): ShellReading {
    const root = this.#command;
    this.#isBody = isBody;
    if (isBody) this.#frame = { kind: "double", outer: root, isInDouble: true };
    const bottom = this.#frame;
    while (this.#at < this.#text.length) {
      if (this.#frame.kind === "command") this.#readCommand(this.#frame);
      else if (this.#frame.kind === "arithmetic") this.#readArithmetic(this.#frame);
      else this.#readQuoted(this.#frame);
    }
    if (this.#frame !== bottom) this.#reading.isBalanced = false;
    for (let at: CommandFrame | undefined = this.#command; at !== undefined; at = at.enclosing) {
      if (!isBody || at !== root) this.#endPart(at);
    }
    return this.#reading;
  }

  #readCommand(frame: CommandFrame): void {
    const char = this.#text[this.#at];
    if (char === this.#escape) this.#readEscape();
    else if (this.#readExpansion()) return;
    else if (char === "'" && this.#syntax !== "cmd") this.#readSingleQuote();
    else if (char === '"') this.#openQuote("double", 1);
    else if (char === " " || char === "\t" || char === "\r") this.#skip(() => this.#endWord(frame));
    else if (char === "\n") {
      this.#skip(() => this.#endPart(frame));
      this.#readHeredocs();
    } else if (this.#syntax === "powershell" && this.#text.startsWith("<#", this.#at)) {
      this.#skipTo("#>", 2);
    } else if (char === "#" && frame.word === undefined && this.#syntax !== "cmd") {
      this.#skipTo("\n", 0);
    } else if (char === "<" || char === ">" || this.#text.startsWith("&>", this.#at)) {
      this.#readRedirection(frame);
    } else if (char === ";" || char === "|" || char === "&" || this.#isBrace(char)) {
      this.#skip(() => this.#endPart(frame));
    } else if (char === "(") this.#openParen(frame);
    else if (char === ")") this.#closeParen(frame);
    else this.#append(char, false, 1);
  }

  #isBrace(char: string): boolean {
    return this.#syntax === "powershell" && (char === "{" || char === "}");
  }

  #skipTo(end: string, length: number): void {
    const found = this.#text.indexOf(end, this.#at);
    this.#at = found < 0 ? this.#text.length : found + length;
  }

  #skip(then: () => void): void {
    this.#at++;
    then();
  }

  #append(text: string, isQuoted: boolean, length: number, literal = text): void {
    const word = this.#command.word ??= { text: "", literal: "", isQuoted: false };
    word.text += text;
    word.literal += literal;
    if (isQuoted) word.isQuoted = true;
    this.#at += length;
  }

  #readEscape(): void {
    const next = this.#text[this.#at + 1] ?? "";
    if (next === "\n") this.#at += 2;
    else if (this.#text.startsWith("\r\n", this.#at + 1)) this.#at += 3;
    else this.#append(next, true, 2, this.#escape + next);
  }

  #readSingleQuote(): void {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end < 0) this.#reading.isBalanced = false;
    const stop = end < 0 ? this.#text.length : end;
    this.#append(this.#text.slice(this.#at + 1, stop), true, stop + 1 - this.#at);
  }

  #openQuote(kind: "double" | "parameter", length: number): void {
    const outer = this.#frame;
    const isInDouble = kind === "double" || outer.kind !== "command" &&
        outer.kind !== "arithmetic" && outer.isInDouble;
    this.#append(kind === "parameter" ? "${" : "", kind === "double", length);
    this.#frame = { kind, outer, isInDouble };
  }

  /** `$(`, `$((`, `${`, `$'` and backticks, wherever the frame expands them. */
  #readExpansion(): boolean {
    const char = this.#text[this.#at];
    if (char === "`" && this.#syntax === "posix") {
      this.#readBackticks();
      return true;
    }
    if (char !== "$" || this.#syntax === "cmd") return false;
    const next = this.#text[this.#at + 1];
    if (next === "(") {
      if (this.#syntax === "posix" && this.#text[this.#at + 2] === "(") {
        this.#openArithmetics(false);
      } else this.#openSubstitution();
    } else if (next === "{") {
      this.#openQuote("parameter", 2);
    } else if (next === "'" && this.#syntax === "posix" && this.#frame.kind === "command") {
      const start = this.#at + 2;
      const end = findAnsiQuoteEnd(this.#text, start);
      if (end < 0) this.#reading.isBalanced = false;
      const stop = end < 0 ? this.#text.length : end;
      this.#append(decodeAnsiQuote(this.#text.slice(start, stop)), true, stop + 1 - this.#at);
    } else if (next === '"' && this.#syntax === "posix" && this.#frame.kind === "command") {
      this.#at++;
    } else {
      return false;
    }
    return true;
  }

  #openSubstitution(): void {
    this.#append("$()", false, 2);
    const enclosing = this.#command;
    this.#command = openCommand(this.#frame, enclosing, enclosing.part.depth + 1);
    this.#frame = this.#command;
  }

  /** Backticks do not nest by themselves: the text up to the next free one is read on its own. */
  #readBackticks(): void {
    const start = this.#at + 1;
    let end = start;
    while (end < this.#text.length && this.#text[end] !== "`") {
      end += this.#text[end] === "\\" ? 2 : 1;
    }
    if (end >= this.#text.length) this.#reading.isBalanced = false;
    const inside = this.#text.slice(start, end);
    const text = inside.replace(
      this.#frame.kind === "double" ? /\\([`$\\"])/g : /\\([`$\\])/g,
      "$1",
    );
    this.#reading.nested.push({ text, depth: this.#command.part.depth + 1, isBody: false });
    this.#append("$()", false, end + 1 - this.#at);
  }

  #readQuoted(frame: QuoteFrame): void {
    const char = this.#text[this.#at];
    const next = this.#text[this.#at + 1] ?? "";
    if (char === this.#escape && this.#syntax !== "cmd") {
      if (next === "\n") this.#at += 2;
      else if (this.#syntax === "powershell" || '$`"\\'.includes(next)) this.#append(next, true, 2);
      else this.#append(char + next, true, 2);
    } else if (this.#readExpansion()) {
      return;
    } else if (char === (frame.kind === "double" ? '"' : "}") && !this.#isBottom(frame)) {
      this.#append(frame.kind === "double" ? "" : "}", false, 1);
      this.#frame = frame.outer;
    } else if (frame.kind === "parameter" && char === '"') {
      this.#openQuote("double", 1);
    } else if (frame.kind === "parameter" && char === "'" && !frame.isInDouble) {
      this.#readSingleQuote();
    } else {
      this.#append(char, frame.kind === "double", 1);
    }
  }

  #isBottom(frame: QuoteFrame): boolean {
    return this.#isBody && frame.outer.kind === "command" && frame.outer.outer === undefined &&
      frame.kind === "double";
  }

  #openArithmetics(isCommand: boolean): void {
    const start = this.#at + (isCommand ? 1 : 2);
    if (!isCommand) this.#append("$()", false, 0);
    this.#frame = {
      kind: "arithmetic",
      outer: this.#frame,
      start,
      parens: 2,
      closedAt: 0,
      isCommand,
    };
    this.#openArithmetic++;
    this.#at = start + 1;
  }

  /**
   * Numbers are data, but `((` may also open two subshells, and only its end tells. Whatever could
   * be commands is kept to be read as such; of frames inside each other the outermost is enough.
   */
  #readArithmetic(frame: ArithmeticFrame): void {
    const char = this.#text[this.#at];
    if (char === "\\") this.#at += 2;
    else if (this.#readExpansion()) return;
    else if (char === '"') this.#openQuote("double", 1);
    else if (char === "'") {
      const end = this.#text.indexOf("'", this.#at + 1);
      if (end < 0) this.#reading.isBalanced = false;
      this.#at = end < 0 ? this.#text.length : end + 1;
    } else {
      this.#at++;
      if (char === "(") frame.parens++;
      if (char !== ")") return;
      if (--frame.parens === 1 && frame.closedAt === 0) frame.closedAt = this.#at;
      if (frame.parens > 0) return;
      this.#openArithmetic--;
      this.#frame = frame.outer;
      const isSplit = frame.closedAt !== this.#at - 1;
      if ((isSplit || frame.isCommand) && this.#openArithmetic === 0) {
        const text = this.#text.slice(frame.start, this.#at - 1);
        this.#reading.nested.push({ text, depth: this.#command.part.depth + 1, isBody: false });
      }
    }
  }

  #openParen(frame: CommandFrame): void {
    this.#endWord(frame);
    const first = frame.part.words[0]?.text;
    const canCount = this.#syntax === "posix" && (first === undefined || first === "for");
    if (canCount && this.#text[this.#at + 1] === "(") return this.#openArithmetics(true);
    this.#skip(() => this.#endPart(frame));
    frame.parens++;
  }

  #closeParen(frame: CommandFrame): void {
    this.#skip(() => this.#endPart(frame));
    if (frame.cases.at(-1) === frame.parens) return;
    if (frame.parens > 0) frame.parens--;
    else if (frame.outer !== undefined && frame.enclosing !== undefined) {
      this.#frame = frame.outer;
      this.#command = frame.enclosing;
    }
  }

  #readRedirection(frame: CommandFrame): void {
    if (this.#syntax === "posix" && this.#text[this.#at + 1] === "(") {
      return this.#openSubstitution();
    }
    const word = frame.word;
    const isDescriptor = word !== undefined && !word.isQuoted &&
      /^(?:\d+|\{\w+\})$/.test(word.text);
    if (isDescriptor && this.#text[this.#at] !== "&") frame.word = undefined;
    else this.#endWord(frame);
    REDIRECTION.lastIndex = this.#at;
    frame.operator = REDIRECTION.exec(this.#text)?.[0] ?? ">";
    this.#at += frame.operator.length;
  }

  #endWord(frame: CommandFrame): void {
    const { word, part, operator } = frame;
    if (word === undefined) return;
    frame.word = undefined;
    frame.operator = "";
    if (operator.startsWith("<<") && operator !== "<<<") {
      this.#heredocs.push({ part, delimiter: word, stripsTabs: operator === "<<-" });
    } else if (operator !== "") {
      part.redirections.push({ operator, target: word });
    } else if (!word.isQuoted && (word.text === "{" || word.text === "}")) {
      this.#endPart(frame);
    } else {
      const before = part.words.length;
      const isFirst = before === 0 || before === 1 && BEFORE_CASE.has(part.words[0].text);
      if (isFirst && word.text === "case") frame.cases.push(frame.parens);
      if (isFirst && word.text === "esac") frame.cases.pop();
      part.words.push(word);
    }
  }

  #endPart(frame: CommandFrame): void {
    this.#endWord(frame);
    frame.operator = "";
    const part = frame.part;
    if (part.words.length + part.redirections.length > 0) this.#reading.parts.push(part);
    frame.part = createPart(part.depth);
  }

  /** A heredoc without its last line is read as commands: hiding nothing is worth more. */
  #readHeredocs(): void {
    const heredocs = this.#heredocs;
    this.#heredocs = [];
    for (const { part, delimiter, stripsTabs } of heredocs) {
      if (this.#syntax !== "posix" || !this.#heredocsEnd) return;
      const end = findHeredocEnd(this.#text, this.#at, { delimiter: delimiter.text, stripsTabs });
      if (end === undefined) {
        this.#heredocsEnd = false;
        return;
      }
      const body = this.#text.slice(this.#at, end.bodyEnd);
      this.#at = end.next;
      part.heredocs.push(body);
      if (!delimiter.isQuoted) {
        this.#reading.nested.push({ text: body, depth: part.depth, isBody: true });
      }
    }
  }
}
