/**
 * First step of the command line: arguments -> options as they were written, and words. Knows which options exist only from the
 * table it is given, and nothing about what they mean together.
 *
 * `parseArgs` of `@std/cli` is not used: it takes `-xt` for `-x -t`, cannot tell a missing value from an empty one, and forgets how an
 * option was written, which the error texts name.
 */

import { StartError } from "../errors.ts";

/** How one spelling of an option is read. */
export interface OptionSpec {
  /** Name of the setting; several spellings share one. */
  readonly key: string;
  /**
   * `switch`: no value. `text`: one value, the last one given counts. `list`: one value, names separated by commas. `texts`: one value, may
   * be repeated.
   */
  readonly kind: "switch" | "text" | "list" | "texts";
  /** What a switch sets; default `true`. */
  readonly is?: boolean;
  /** An empty value is a value. */
  readonly mayBeEmpty?: boolean;
}

/** Options by spelling, with the dashes. */
export type OptionTable = Readonly<Record<string, OptionSpec>>;

/** One option as it was given. */
export interface GivenOption {
  /** As it was written, without `=value`. */
  readonly written: string;
  readonly spec: OptionSpec;
  /** `""` for a switch. */
  readonly value: string;
}

/** The command line, in its order. */
export interface ReadArguments {
  readonly options: readonly GivenOption[];
  /** Words before `--`. */
  readonly words: readonly string[];
  /** Words after `--`. */
  readonly rest: readonly string[];
}

/**
 * Splits arguments into options and words. Throws `StartError` (`usage`) for the first unknown option, missing value or value on a switch.
 * A lone `-` is a word.
 */
export function readArguments(args: readonly string[], table: OptionTable): ReadArguments {
  const options: GivenOption[] = [];
  const words: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const arg = args[index];
    if (arg === "--") return { options, words, rest: args.slice(index + 1) };
    if (!isOption(arg)) {
      words.push(arg);
      continue;
    }
    const equals = arg.indexOf("=");
    const written = equals < 0 ? arg : arg.slice(0, equals);
    if (!Object.hasOwn(table, written)) throw usage(`unknown option: ${written}`);
    const spec = table[written];
    let value = equals < 0 ? undefined : arg.slice(equals + 1);
    if (spec.kind === "switch") {
      if (value !== undefined) throw usage(`${written} does not take a value`);
    } else {
      const next = args[index + 1];
      if (value === undefined && next !== undefined && !isOption(next)) {
        value = next;
        index++;
      }
      if (value === undefined || value.trim() === "" && !spec.mayBeEmpty) {
        throw usage(`${written} requires a value`);
      }
    }
    options.push({ written, spec, value: value ?? "" });
  }
  return { options, words, rest: [] };
}

/** The error of a command line that cannot be: one line, exit code 2. */
export function usage(text: string): StartError {
  return new StartError("usage", text);
}

function isOption(arg: string): boolean {
  return arg.startsWith("-") && arg !== "-";
}
