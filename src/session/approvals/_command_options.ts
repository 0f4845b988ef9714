/** Options of a command line in the getopt manner; knows no program. */

/** What `readOptions` found: letters, long names and the words that are neither. */
export interface CommandOptions {
  /** Each letter of the short options, also of those written together. */
  letters: ReadonlySet<string>;
  /** Words that are no options, in order, those behind `--` included. */
  operands: readonly string[];
  /** Whether `--` was there. */
  hasDashes: boolean;
  /** Whether the long option `name` was given, in full or abbreviated, with or without value. */
  hasLong(name: string): boolean;
}

/**
 * Reads options anywhere before `--`. Letters in `valueLetters` take the rest of their word, or
 * the next word, as value. Never throws.
 */
export function readOptions(
  words: readonly string[],
  options: { valueLetters: string },
): CommandOptions {
  const letters = new Set<string>();
  const longs = new Set<string>();
  const operands: string[] = [];
  let hasDashes = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (hasDashes || !word.startsWith("-") || word === "-") {
      operands.push(word);
    } else if (word === "--") {
      hasDashes = true;
    } else if (word.startsWith("--")) {
      longs.add(word.slice(2).split("=", 1)[0]);
    } else {
      const cluster = readCluster(word, options.valueLetters);
      for (const letter of cluster.letters) letters.add(letter);
      if (cluster.takesNext) at++;
    }
  }
  return {
    letters,
    operands,
    hasDashes,
    hasLong: (name) => [...longs].some((long) => long !== "" && name.startsWith(long)),
  };
}

/**
 * The letters of one short option word such as `-xvf`, up to the first that takes a value;
 * `value` is what follows that letter in the same word, `takesNext` says that it is the next word.
 */
export function readCluster(
  word: string,
  valueLetters: string,
): { letters: string[]; value: string; takesNext: boolean } {
  const letters: string[] = [];
  for (let at = 1; at < word.length; at++) {
    letters.push(word[at]);
    if (valueLetters.includes(word[at])) {
      const value = word.slice(at + 1);
      return { letters, value, takesNext: value === "" };
    }
  }
  return { letters, value: "", takesNext: false };
}
