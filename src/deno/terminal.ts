/**
 * A person at the terminal. Questions go to stderr, so that stdout has only results. The only reader of stdin while it is used; not for modes
 * that speak a protocol there.
 */

import type { Prompt } from "../cli/command_io.ts";

const ENTER = ["\r", "\n"];
const CANCEL = ["\x03", "\x04"];
const ERASE = ["\x7f", "\b"];
/** What arrow keys and the marks around pasted text send. */
const ESCAPE_SEQUENCE = new RegExp("\u001b\\[[0-9;]*[A-Za-z~]", "g");

/** Asks at the terminal; `undefined` when stdin or stderr is none. */
export function createTerminalPrompt(): Prompt | undefined {
  return Deno.stdin.isTerminal() && Deno.stderr.isTerminal() ? new TerminalPrompt() : undefined;
}

class TerminalPrompt implements Prompt {
  /** Typed ahead: what was read but not asked for yet. */
  #rest = "";
  readonly #decoder = new TextDecoder();

  async ask(
    question: string,
    { signal, isHidden = false }: { signal: AbortSignal; isHidden?: boolean },
  ): Promise<string | undefined> {
    signal.throwIfAborted();
    say(question);
    if (!isHidden) return await this.#readLine(signal);
    Deno.stdin.setRaw(true);
    try {
      return await this.#readHidden(signal);
    } finally {
      Deno.stdin.setRaw(false);
      say("\n");
    }
  }

  async #readLine(signal: AbortSignal): Promise<string | undefined> {
    let end = this.#rest.indexOf("\n");
    while (end < 0) {
      const more = await this.#read(signal);
      if (more === undefined) return undefined;
      this.#rest += more;
      end = this.#rest.indexOf("\n");
    }
    const line = this.#rest.slice(0, end).replace(/\r$/, "");
    this.#rest = this.#rest.slice(end + 1);
    return line;
  }

  /** In raw mode the terminal edits nothing: erase, enter and cancel are read as characters. */
  async #readHidden(signal: AbortSignal): Promise<string | undefined> {
    let line = "";
    while (true) {
      const typed = this.#rest || await this.#read(signal);
      this.#rest = "";
      if (typed === undefined) return undefined;
      const characters = [...typed.replace(ESCAPE_SEQUENCE, "")];
      for (const [index, character] of characters.entries()) {
        if (ENTER.includes(character)) {
          this.#rest = characters.slice(index + 1).join("");
          return line;
        }
        if (CANCEL.includes(character)) return undefined;
        if (ERASE.includes(character)) line = [...line].slice(0, -1).join("");
        else if (character >= " ") line += character;
      }
    }
  }

  /** The next characters, `undefined` at the end of the input. An abort is noticed after the next key. */
  async #read(signal: AbortSignal): Promise<string | undefined> {
    const buffer = new Uint8Array(4096);
    const count = await Deno.stdin.read(buffer);
    signal.throwIfAborted();
    if (count === null) return undefined;
    return this.#decoder.decode(buffer.subarray(0, count), { stream: true });
  }
}

function say(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(text));
}
