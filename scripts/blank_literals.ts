// TypeScript with nothing left but code: what check_layers.ts searches. Knows tokens, no grammar.

/** After these a `/` begins a regular expression, not a division. */
const beforeExpression =
  /(?:^|[=(,;:?!&|{}[+\-*%~^<>]|\b(?:return|typeof|case|in|of|do|else|void|delete|await|yield|throw|new|instanceof))$/;

/**
 * Replaces comments and the contents of strings, templates and regular expressions by spaces. Quotes, line breaks and
 * code inside `${…}` stay, and every character keeps its position. Never throws.
 */
export function blankLiterals(source: string): string {
  return new Blanker(source).run();
}

class Blanker {
  readonly #source: string;
  readonly #out: string[] = [];
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  run(): string {
    while (this.#at < this.#source.length) {
      this.#code();
      // A `}` too many: keep it and go on.
      if (this.#at < this.#source.length) this.#keep();
    }
    return this.#out.join("");
  }

  /** Reads code up to the `}` that closes what contains it. */
  #code(): void {
    let depth = 0;
    while (this.#at < this.#source.length) {
      const char = this.#source[this.#at];
      const pair = this.#source.substr(this.#at, 2);
      if (pair === "//") this.#blankUntil("\n");
      else if (pair === "/*") this.#blankComment();
      else if (char === '"' || char === "'") this.#string(char);
      else if (char === "`") this.#template();
      else if (char === "/" && this.#expectsExpression()) this.#regExp();
      else {
        if (char === "{") depth++;
        if (char === "}" && depth-- === 0) return;
        this.#keep();
      }
    }
  }

  /** Tells a regular expression from a division by the last word or sign before it. */
  #expectsExpression(): boolean {
    let end = this.#out.length;
    while (end > 0 && /\s/.test(this.#out[end - 1])) end--;
    return beforeExpression.test(this.#out.slice(Math.max(0, end - 12), end).join(""));
  }

  #keep(): void {
    this.#out.push(this.#source[this.#at++]);
  }

  #blank(): void {
    const char = this.#source[this.#at++];
    this.#out.push(char === "\n" || char === "\r" ? char : " ");
  }

  #blankUntil(end: string): void {
    while (this.#at < this.#source.length && !this.#source.startsWith(end, this.#at)) this.#blank();
  }

  #blankComment(): void {
    this.#blank();
    this.#blank();
    this.#blankUntil("*/");
    if (this.#at < this.#source.length) this.#blank();
    if (this.#at < this.#source.length) this.#blank();
  }

  #string(quote: string): void {
    this.#keep();
    while (this.#at < this.#source.length && this.#source[this.#at] !== quote) {
      if (this.#source[this.#at] === "\n") return;
      if (this.#source[this.#at] === "\\") this.#blank();
      if (this.#at < this.#source.length) this.#blank();
    }
    if (this.#at < this.#source.length) this.#keep();
  }

  #template(): void {
    this.#keep();
    while (this.#at < this.#source.length && this.#source[this.#at] !== "`") {
      if (this.#source.startsWith("${", this.#at)) {
        this.#keep();
        this.#keep();
        this.#code();
        if (this.#at < this.#source.length) this.#keep();
        continue;
      }
      if (this.#source[this.#at] === "\\") this.#blank();
      if (this.#at < this.#source.length) this.#blank();
    }
    if (this.#at < this.#source.length) this.#keep();
  }

  #regExp(): void {
    this.#keep();
    let inClass = false;
    while (this.#at < this.#source.length && this.#source[this.#at] !== "\n") {
      const char = this.#source[this.#at];
      if (char === "/" && !inClass) break;
      if (char === "[") inClass = true;
      if (char === "]") inClass = false;
      if (char === "\\") this.#blank();
      if (this.#at < this.#source.length) this.#blank();
    }
    if (this.#at < this.#source.length) this.#keep();
  }
}
