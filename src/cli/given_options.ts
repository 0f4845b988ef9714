/** What was given for each setting of the command line. Knows no setting by name. */

import type { GivenOption } from "./read_arguments.ts";

/** Looks up options by the key of their setting. Where one was given several times, the last one counts. */
export class GivenOptions {
  readonly #byKey = new Map<string, GivenOption[]>();

  constructor(options: readonly GivenOption[]) {
    for (const option of options) {
      const list = this.#byKey.get(option.spec.key);
      if (list) list.push(option);
      else this.#byKey.set(option.spec.key, [option]);
    }
  }

  /** How the setting was written last, `undefined` when it was not given. */
  written(key: string): string | undefined {
    return this.#last(key)?.written;
  }

  /** What the switch sets, `undefined` when it was not given. */
  flag(key: string): boolean | undefined {
    const option = this.#last(key);
    return option && (option.spec.is ?? true);
  }

  /** Each spelling that set the switch to `is`, in the order given. */
  writtenAs(key: string, is: boolean): string[] {
    const given = this.#byKey.get(key) ?? [];
    return given.filter(({ spec }) => (spec.is ?? true) === is).map(({ written }) => written);
  }

  text(key: string): string | undefined {
    return this.#last(key)?.value;
  }

  /** Every value, in the order given. */
  texts(key: string): string[] {
    return (this.#byKey.get(key) ?? []).map(({ value }) => value);
  }

  /** The names between the commas, trimmed, each once. */
  list(key: string): string[] | undefined {
    const text = this.text(key);
    if (text === undefined) return undefined;
    return [...new Set(text.split(",").map((name) => name.trim()).filter((name) => name !== ""))];
  }

  #last(key: string): GivenOption | undefined {
    return this.#byKey.get(key)?.at(-1);
  }
}
