/**
 * Text of strangers (paths, commands, answers) made fit to be shown to a person: what a terminal would obey or a reader could not see becomes
 * visible. Knows no terminal.
 */

/** Control characters, what turns the direction of writing, and blanks without width; joiners stay, because letters and emoji need them. */
const HIDDEN = /\r(?!\n)|[^\P{Cc}\t\r\n]|[\p{Bidi_Control}\u200b\u2060\ufeff]/gu;

/** The text with each such character as `\u001b`; line breaks and tabs stay. Inside a JSON string the meaning stays the same. */
export function visibleText(text: string): string {
  return text.replace(
    HIDDEN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
